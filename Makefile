# Two commands do everything on a fresh machine: `make serve` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

# Tests run in as many processes; each has its own servers, databases and ports. On two processors two of them leave a
# fifth of the time unused, which they wait for servers.
PROCESSES ?= 3
PYTEST := $(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist worksteal

.PHONY: setup serve test test-fast test-slow lint docs bench clean

setup: $(STAMP)
	@sh scripts/chromium

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "webdata needs Python 3.11 or newer: set PYTHON, as in make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "cannot make .venv: install Python's venv module (on Debian: apt-get install python3-venv)"; exit 1; }
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

serve: setup
	@exec $(BIN)/webdata serve

test: setup
	@sh scripts/servers
	$(PYTEST) -m "not slow" $(COVERAGE)

test-fast: setup
	$(PYTEST) -m fast

test-slow: setup
	@sh scripts/servers
	$(PYTEST) -m "slow or hypothesis" --hypothesis-profile long $(COVERAGE)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: setup
	$(BIN)/python -m scripts.docs

bench: setup
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python -m benchmarks $(BENCH)

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage* build dist
