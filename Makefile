# Two commands set everything up on a fresh machine: `make run` and `make test`.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Chromium has no sandbox for root; say so for the tests and for `make run`.
ROOT_ONLY := $(if $(filter 0,$(shell id -u)),TABVISOR_NO_SANDBOX=1)
TEST := $(shell cargo nextest --version >/dev/null 2>&1 && echo "nextest run" || echo "test")

.PHONY: help run test lint unit interop stalls load soak bench peers chromium display clean

help: ## What there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: chromium ## Install Chromium where it is missing, build, serve
	cargo build --release --bin tabvisor
	$(ROOT_ONLY) exec target/release/tabvisor serve $(ARGS)

test: chromium lint unit ## Everything that must hold

lint: ## Format, clippy, documentation
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --all-features -- -D warnings
	cargo clippy -p tabvisor --no-default-features -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --all-features --document-private-items

unit: display ## Tests of all crates, on the fake Chrome and on the real one
	$(ROOT_ONLY) cargo $(TEST) --workspace --all-features
	cargo test --doc --workspace --all-features

interop: chromium ## Other people's clients against us (their downloads are larger)
	scripts/interop

stalls: chromium ## 24 tabs, 19 of them stuck: how late are the answers?
	cargo bench --bench stalls

load: chromium ## 64 callers on 16 tabs, 4 of them stuck: throughput, p99, lateness
	cargo bench --bench load

soak: chromium ## 300 launches and stops, 30 SIGKILLs of the owner, an hour of chaos: is anything left?
	TABVISOR_SOAK_LAUNCHES=300 TABVISOR_SOAK_KILLS=30 cargo test -p tabvisor-cdp --release --test launch -- --nocapture
	TABVISOR_SOAK_KILLS=30 cargo test -p tabvisor --release --test e2e killed_service -- --nocapture
	TABVISOR_CHAOS_S=3600 cargo test -p tabvisor --release --test e2e chaos:: -- --nocapture

bench: chromium ## An evaluate and a snapshot against a bare link, as ratios; answers after a death; restarts; metrics
	cargo bench --bench evaluate --bench snapshot --bench loss --bench restart --bench metrics
	$(MAKE) peers

peers: chromium ## The same work through other tools on the same Chromium (their packages go into target/peers); ARGS=--quick
	benches/peers/install
	cargo build --release --bin tabvisor --example peer
	node benches/peers/run.mjs $(ARGS)

chromium:
	@scripts/install-chromium

display:
	@scripts/install-xvfb

clean: ## What was built
	cargo clean
