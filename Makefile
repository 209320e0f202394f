# One entry for everything. Each target makes the virtual environment it needs, in .venv, and
# nothing outside this folder. `make help` lists them.

PYTHON ?= python3
VENV ?= .venv
WORKERS ?= auto
ARGS ?=

BIN := $(VENV)/bin
PY := $(BIN)/python
PIP := $(PY) -m pip --quiet --disable-pip-version-check --no-input install --constraint constraints.txt

export PIP_ROOT_USER_ACTION := ignore

.DEFAULT_GOAL := help
.PHONY: help demo test test-deep coverage check format-check lint types imports docs bench fmt constraints clean

help: ## list the targets
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name what; do \
	  printf '  make %-14s %s\n' "$$name" "$$what"; done
	@echo
	@echo '  PYTHON=python3.13    make .venv from another interpreter (after `make clean`)'
	@echo '  ARGS="-k log -x"     more words for pytest; WORKERS=0 runs it in one process'

demo: $(VENV)/made ## let the agent fix a failing test: no key and no network needed
	@$(BIN)/pygent demo $(ARGS)

test: $(VENV)/with-test ## run the tests; at the end, what this machine lacks for the rest
	@if [ -n "$$PYGENT_TEST_REQUIRE" ]; then $(PY) -m tests.requirements install; fi
	$(PY) -m pytest -n $(WORKERS) $(ARGS)

# pytest ends with 5 when it collected nothing: right only while no test is marked `deep`.
test-deep: $(VENV)/with-test ## run what takes longer: deep tests, and many more examples of each property
	@if [ -n "$$PYGENT_TEST_REQUIRE" ]; then $(PY) -m tests.requirements install; fi
	@$(PY) -m pytest -n $(WORKERS) -m 'deep or hypothesis' --hypothesis-profile=deep --timeout=900 $(ARGS) || { \
	  status=$$?; \
	  if [ $$status -eq 5 ] && ! grep -rqE 'mark\.deep|@given' tests --include='test_*.py'; then \
	    echo 'there are no deep tests yet'; \
	  else exit $$status; fi; }

coverage: $(VENV)/with-test ## run the tests and tell which lines they never reached
	$(PY) -m pytest -n $(WORKERS) --cov --cov-report=term --cov-report=html $(ARGS)

check: format-check lint types imports test docs ## everything that has to hold: format, lint, types, imports, tests, docs

format-check: $(VENV)/with-lint
	$(BIN)/ruff format --check .

lint: $(VENV)/with-lint ## look for mistakes and lapses of style
	$(BIN)/ruff check .

types: $(VENV)/with-test $(VENV)/with-lint ## check the types, strictly
	$(PY) -m mypy

imports: $(VENV)/with-test ## check that imports point one way
	$(BIN)/lint-imports

docs: $(VENV)/with-docs ## build the documentation into site/, strictly
	$(BIN)/zensical build --strict --clean

bench: $(VENV)/with-bench ## measure, and draw a table and a plot
	$(PY) -m benchmarks $(ARGS)

fmt: $(VENV)/with-lint ## format the code and mend what can be mended alone
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

# All extras and the build's own tools, for every Python we promise, by one resolution.
constraints: ## choose the newest versions of everything anew, into constraints.txt
	$(PYTHON) -m venv $(VENV)-constraints
	$(VENV)-constraints/bin/python -m pip --quiet --disable-pip-version-check --no-input install uv
	tools/constraints $(VENV)-constraints/bin/uv
	rm -r $(VENV)-constraints

clean: ## remove what the other targets made
	rm -rf $(VENV) $(VENV)-constraints build dist site htmlcov .cache .coverage .coverage.* .hypothesis \
	  .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find pygent tests docs examples benchmarks tools -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# The environment is made anew when what it should hold has changed.
$(VENV)/made: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Pygent needs Python 3.11 or newer; $(PYTHON) is %d.%d: try make PYTHON=python3.13" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	@echo 'making $(VENV)'
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) hatchling editables
	@$(PIP) --no-build-isolation --editable .
	@touch $@

$(VENV)/with-%: $(VENV)/made
	@echo 'adding what $* needs to $(VENV)'
	@$(PIP) --no-build-isolation --editable '.[$*]'
	@touch $@
