# Everything happens in a virtual environment in this folder; Python 3.11+ and make are all that is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Tests run side by side, one worker per core; what one of them compiles all others load (tests/conftest.py). A worker
# that has finished takes tests from another, so that none is idle at the end.
PYTEST := $(BIN)/python -m pytest --numprocesses logical --maxprocesses 8 --dist worksteal
SELECT := -m "not slow"
# Tests start this package in many processes: where bytecode is not written, each would compile all of it again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help solve test test-all coverage reproduce lint bench docs linkcheck dist clean

help:
	@echo "make solve      install, then solve the embedded instance; the page on which to choose is written to results/"
	@echo "make test       install with the development tools, then run all tests but the slow ones"
	@echo "make test-all   run these too"
	@echo "make coverage   run all tests and say which lines none of them reaches, pages in htmlcov/"
	@echo "make reproduce  a small version of every experiment of the paper, minutes, into results/quick/"
	@echo "make lint       check style, types and workflows"
	@echo "make bench      measure speed and the default search, tables in docs/results/"
	@echo "make docs       build the site, examples run anew, into docs/_build/html/"
	@echo "make linkcheck  look at every link of the site, those to other sites too"
	@echo "make dist       build what is uploaded to PyPI, and check it, in dist/"
	@echo "make clean      remove the virtual environment and caches"

solve: $(VENV)/core
	$(BIN)/pareto-nrpa solve

test: $(VENV)/dev
	$(PYTEST) $(SELECT)

test-all: SELECT :=
test-all: test

# Python's lines count where they run, in commands that tests start too; those of compiled code where they are
# compiled, which needs an empty cache: Numba cannot tell which of them machine code has passed.
coverage: $(VENV)/dev
	rm -rf .numba_cache/coverage
	NUMBA_JIT_COVERAGE=1 NUMBA_CACHE_DIR=$(CURDIR)/.numba_cache/coverage \
	  $(PYTEST) --cov --cov-report term:skip-covered --cov-report html

reproduce: $(VENV)/dev
	$(BIN)/pareto-nrpa experiment reproduce --quick --jobs 2

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/zizmor --offline --no-progress --quiet .

bench: $(VENV)/bench
	$(BIN)/python benchmarks/run.py

# A warning is an error: a link that leads nowhere, an example that fails, a docstring that cannot be read.
SPHINX := $(BIN)/python -m sphinx --fresh-env --fail-on-warning --keep-going --quiet

docs: $(VENV)/docs
	$(SPHINX) -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

linkcheck: $(VENV)/docs
	$(SPHINX) -b linkcheck -D gallery_run=0 docs docs/_build/linkcheck

MOST_KB := 1000

dist: $(VENV)/release
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	@for file in dist/*; do test $$(du -k $$file | cut -f1) -lt $(MOST_KB) \
	  || { echo "$$file has more than $(MOST_KB) KB"; exit 1; }; done

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .numba_cache .coverage htmlcov
	rm -rf docs/_build docs/gallery docs/generated dist

$(VENV)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed, $(PYTHON) is older; name another one: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/core: $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[data]"
	@touch $@

$(VENV)/dev: $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@ $(VENV)/core

$(VENV)/docs: $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	@touch $@ $(VENV)/core

$(VENV)/release: $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[release]"
	@touch $@ $(VENV)/core

$(VENV)/bench: $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	@touch $@ $(VENV)/core
