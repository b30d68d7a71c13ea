# The one door to everything one does with fleetfoot. Needs a Rust toolchain and a C compiler; `make` lists the targets.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
CARGO ?= cargo
# Where rustup puts it, for shells that have not been started anew since.
export PATH := $(PATH):$(HOME)/.cargo/bin

# Tests and the demo open a few thousand sockets; the usual 1024 files per process are too few.
MORE_FILES := ulimit -n "$$(ulimit -Hn)" 2>/dev/null || true

.PHONY: help setup build demo test check fmt bench fuzz docs dist clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 10

setup: ## install what building and testing need, where it is missing
	@.ci/setup test

build: ## build the program: target/release/fleetfoot
	$(CARGO) build --release --locked -p fleetfoot

# Without WebAssembly, which takes two fifths of the build and which the demo does not use.
demo: ## start a slow API, put fleetfoot in front, load both, show the difference
	@$(MORE_FILES); $(CARGO) run --release --locked --no-default-features -p fleetfoot -- demo

test: setup ## run every test, also after one has failed
	@$(MORE_FILES); failed=0; \
	$(CARGO) test --workspace --locked --no-fail-fast --doc || failed=1; \
	$(CARGO) test --workspace --locked --no-fail-fast --lib --bins --tests || failed=1; \
	exit $$failed

check: ## formatting, lints, and licences where cargo-deny is installed
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	@if $(CARGO) deny --version >/dev/null 2>&1; then $(CARGO) deny --locked check; \
	else echo "cargo-deny is not installed: licences and advisories were not looked at"; fi

fmt: ## format everything
	$(CARGO) fmt --all

bench: ## measure beside the other proxies that are installed (.ci/setup bench installs them)
	$(CARGO) build --profile dist --locked -p fleetfoot -p benchsuite
	@$(MORE_FILES); target/dist/benchsuite

fuzz: ## the property tests with a hundred times as many cases
	PROPTEST_CASES=25600 $(CARGO) test --release --locked -p http1 -p json -p rules -p route -p plan -p telemetry -p cache -p redis_link

docs: ## the configuration reference and the API docs
	FLEETFOOT_WRITE=1 $(CARGO) test --locked -p plan
	$(CARGO) doc --workspace --no-deps --locked

dist: ## a package to hand out, in target/dist
	$(CARGO) build --profile dist --locked -p fleetfoot
	tar -C target/dist -czf "target/dist/fleetfoot-$$(uname -s)-$$(uname -m).tar.gz" fleetfoot \
		-C ../.. README.md LICENSE CHANGELOG.md examples
	@ls -l target/dist/*.tar.gz

clean: ## remove everything that was built
	$(CARGO) clean
