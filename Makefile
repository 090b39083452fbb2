# Two commands do everything on a fresh machine: `make serve` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
TOOLS := .venv/.tools

# Tests run in as many processes; each has its own servers, databases and ports. On two processors two of them leave a
# fifth of the time unused, which they wait for servers.
PROCESSES ?= 3
PYTEST := $(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist worksteal

.PHONY: setup develop lock serve test test-fast test-slow test-all fuzz lint docs wheel sbom licences site bench campaign clean

# What a service runs; `develop` adds what tests, linters and docs need.
setup: $(STAMP)
	@sh scripts/chromium

develop: setup $(TOOLS)

$(STAMP): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "webdata needs Python 3.11 or newer: set PYTHON, as in make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "cannot make .venv: install Python's venv module (on Debian: apt-get install python3-venv)"; exit 1; }
	@sh scripts/install requirements.lock
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(TOOLS): $(STAMP) requirements-dev.lock
	@sh scripts/install requirements-dev.lock
	@touch $@

# After a change of the dependencies in pyproject.toml; with UPGRADE=--upgrade the newest releases that it allows.
# Beside them is what an installation from the checkout is built with.
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-header --no-annotate
lock: setup
	$(BIN)/python -m pip install --quiet uv
	printf 'hatchling>=1.27,<2\neditables>=0.5,<1\n' | $(COMPILE) $(UPGRADE) pyproject.toml - --extra all --output-file requirements.lock
	$(COMPILE) $(UPGRADE) pyproject.toml --extra dev --constraint requirements.lock --output-file requirements-dev.lock

serve: setup
	@exec $(BIN)/webdata serve

test: develop
	@sh scripts/servers
	$(PYTEST) -m "not slow" $(COVERAGE)

test-fast: develop
	$(PYTEST) -m fast

test-slow: develop
	@sh scripts/servers
	$(PYTEST) -m "slow or hypothesis" --hypothesis-profile long $(COVERAGE)

# `test` and `test-slow` in one run: what is generated is generated once, and a file's tests share its servers.
test-all: develop
	@sh scripts/servers
	$(PYTEST) $(COVERAGE)

# Hours of generated and of broken input: EXAMPLES of each hypothesis test, MUTATIONS of each engine's pages.
FUZZED := tests/test_any_input.py tests/pages/test_hostile_pages.py tests/faces/*/test_fuzz.py tests/e2e/test_openapi.py
fuzz: develop
	@sh scripts/servers
	EXAMPLES=$${EXAMPLES-4000} MUTATIONS=$${MUTATIONS-100000} $(PYTEST) --hypothesis-profile fuzz $(FUZZED)

lint: develop
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# A wheel and the sources that it was made of, in dist/.
wheel: develop
	$(BIN)/python -m hatchling build --directory dist

# The parts of an installation with everything: a bill of materials by CycloneDX, and a list of licences.
sbom: develop
	@mkdir -p dist
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv tool run --quiet --from 'cyclonedx-bom>=7.5,<8' cyclonedx-py requirements --pyproject pyproject.toml --output-file dist/sbom.json requirements.lock

licences: develop
	@$(BIN)/python -m scripts.licences

# The docs as a static site in dist/site.
site: develop
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

docs: develop
	$(BIN)/python -m scripts.docs

bench: develop
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python -m benchmarks $(BENCH)

# Twenty minutes of a mixed load while everything fails in turn, then an audit; CAMPAIGN="--seed 7" repeats one.
campaign: develop
	@sh scripts/servers
	$(BIN)/python -m benchmarks.campaign $(CAMPAIGN)

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage* build dist
