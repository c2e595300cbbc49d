# make demo   the main job on an example session      make test   all tests
# make check  format, lint, types, import rules, generated files      make bench   speed and quality, JSON out
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
NODE_BIN := node_modules/.bin

.PHONY: demo test check bench format clean
.DELETE_ON_ERROR:

demo: .venv/run.stamp
	@$(BIN)/clew replay examples/webshop.jsonl --review auto \
		--ask "in which unit are prices stored?" \
		--ask "may you run a migration?" \
		--ask "come preferisce i commenti nel codice?"

test: .venv/dev.stamp node_modules/.stamp
	PATH="$(CURDIR)/$(NODE_BIN):$$PATH" node --test --test-reporter=dot tests/extension/*.test.ts
	$(BIN)/python -m pytest -q

check: .venv/dev.stamp node_modules/.stamp
	$(BIN)/ruff format --check src tests scripts benchmarks
	$(BIN)/ruff check src tests scripts benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache | tail -n 12
	$(NODE_BIN)/tsc --noEmit
	$(BIN)/python -m clew.hosts.pi.generate --check
	$(BIN)/python scripts/settings_reference.py --check

bench: .venv/dev.stamp node_modules/.stamp
	@$(BIN)/python benchmarks/run_all.py

format: .venv/dev.stamp
	$(BIN)/ruff check --fix-only --quiet src tests scripts benchmarks
	$(BIN)/ruff format src tests scripts benchmarks

clean:
	rm -rf .venv node_modules build dist .pytest_cache .mypy_cache .ruff_cache

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Clew needs Python 3.11 or newer; this is " + sys.version + ". Say make PYTHON=python3.12, for example.")'
	$(PYTHON) -m venv .venv

.venv/run.stamp: requirements.txt pyproject.toml | .venv/bin/python
	@echo "Installing Clew into .venv (once; about 70 MB to download) ..."
	@$(PIP) -r requirements.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

.venv/dev.stamp: requirements-dev.txt .venv/run.stamp
	@echo "Installing the test tools into .venv (once) ..."
	@$(PIP) -r requirements-dev.txt
	@touch $@

node_modules/.stamp: package.json package-lock.json
	@echo "Installing Pi, Node and TypeScript into node_modules (once; about 350 MB) ..."
	@npm ci --no-audit --no-fund --loglevel=error
	@test -x $(NODE_BIN)/node && $(NODE_BIN)/node --version >/dev/null 2>&1 || npm rebuild node --loglevel=error
	@touch $@
