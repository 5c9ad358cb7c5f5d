# Every target makes .venv itself when it is missing; nothing but python3 and make is needed.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: study studio test test-all check web docs gallery examples reproduction bench dist matrix clean

study: $(INSTALLED)
	$(BIN)/whynear study

# A local page with the same study, which answers questions.
studio: $(INSTALLED)
	$(BIN)/whynear studio breast_cancer

# The quick tier: all but the tests marked slow, and fewer examples of each property; a core for each of two processes.
test: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile -m "not slow" --hypothesis-profile quick $(PYTEST_ARGS)

test-all: $(INSTALLED)
	$(BIN)/pytest -n 2 --dist loadfile $(PYTEST_ARGS)

check: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The page of the report, from its sources in web; needs node and npm. What is built is part of the package.
web:
	npm ci --prefix web --no-audit --no-fund
	npm run check --prefix web
	npm test --prefix web
	npm run build --prefix web

docs: $(INSTALLED)
	$(BIN)/sphinx-build --fail-on-warning --keep-going --fresh-env --quiet docs docs/_build/html

# The worked examples of the guide, run again, and their pictures; two of them need real data sets (WHYNEAR_DATA) or a network.
gallery: $(INSTALLED)
	$(BIN)/python -m docs.gallery

# Some examples need the real data sets (WHYNEAR_DATA).
examples: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[examples]'
	$(BIN)/python -m examples.execute

# Every table and figure of the papers, and the page about them; needs the real data sets (WHYNEAR_DATA).
reproduction: $(INSTALLED)
	$(BIN)/whynear reproduce all
	$(BIN)/python -m docs.reproduction reproduction

bench: bench-start bench-search bench-single_rows bench-intervals bench-learners bench-lann bench-slider bench-case_base bench-studies bench-engines bench-verdicts bench-reject bench-streams bench-studio

bench-%: $(INSTALLED)
	$(BIN)/python -m benchmarks.$*

# The packages to publish, built, looked into, and used in an empty environment.
dist: $(INSTALLED)
	$(BIN)/python -m tests.packages

# The quick tests with the oldest and the newest versions of Python and of the packages.
matrix: $(INSTALLED)
	$(BIN)/python -m tests.matrix

clean:
	rm -rf .venv .rivals .matrix web/node_modules dist study studio reproduction docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@
