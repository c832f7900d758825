# Everything happens in a virtual environment in this folder; Python 3.11+ and make are all that is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help solve test test-all reproduce lint bench clean

help:
	@echo "make solve   install, then solve the embedded instance"
	@echo "make test    install with the development tools, then run the tests"
	@echo "make reproduce   a small version of every experiment of the paper, minutes, into results/quick/"
	@echo "make lint    check style and types"
	@echo "make bench   measure speed and quality, tables in benchmarks/results/"
	@echo "make clean   remove the virtual environment and caches"

solve: $(VENV)/core
	$(BIN)/pareto-nrpa solve

test: $(VENV)/dev
	$(BIN)/python -m pytest -m "not slow"

test-all: $(VENV)/dev
	$(BIN)/python -m pytest

reproduce: $(VENV)/dev
	$(BIN)/pareto-nrpa experiment reproduce --quick --jobs 2

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/bench
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .numba_cache

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

$(VENV)/bench: $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	@touch $@ $(VENV)/core
