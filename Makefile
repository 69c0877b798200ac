# Two commands on a fresh machine: `make demo` and `make test`. Both set everything up themselves.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/ready

.PHONY: demo test check format clean

demo: $(READY)
	$(BIN)/sparallel run quickstart --out demo
	$(BIN)/sparallel results demo
	$(BIN)/sparallel report demo

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

NATIVE := setup.py $(wildcard src/sparallel/kernels/native/*)

# torch by its exact version and first, so that nothing else chooses another build of it.
$(READY): pyproject.toml constraints.txt $(NATIVE)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "sparallel needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $(READY)

clean:
	rm -rf $(VENV) demo build dist src/*.egg-info
