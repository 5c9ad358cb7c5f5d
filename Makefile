# Every target makes .venv itself when it is missing; nothing but python3 and make is needed.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: study test test-all check docs examples reproduction bench dist clean

study: $(INSTALLED)
	$(BIN)/whynear study

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

docs: $(INSTALLED)
	$(BIN)/sphinx-build --fail-on-warning --keep-going --fresh-env --quiet docs docs/_build/html

# Some examples need the real data sets (WHYNEAR_DATA).
examples: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[examples]'
	$(BIN)/python -m examples.execute

# Every table and figure of the papers, and the page about them; needs the real data sets (WHYNEAR_DATA).
reproduction: $(INSTALLED)
	$(BIN)/whynear reproduce all
	$(BIN)/python -m docs.reproduction reproduction

bench: bench-start bench-search bench-single_rows bench-intervals bench-learners bench-lann bench-slider bench-case_base bench-studies bench-verdicts

bench-%: $(INSTALLED)
	$(BIN)/python -m benchmarks.$*

dist: $(INSTALLED)
	$(BIN)/python -m build

clean:
	rm -rf .venv .rivals dist study reproduction docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@
