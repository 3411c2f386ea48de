#!/bin/sh
# Creates the namespace and recap's search attributes where they are missing. Safe to run again.
# Reads TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE. recap works on a server without the attributes,
# but then its operations cannot be listed by them.
set -eu

# Package internal/contract names them; all are of type Keyword.
attributes="RecapTenant RecapSession RecapTrigger RecapState RecapReason RecapOperation"

# until_ok COMMAND...: repeats a command until it succeeds, once a second, a minute at most.
until_ok() {
  tries=0
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    if [ "$tries" -ge 60 ]; then
      echo "temporal at $TEMPORAL_ADDRESS: no success in $tries tries: $*" >&2
      "$@"
    fi
    sleep 1
  done
}

until_ok temporal operator cluster health

if ! temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention 720h
fi

# The server's caches learn of a new namespace a few seconds after its creation.
until_ok temporal operator search-attribute list --namespace "$TEMPORAL_NAMESPACE"

present=$(temporal operator search-attribute list --namespace "$TEMPORAL_NAMESPACE")
for name in $attributes; do
  case "$present" in
  *"$name"*) ;;
  *) temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" --name "$name" --type Keyword ;;
  esac
done
