# make .venv, demo, test, lint, clean.
# PYTHON: the interpreter (3.11 or newer) of the virtual environment.
# TORCH_INDEX: a package index to take torch from, for example one with CPU builds only.
# PIP_ARGS: anything more for pip.
PYTHON ?= python3
TORCH_INDEX ?=
PIP_ARGS ?=

VENV := .venv
BIN := $(abspath $(VENV))/bin
INSTALLED := $(VENV)/.installed
TYPED := build/typed/gnnc
# the tools must be found by the tools they start: lit runs gnnc-opt and filecheck, pyright asks python for its packages
export PATH := $(BIN):$(PATH)

.PHONY: all .venv demo test lint typed clean
all: .venv

.venv: $(INSTALLED)

# torch goes first and alone, so that only it is taken from TORCH_INDEX
$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -c constraints.txt $(PIP_ARGS) $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) torch
	$(BIN)/python -m pip install -c constraints.txt $(PIP_ARGS) -e '.[pyg,dev]'
	touch $@

demo: $(INSTALLED)
	$(BIN)/python examples/cora_gcn.py

test: lint
	$(BIN)/pytest -n 2
	$(BIN)/lit -v test/filecheck

lint: $(INSTALLED) typed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

# In a checkout the three folders lie beside gnnc/, where pyright does not look for gnnc.dialects and the others; in this
# tree they lie in it.
typed: $(TYPED)/targets

$(TYPED)/targets:
	mkdir -p $(TYPED)
	ln -sfn $(addprefix ../../../,gnnc/__init__.py dialects passes targets) $(TYPED)

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .ruff_cache .hypothesis
	find gnnc dialects passes targets examples test -name __pycache__ -type d -prune -exec rm -rf {} +
