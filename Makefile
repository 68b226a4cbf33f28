# Two commands do all the set-up: `make run` and `make test`.
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test check dev dictionary interpolation-report page-weight reliability clean

run: $(VENV)/ready
	@$(BIN)/tokenyield build

test: $(VENV)/ready
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not slow"

check: $(VENV)/ready
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/dagster definitions validate -m pipelines.definitions

dev: $(VENV)/ready
	@$(BIN)/tokenyield dev

# After a change of a column's description: sql/DICTIONARY.md is made from the models' headers.
dictionary: $(VENV)/ready
	@$(BIN)/python -m pipelines.dictionary

interpolation-report: $(VENV)/ready
	@$(BIN)/python tests/interpolation_report.py

page-weight: $(VENV)/ready
	@$(BIN)/python benchmarks/page_weight.py var/published/current

# Runs the suite of faults, breaks its guards one by one in a copy, and writes docs/reliability.md: ten minutes.
reliability: $(VENV)/ready
	@$(BIN)/python tests/faults/reliability.py

clean:
	rm -rf $(VENV)

# uv installs in seconds what pip does in half a minute; where it cannot be had, pip does it. Compiled once here,
# every later start is two seconds shorter even where Python may not write beside its modules.
$(VENV)/ready: requirements.lock pyproject.toml
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: Python 3.11 or newer is needed; this is $$(python3 --version)" >&2; exit 1; }
	@test -x $(BIN)/python || python3 -m venv $(VENV)
	@echo "installing into $(VENV)" >&2
	@if $(BIN)/python -m pip install -q --disable-pip-version-check uv && $(BIN)/uv pip install -q --compile-bytecode --python $(BIN)/python -r requirements.lock; then :; \
	else $(BIN)/python -m pip install -q --disable-pip-version-check -r requirements.lock; fi
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
