#!/bin/sh
# Brings Temporal's two databases to the schema of this version. Safe to run again: a database that
# is ahead of version 0.0 is left at its version, and only missing steps are applied.
set -eu

schema=/etc/temporal/schema/postgresql/v12

sql() {
  database=$1
  shift
  temporal-sql-tool --plugin postgres12 --endpoint "$SQL_HOST" --port "$SQL_PORT" \
    --user "$SQL_USER" --password "$SQL_PASSWORD" --database "$database" "$@"
}

apply() {
  sql "$1" setup-schema --version 0.0
  sql "$1" update-schema --schema-dir "$2"
}

apply temporal "$schema/temporal/versioned"
apply temporal_visibility "$schema/visibility/versioned"
