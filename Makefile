# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
#
#   make demo    set everything up, then build and run the examples with pictures
#   make quick   what is looked at at each save: lint, types, tests that compile nothing
#   make test    set everything up, then run every test and check
#   make test-long  tests that take long too, more examples of properties, and coverage
#   make test-clang  the tests that compile components, with Clang
#   make site    the documentation site, in build/site
#   make docs    the same, and all tests of the documentation
#   make coverage  what tests execute of the runtime and of generated code (needs GCC 14 or newer: CC=gcc-14)
#   make mutate  how many small faults in the code the tests find (benchmarks/README.md); takes long
#   make explore  every schedule of small systems in every mix of protocols; takes hours
#   make proof   the queue of waiters meets its contracts, and blocking (needs Frama-C, Why3, CVC4 and Coq)
#   make spin    the orders of locks in the runtime are those of a model, all of them (needs Spin)
#   make pins    the newest versions of developers' tools, into requirements-dev.txt
#   make setup   only the environment: .venv, with the command .venv/bin/camkes

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CAMKES := $(BIN)/camkes
DEMO := build/demo
PINS := requirements-dev.txt
PIP_OPTIONS := --quiet --disable-pip-version-check
COVERED := parser camkes/resolve camkes/protocols
PYTHON_CODE := camkes tools parser tests benchmarks docs/site
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: demo quick test test-long test-clang coverage setup check-python lint unit sanitize format clean pins mutate explore spin proof docs site

# The demo needs only what running needs; tests need the tools of developers too.
setup: $(VENV)/.run-ready

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo 'camkes-rt needs Python 3.11 or newer; name one with PYTHON=...'; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run-ready: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install $(PIP_OPTIONS) -e .
	$(BIN)/python -m camkes.parser.tables
	$(BIN)/python -m compileall -q camkes
	@touch $@

$(VENV)/.test-ready: pyproject.toml tools/migrate/pyproject.toml $(PINS) | $(VENV)/.run-ready
	$(BIN)/python -m pip install $(PIP_OPTIONS) -c $(PINS) -e '.[dev]' -e tools/migrate
	@touch $@

# The newest versions of the tools of developers, for everybody: run `make test` with them, then commit the file.
pins: | $(VENV)/bin/python
	rm -rf build/pins
	$(PYTHON) -m venv build/pins
	build/pins/bin/python -m pip install $(PIP_OPTIONS) '.[dev,docs,mutation]'
	sed '/^[^#]/d' $(PINS) >build/pins.txt
	build/pins/bin/python -m pip freeze --exclude camkes-rt >>build/pins.txt
	mv build/pins.txt $(PINS)

demo: $(VENV)/.run-ready
	@mkdir -p $(DEMO)
	$(CAMKES) run examples/nested -o $(DEMO)/nested --timeline $(DEMO)/nested.svg \
	    --trace $(DEMO)/nested.json --verify
	$(CAMKES) run examples/inversion -DPLAIN=ON -o $(DEMO)/plain --for 100ms \
	    --timeline $(DEMO)/inversion-plain.svg
	$(CAMKES) run examples/inversion -o $(DEMO)/inherited --for 100ms \
	    --timeline $(DEMO)/inversion-inherited.svg --verify
	@echo
	@echo 'Pictures:'
	@echo '  $(DEMO)/nested.svg               nested inheritance'
	@echo '  $(DEMO)/inversion-plain.svg      priority inversion with a plain call'
	@echo '  $(DEMO)/inversion-inherited.svg  the same system with inheritance'
	@echo 'For https://ui.perfetto.dev:'
	@echo '  $(DEMO)/nested.json'

test: $(VENV)/.test-ready lint sanitize unit

QUICK := tests/parser tests/resolve tests/protocols tests/capdl tests/format tests/repository
quick: $(VENV)/.test-ready
	$(BIN)/ruff check --quiet $(PYTHON_CODE)
	$(BIN)/ruff format --quiet --check $(PYTHON_CODE)
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile $(QUICK)

lint: $(VENV)/.test-ready
	$(BIN)/ruff check $(PYTHON_CODE)
	$(BIN)/ruff format --check $(PYTHON_CODE)
	$(BIN)/mypy
	git ls-files -z -- '*.c' '*.h' ':!templates' ':!examples' ':!camkes/resolve/builtin' ':!**/golden/**' | \
	    xargs -0 $(BIN)/clang-format --dry-run -Werror
	$(CAMKES) fmt --check examples
	$(BIN)/reuse --no-multiprocessing lint --quiet || { $(BIN)/reuse lint; exit 1; }

sanitize: $(VENV)/.test-ready
	$(MAKE) --no-print-directory -C kernel/host OUT=$(CURDIR)/build/host-sanitize PYTHON=$(CURDIR)/$(BIN)/python test-sanitize

unit: $(VENV)/.test-ready
	$(BIN)/python -m pytest -rs -n $(JOBS) --dist loadfile --timeout 300

test-long: $(VENV)/.test-ready
	HYPOTHESIS=long $(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m 'long or not long' --cov --cov-report=
	$(foreach package,$(COVERED),$(BIN)/coverage report --include='$(package)/*' --fail-under=95 &&) true

test-clang: $(VENV)/.test-ready
	CC=clang CXX=clang++ $(BIN)/python -m pytest -rs -n $(JOBS) --dist loadfile tests/host tests/backends/host tests/end_to_end

coverage: $(VENV)/.test-ready
	$(BIN)/python benchmarks/runtime_coverage.py --jobs $(JOBS)
	$(BIN)/python benchmarks/generated_coverage.py

docs: $(VENV)/.test-ready site
	$(BIN)/python -m pytest -n $(JOBS) --timeout 300 -m 'long or not long' tests/docs

site: $(VENV)/.run-ready
	$(BIN)/python -m pip install $(PIP_OPTIONS) -c $(PINS) -e '.[docs]'
	$(BIN)/python docs/site/pages.py build/site-source
	rm -rf build/site
	$(BIN)/python -m sphinx -q -W --keep-going -c docs/site build/site-source build/site
	@echo 'build/site/index.html is the first page'

COUNT ?= 200
SEED ?= 1
mutate: $(VENV)/.test-ready
	$(BIN)/python -m pip install $(PIP_OPTIONS) -c $(PINS) -e '.[mutation]'
	$(BIN)/python benchmarks/mutate.py --count $(COUNT) --seed $(SEED)

# EXPLORE: other options, as --cpis 2 or --limit 60
explore: $(VENV)/.test-ready
	$(BIN)/python benchmarks/explore_topologies.py --named $(EXPLORE)
	$(BIN)/python benchmarks/explore_topologies.py $(EXPLORE)

spin: $(VENV)/.test-ready
	$(BIN)/python -m pytest -n $(JOBS) -m 'long or not long' -rs tests/explore/test_spin.py

proof: $(VENV)/.test-ready
	$(BIN)/python -m pytest -m 'long or not long' -rsP tests/proof

format: $(VENV)/.test-ready
	$(BIN)/ruff check --fix $(PYTHON_CODE)
	$(BIN)/ruff format $(PYTHON_CODE)

clean:
	rm -rf build $(VENV)
