# Two commands: `make demo` and `make test`. Each sets up .venv on its first run.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint types unit filecheck campaign clean

demo: $(STAMP)
	$(BIN)/python benchmarks/demo.py

test: lint types filecheck unit

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PYTHONPATH=src $(BIN)/lint-imports --no-cache --no-logo

types: $(STAMP)
	$(BIN)/pyright

filecheck: $(STAMP)
	$(BIN)/lit -q tests/filecheck

# Threads that wait for others give up their core: several tests run at once.
unit campaign: export OMP_WAIT_POLICY = passive

unit: $(STAMP)
	$(BIN)/pytest -n 2 -m "not campaign"

campaign: $(STAMP)
	$(BIN)/pytest -n 2 -m campaign

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $(STAMP)

clean:
	rm -rf $(VENV) build dist src/*.egg-info
