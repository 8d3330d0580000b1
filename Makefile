# Everything sets itself up in .venv from a bare clone; only Python 3.11 to 3.13 and make are needed.
#   make demo    thirty people cross a square: planned, audited, drawn, filmed and exported to demo/
#   make test    the fast tests
PYTHON ?= $(shell for v in python3.13 python3.12 python3.11 python3; do \
	$$v -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	>/dev/null 2>&1 && { echo $$v; break; }; done)
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test test-slow lint types bench dist mutants lock clean

demo: $(READY)
	$(BIN)/gaitway demo

test: $(READY)
	$(BIN)/python -m pytest -n auto --dist loadfile

test-slow: $(READY)
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder -m slow

lint: $(READY)
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .

types: $(READY)
	$(BIN)/python -m mypy

bench: $(READY)
	$(BIN)/gaitway bench

# A wheel and a source distribution in dist/; tests/test_install.py installs both into bare environments.
dist: $(READY)
	$(BIN)/python -m hatchling build -d dist

# Plants 100 small bugs, one after another, in a copy of the tree: each must make a test fail (about 20 minutes).
mutants: $(READY)
	$(BIN)/python tools/mutants.py

# After a change of pyproject.toml; needs uv. The lock holds for Python 3.11 to 3.13 on every platform.
lock:
	uv pip compile pyproject.toml --all-extras --group build --universal --python-version 3.11 --no-header \
	  --no-emit-index-url --no-annotate --quiet --output-file requirements.lock

clean:
	rm -rf .venv build dist demo

$(READY): pyproject.toml requirements.lock
	@test -n "$(PYTHON)" || { echo "gaitway needs Python 3.11, 3.12 or 3.13 with venv (Debian: apt install python3-venv); set PYTHON=/path/to/python"; exit 2; }
	@echo "setting up .venv with $(PYTHON) (once) ..."
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)
