# Every target makes .venv itself when it is missing; nothing but python3 and make is needed. `make help` lists them.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: study studio test test-all check web docs gallery architecture examples reproduction bench dist matrix clean help

study: $(INSTALLED)  ## a study of the breast cancer table: study/report.html and its data files
	$(BIN)/whynear study

studio: $(INSTALLED)  ## the same study on a local page, with what-if questions
	$(BIN)/whynear studio breast_cancer

# Fewer examples of each property; a core for each of two processes. Compiled tests and modules are kept, also where the
# environment says otherwise: each process, and each that a test starts, would compile them again.
test: $(INSTALLED)  ## the quick tests: all but those marked slow
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile -m "not slow" --hypothesis-profile quick $(PYTEST_ARGS)

test-all: $(INSTALLED)  ## all tests
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n 2 --dist loadfile $(PYTEST_ARGS)

check: $(INSTALLED)  ## lint, format, types, the import contract and the budget of sizes
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.budget

# What is built is part of the package.
web:  ## the page of the report, from its sources in web; needs node and npm
	npm ci --prefix web --no-audit --no-fund
	npm run check --prefix web
	npm test --prefix web
	npm run build --prefix web

docs: $(INSTALLED)  ## the guide: docs/_build/html
	$(BIN)/sphinx-build --fail-on-warning --keep-going --fresh-env --quiet docs docs/_build/html

# Two of them need real data sets (WHYNEAR_DATA) or a network.
gallery: $(INSTALLED)  ## the worked examples of the guide, run again, with their pictures
	$(BIN)/python -m docs.gallery

architecture: $(INSTALLED)  ## the drawing of the folders, from the import contract and the imports
	$(BIN)/python -m docs.architecture

# Some need the real data sets (WHYNEAR_DATA).
examples: $(INSTALLED)  ## the notebooks of examples, run again
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[examples]'
	$(BIN)/python -m examples.execute

# Needs the real data sets (WHYNEAR_DATA).
reproduction: $(INSTALLED)  ## every table and figure of the papers, and the page about them
	$(BIN)/python -m papers all
	$(BIN)/python -m docs.reproduction reproduction

bench: bench-start bench-search bench-single_rows bench-intervals bench-learners bench-lann bench-slider bench-case_base bench-studies bench-engines bench-verdicts bench-reject bench-streams bench-studio  ## all benchmarks; one alone: make bench-start

bench-%: $(INSTALLED)
	$(BIN)/python -m benchmarks.$*

dist: $(INSTALLED)  ## the packages to publish, built, checked, and used in an empty environment
	$(BIN)/python -m tests.packages

matrix: $(INSTALLED)  ## the quick tests with the oldest and the newest versions of Python and of the packages
	$(BIN)/python -m tests.matrix

clean:  ## remove .venv and all that is built
	rm -rf .venv .rivals .matrix web/node_modules dist study studio reproduction docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-14s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@
