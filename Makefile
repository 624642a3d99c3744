# Two commands: `make demo` and `make test`. Each sets up .venv on its first run. `make help` lists all.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help demo test lint types unit filecheck campaign fuzz pairs faults wheel-check kernel-wheel-check foreign-kernels docs reference results clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

demo: $(STAMP) ## optimise and run real kernels, print a table
	$(BIN)/python benchmarks/demo.py

test: lint types filecheck unit ## everything that a change must pass

lint: $(STAMP) ## ruff: rules and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PYTHONPATH=src $(BIN)/lint-imports --no-cache --no-logo

types: $(STAMP) ## pyright, strict
	$(BIN)/pyright

filecheck: $(STAMP) ## golden tests of the textual tools
	$(BIN)/lit -q tests/filecheck

# Tests start many processes: they read bytecode that is there instead of compiling all of Python's.
unexport PYTHONDONTWRITEBYTECODE

# Threads that wait for others give up their core: several tests run at once.
unit campaign fuzz pairs faults: export OMP_WAIT_POLICY = passive

unit: $(STAMP) ## pytest without the campaigns
	$(BIN)/pytest -n 2 -m "not campaign"

campaign: pairs fuzz faults ## long random campaigns (hours)
	$(BIN)/pytest -n 2 -m campaign

# LOOPWRIGHT_CAMPAIGN_PAIRS, _SEED and _JOBS say how many, and which.
pairs: $(STAMP) ## random programs and schedules against the interpreter
	$(BIN)/python tests/campaign.py

# LOOPWRIGHT_CAMPAIGN_INPUTS says how many.
fuzz: $(STAMP) ## mutated inputs of every kind, none may end in a traceback
	$(BIN)/python tests/fuzz.py

# LOOPWRIGHT_CAMPAIGN_FAULTS multiplies the counts.
faults: $(STAMP) ## kills, signals, broken homes, full disks, crowds, memory
	$(BIN)/python tests/faults.py

wheel-check: $(STAMP) ## sdist and wheel; the wheel alone in a fresh environment
	$(BIN)/python tools/wheel_check.py

kernel-wheel-check: $(STAMP) ## a wheel of kernels in a fresh environment, at every level; its speed
	$(BIN)/python tools/kernel_wheel_check.py

# Needs qemu-user-static and gcc-aarch64-linux-gnu.
foreign-kernels: $(STAMP) ## PolyBench and field kernels for AArch64, run by QEMU
	$(BIN)/python tools/foreign_kernels.py

docs: export NO_MKDOCS_2_WARNING = 1

docs: $(STAMP) ## build the site in build/site
	$(BIN)/mkdocs build --quiet --strict

reference: $(STAMP) ## write the pages that follow from the code
	$(BIN)/python tools/reference.py

results: $(STAMP) ## write the pages of results
	$(BIN)/python tools/results.py

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $(STAMP)

clean: ## remove the environment and everything built
	rm -rf $(VENV) build dist src/*.egg-info
