# recap: build it, try it, test it. `make` or `make help` lists the targets.
#
# Only Go, git, make and a C compiler are needed. Node.js (20 or newer) and npm add the interop
# tests and the comparison with pi; without them those tests say loudly that they are skipped,
# except where CI=true: there they fail.

SHELL := /bin/sh
GO    ?= go

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -X recap/internal/telemetry.version=$(VERSION)

# Packages whose tests start servers or child processes and take more than a few seconds.
SLOW = /internal/testkit/(e2e|interop|bench)(/|$$)|/internal/devstack$$
UNIT = $$($(GO) list ./... | grep -Ev '$(SLOW)')
E2E  = $$($(GO) list ./... | grep -E '$(SLOW)')

PI = internal/testkit/pi

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  %-9s %s\n", $$1, $$2}' Makefile

.PHONY: demo
demo: build ## compact a generated session, end to end, on this machine; needs no key
	@bin/recap demo

.PHONY: build
build: ## build bin/recap and bin/recap-worker
	@echo "building recap (the first build compiles every dependency: about 5 minutes on two cores; later ones take seconds)" >&2
	@mkdir -p bin
	@$(GO) build -ldflags '$(LDFLAGS)' -o bin/recap ./cmd/trigger
	@$(GO) build -ldflags '$(LDFLAGS)' -o bin/recap-worker ./cmd/worker

.PHONY: test
test: unit e2e ## everything: unit, conformance, end to end, crash, interop

.PHONY: unit
unit: ## the quick part: everything that starts no server process
	@echo "unit tests (the first run compiles every dependency: about 5 minutes on two cores; later ones take under a minute)" >&2
	@$(GO) test -timeout 10m $(UNIT)

.PHONY: e2e
e2e: tools $(PI)/node_modules/.package-lock.json ## end to end on a real Temporal server and NATS, crash and interop tests
	@echo "end-to-end, crash and interop tests (about 5 minutes on two cores)" >&2
	@$(GO) test -p 1 -count 1 -timeout 30m $(E2E)

.PHONY: race
race: ## unit tests with the race detector
	@$(GO) test -race -timeout 20m $(UNIT)

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (default 10s)
	@for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$target" >&2; \
	    $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $${FUZZTIME:-10s} $$pkg || exit 1; \
	  done; \
	done

.PHONY: bench
bench: tools $(PI)/node_modules/.package-lock.json ## measure against pi and against a bare workflow (several minutes; needs RECAP_CORPUS)
	@$(GO) test -timeout 40m -run '^$$' -bench . -benchtime 1x ./internal/testkit/bench/...

.PHONY: fmt
fmt: ## format the Go code
	@$(GO) tool gofumpt -w $$(git ls-files '*.go')

.PHONY: lint
lint: ## gofumpt, vet, staticcheck, errcheck, workflowcheck, go.mod tidy
	@echo "linting (the first run builds the linters: about 2 minutes on two cores)" >&2
	@unformatted=$$($(GO) tool gofumpt -l $$(git ls-files '*.go')); \
	  [ -z "$$unformatted" ] || { echo "not formatted, run 'make fmt':"; echo "$$unformatted"; exit 1; }
	@$(GO) vet ./...
	@$(GO) tool staticcheck ./...
	@$(GO) tool errcheck -ignoretests ./...
	@$(GO) tool workflowcheck ./workflows/...
	@$(GO) mod tidy -diff

.PHONY: tools
tools: ## get the temporal program, unless this machine has it (built once: about 8 minutes on two cores)
	@$(GO) run ./internal/testkit/gettemporal

.PHONY: ci
ci: lint build test race ## exactly what continuous integration runs

# The real pi, for the interop tests. Without npm the tests decide: skip loudly, or fail where CI=true.
$(PI)/node_modules/.package-lock.json: $(PI)/package-lock.json
	@if [ -n "$$RECAP_PI" ]; then exit 0; fi; \
	if ! command -v npm >/dev/null 2>&1; then \
	  echo "no npm: interop tests with pi will be skipped (or fail, where CI=true)" >&2; exit 0; fi; \
	echo "installing pi for the interop tests (once: under a minute)" >&2; \
	cd $(PI) && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error

.PHONY: clean
clean: ## remove what the targets built here
	@rm -rf bin $(PI)/node_modules
