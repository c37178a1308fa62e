# What a person who works on ragdata types. `make help` lists it.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

# What `make demo` shows: a dataset that passes and one with faults.
DEMO_GOOD ?= fixtures/light-splade/valid/triplet
DEMO_BROKEN ?= fixtures/demo-broken

# For example: make test PYTEST_ARGS="-k splade -x", make bench BENCH_ARGS="--quick".
PYTEST_ARGS ?=
BENCH_ARGS ?=
REFERENCE_ARGS ?=
SAME_ARGS ?=
PAGES ?=
FUZZ_ARGS ?=
SCANNER_TRIES ?= 300000

# Tests start the command hundreds of times: compiled modules are kept, also where the environment says otherwise.
export PYTHONDONTWRITEBYTECODE =

# Stamps: the environment holds what pyproject.toml asked for at that time.
RUN := $(VENV)/.stamp-run
DEV := $(VENV)/.stamp-dev
SCANNER := $(VENV)/.stamp-scanner
BROWSER := $(VENV)/.stamp-browser
SITE := $(VENV)/.stamp-site
CLUSTER := $(VENV)/.stamp-cluster

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(RUN) $(SCANNER) ## what a user sees: one good dataset, one broken
	@.ci/demo $(BIN)/ragdata $(DEMO_GOOD) $(DEMO_BROKEN)

.PHONY: env
env: $(DEV) $(SCANNER) $(BROWSER) ## the environment for working on ragdata

.PHONY: test
test: $(DEV) $(SCANNER) $(BROWSER) ## the tests: of the broad ones a tenth
	$(BIN)/python -m pytest -n auto $(PYTEST_ARGS)

.PHONY: test-all
test-all: export RAGDATA_TESTS = all
test-all: test ## the tests, the broad ones whole

.PHONY: test-cost
test-cost: export RAGDATA_COSTS = write
test-cost: test ## the tests, and what each module and the dearest tests cost; recorded in tests/costs.txt

.PHONY: check check-format check-lint check-types check-imports check-docs
check: check-format check-lint check-types check-imports check-docs ## format, lint, types, import contracts, docs drift

check-format: $(DEV)
	$(BIN)/ruff format --check .

check-lint: $(DEV)
	$(BIN)/ruff check .

check-types: $(DEV)
	$(BIN)/mypy

check-imports: $(DEV)
	$(BIN)/lint-imports --no-logo

check-docs: $(DEV)
	$(BIN)/python docs/generate.py --check

.PHONY: fix
fix: $(DEV) ## format, and fix what the linter can fix
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

.PHONY: docs
docs: $(DEV) ## write the generated docs pages anew; some: make docs PAGES="docs/rules docs/cli.md"
	$(BIN)/python docs/generate.py $(PAGES)

.PHONY: site
site: $(DEV) $(SITE) ## build the documentation as a site into build/site; a warning is an error
	$(BIN)/python -m docs.generator.site.build

.PHONY: man
man: $(DEV) $(SITE) ## write the man pages into build/man
	$(BIN)/python -m docs.generator.man_pages

.PHONY: test-scanner
test-scanner: $(SCANNER) ## the compiled scanner's own tests and lints (needs cargo)
	cd scanner && cargo test --quiet --offline && cargo clippy --quiet --offline --all-targets && cargo fmt --check

.PHONY: test-cluster
test-cluster: $(DEV) $(SCANNER) $(CLUSTER) ## --engine ray and spark on clusters of two workers (needs Java)
	$(BIN)/python -m pytest tests/test_clusters.py $(PYTEST_ARGS)

.PHONY: fuzz
fuzz: $(DEV) $(SCANNER) ## damaged data, failing writes, signals: make fuzz FUZZ_ARGS="--seconds 3600"
	$(BIN)/python -m tests.fuzz $(FUZZ_ARGS)

.PHONY: fuzz-scanner
fuzz-scanner: $(SCANNER) ## damaged bytes through the scanner: checked arithmetic, valgrind, address sanitizer
	@.ci/fuzz-scanner $(SCANNER_TRIES)

.PHONY: dist
dist: $(DEV) ## build the wheel and the source distribution into dist/
	rm -rf dist
	$(BIN)/python -m build --outdir dist .

.PHONY: wheel
wheel: dist ## build them, and try the wheel in a clean environment
	.ci/smoke-wheel $(PYTHON) dist/*.whl $(DEMO_BROKEN)

.PHONY: bench
bench: $(DEV) $(SCANNER) ## measure ragdata beside its peers (long)
	$(BIN)/python benchmarks/run.py $(BENCH_ARGS)

.PHONY: reference
reference: $(DEV) ## published numbers beside ours: make reference DATA=FOLDER (long)
	@test -n "$(DATA)" || { echo "make reference DATA=FOLDER: the folder with the public sets" >&2; exit 2; }
	$(BIN)/python benchmarks/reference.py $(DATA) $(REFERENCE_ARGS)

.PHONY: bench-retrieval
bench-retrieval: $(DEV) ## measure retrieval beside its peers (15 minutes)
	$(BIN)/python benchmarks/retrieval.py $(BENCH_ARGS)

.PHONY: same
same: $(DEV) $(SCANNER) ## compare verdicts and outputs with another revision: make same REV=HEAD~3
	@test -n "$(REV)" || { echo "make same REV=REVISION: the revision to compare with" >&2; exit 2; }
	$(BIN)/python -m tests.same $(REV) $(SAME_ARGS)

.PHONY: clean
clean: ## remove the environment, builds and caches
	rm -rf $(VENV) dist build scanner/target ragdatakit/scanner/compiled.so .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and f"ragdata needs Python 3.11 or newer, this is {sys.version.split()[0]}; set PYTHON=")'
	@echo "creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(RUN): pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "installing ragdata into $(VENV)"
	@$(PIP) install --quiet --editable .
	@touch $@

# pip reads dependency groups since 25.1. The loader to compare with goes in without the heavy libraries it names.
$(DEV): pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "installing ragdata and what its tests and checks need into $(VENV)"
	@$(PIP) install --quiet --upgrade 'pip>=25.1'
	@$(PIP) install --quiet --editable . --group dev
	@$(PIP) install --quiet --no-deps --group oracle
	@touch $(RUN) $@

# The scanner belongs into the package's folder, from where it is loaded; without cargo ragdata works without it.
$(SCANNER): scanner/build.py scanner/Cargo.toml scanner/Cargo.lock $(wildcard scanner/src/*.rs) | $(VENV)/pyvenv.cfg
	@$(BIN)/python scanner/build.py
	@touch $@

$(SITE): pyproject.toml | $(DEV)
	@echo "installing what the site is made with into $(VENV)"
	@$(PIP) install --quiet --group docs
	@touch $@

$(CLUSTER): pyproject.toml | $(DEV)
	@echo "installing Ray and Spark into $(VENV)"
	@$(PIP) install --quiet --editable '.[ray,spark]'
	@touch $@

# Pages are tested in a real browser. A machine that has one keeps it; where none can be had, those tests are skipped.
$(BROWSER): .ci/browser | $(VENV)/pyvenv.cfg
	@.ci/browser $(VENV)/browser
	@touch $@
