# Every target sets up .venv by itself; all that is needed is Python 3.11 or later and make.
PYTHON ?= python3
EXTRAS ?= dev
VENV := .venv
BIN := $(VENV)/bin
export OMP_NUM_THREADS ?= 1
unexport PYTHONDONTWRITEBYTECODE  # each process would compile all modules anew

.PHONY: demo test long tests lowest bench docs docs-figures lint format clean

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[$(EXTRAS)]"
	touch $@

demo: $(VENV)/installed
	$(BIN)/accordant run story

test: $(VENV)/installed
	$(BIN)/python -m pytest -q -n auto --dist worksteal --timeout 300

long: $(VENV)/installed
	$(BIN)/python -m pytest -q -n auto --dist worksteal --timeout 1500 -m long

tests: $(VENV)/installed  # both in one go: what is collected, compiled and fitted for both is so once
	$(BIN)/python -m pytest -q -n auto --dist worksteal --timeout 1500 -m ""

LOWEST := .venv-lowest
# its machine code stands apart: beside the modules, it would take the place of that of the versions in use
lowest: export NUMBA_CACHE_DIR := $(abspath $(LOWEST))/kernels

$(LOWEST)/installed: pyproject.toml .ci/lowest.py
	rm -rf $(LOWEST)
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python .ci/lowest.py sign arrow excel sql plot serve > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --constraint $(LOWEST)/constraints.txt --editable ".[sign,arrow,excel,sql,plot,serve]" \
		fsspec httpx hypothesis jsonschema polars pytest pytest-timeout pytest-xdist
	touch $@

lowest: $(LOWEST)/installed  # the lowest versions that pyproject.toml allows start, carry out a case and pass tests
	rm -rf $(LOWEST)/run
	$(LOWEST)/bin/accordant run lending --rows 300 --folds 3 --resamples 100 --out $(LOWEST)/run > $(LOWEST)/run.txt
	$(LOWEST)/bin/accordant verify $(LOWEST)/run
	env -u ACCORDANT_REQUIRE_EXTRAS -u PYTHONWARNINGS $(LOWEST)/bin/python -m pytest -q -n auto --dist worksteal -W default --timeout 300 tests/runs tests/terminal tests/learning/trees \
		tests/cli tests/slates/rules tests/test_contexts.py tests/test_policy.py \
		tests/service/api tests/service/test_decisions.py tests/service/test_migrations.py

bench: $(VENV)/installed
	$(BIN)/python -m benchmarks

$(VENV)/documented: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[docs]"
	touch $@

docs: $(VENV)/documented  # the site with its search, without network; prints where it begins
	$(BIN)/python -m docs.site

docs-figures: $(VENV)/installed  # renew what the documents print; then reread the sentences around it
	$(BIN)/python -m docs.renewal

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) $(LOWEST) docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
