# Everything a fresh machine needs: Python 3.11 or newer, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help demo test lint bench evals floors clean programs

help:
	@echo "make demo    set up and run kiwiresearch on the sample book"
	@echo "make test    set up and run every check"
	@echo "make evals   measure quality against pinned floors"
	@echo "make bench   measure speed as ratios"

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --only-binary :all: --no-binary kiwiresearch --editable . --group dev
	@touch $@

demo: $(READY)
	@tools/demo $(BIN)/kiwiresearch

# What some tests talk to: kiwix-serve. Where it cannot be installed, those tests skip and say so.
programs:
	@tools/install-programs

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: $(READY) programs lint
	$(BIN)/python -m pytest
	$(BIN)/python -m evals.gate

evals: $(READY)
	$(BIN)/python -m evals.gate

floors: $(READY)
	$(BIN)/python -m evals.gate --raise

bench: $(READY)
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist
