# `make demo` and `make test` set up all they need, in virtual environments of their own.
PYTHON ?= python3
BIN := .venv/bin
OLDEST := .venv-oldest/bin
DOCS := .venv-docs/bin
LOGGERS := .venv-loggers/bin
CLUSTERS := .venv-clusters/bin
RELEASE := .venv-release/bin
DEMO := .venv-demo/bin

# Three workers on two cores: many tests wait, for a process that starts or a fit that
# hangs. `make test WORKERS=2` uses others.
WORKERS := 3

# A worker has a core at most: threads that share it would wait for each other, beside
# other work for most of the time. Tests start many processes: what one has compiled is
# kept for the others, whatever the shell says.
THREADS := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=

# Threads that wait for each other beside other work would spoil the times of examples.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# What of the search depends on the version of scikit-learn.
FACE := grid_search scores several_scores score_requests callbacks strategies \
    bad_input estimate ensemble predictions simplest side_by_side

.PHONY: demo test lint style types unit suite oldest browser docs notebooks loggers clusters release setup clean

demo: .venv-demo/ready
	$(DEMO)/cvst demo

# One core would rest while a browser or packages are installed, and while types are
# checked. What is wrong with types is said after the tests; `make lint` says it at once.
test:
	$(MAKE) --no-print-directory -j 2 style browser
	@$(MAKE) --no-print-directory types >.venv/types.txt 2>&1 & types=$$!; \
	$(MAKE) --no-print-directory suite; suite=$$?; \
	wait $$types; types=$$?; \
	cat .venv/types.txt; \
	test $$suite$$types = 00

lint: style types

style: .venv/ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: .venv/ready
	$(BIN)/mypy

unit: browser
	$(MAKE) --no-print-directory suite

suite: .venv/ready
	$(THREADS) $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

# Reports are tested in a real browser where one can be had; without it those tests say
# so and are skipped.
browser:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null \
	    || (apt-get update -qq && apt-get install -y -qq chromium chromium-driver) \
	    || echo "NO BROWSER could be installed: tests of the report's page are skipped."

# The scikit-learn face once more, on the oldest versions that pyproject.toml allows.
oldest: .venv-oldest/ready
	$(THREADS) $(OLDEST)/python -m pytest -n 2 tests/test_estimator_checks.py \
	    tests/learners/test_weighted_ensemble.py $(FACE:%=tests/search/test_%.py)

# The site, with its examples run; a warning is an error. It is in docs/_build/html.
docs: .venv-docs/ready
	$(ONE_THREAD) $(DOCS)/sphinx-build -W --keep-going -b html docs docs/_build/html

# The notebooks of the built site, each opened and run in a kernel of its own.
notebooks: docs
	$(ONE_THREAD) $(DOCS)/python tools/notebooks.py docs/examples

# The loggers against MLflow and Weights & Biases themselves, which are large.
loggers: .venv-loggers/ready
	$(LOGGERS)/python -m pytest -W ignore::DeprecationWarning -W ignore::FutureWarning \
	    tests/integrations

# Races on real clusters of processes: Ray is large.
clusters: .venv-clusters/ready
	$(CLUSTERS)/python -m pytest tests/clusters
	$(CLUSTERS)/python -m pytest tests/docs/test_code_blocks.py -k clusters.md

# A rehearsal: built, checked and installed in clean environments, and not uploaded.
release: .venv-release/ready
	$(RELEASE)/python tools/rehearse_release.py

setup: .venv/ready

# Tests import about a fifth of the modules: these are compiled when they are.
.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[all]" --group dev
	touch $@

# What the demo needs, and nothing of what developers need.
.venv-demo/ready: pyproject.toml
	$(PYTHON) -m venv .venv-demo
	$(DEMO)/python -m pip install --quiet --editable . "rich>=13.7"
	touch $@

.venv-oldest/ready: pyproject.toml tests/oldest.txt
	$(PYTHON) -m venv .venv-oldest
	$(OLDEST)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(OLDEST)/python -m pip install --quiet --editable . --constraint tests/oldest.txt \
	    pytest pytest-xdist hypothesis pandas polars pyarrow
	touch $@

.venv-docs/ready: pyproject.toml
	$(PYTHON) -m venv .venv-docs
	$(DOCS)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(DOCS)/python -m pip install --quiet --editable ".[all]" --group docs
	touch $@

.venv-loggers/ready: pyproject.toml
	$(PYTHON) -m venv .venv-loggers
	$(LOGGERS)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(LOGGERS)/python -m pip install --quiet --editable ".[wandb,optuna]" \
	    mlflow pytest hypothesis
	touch $@

.venv-clusters/ready: pyproject.toml
	$(PYTHON) -m venv .venv-clusters
	$(CLUSTERS)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(CLUSTERS)/python -m pip install --quiet --editable ".[dask,ray]" --group test
	touch $@

.venv-release/ready: pyproject.toml
	$(PYTHON) -m venv .venv-release
	$(RELEASE)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(RELEASE)/python -m pip install --quiet --group release
	touch $@

clean:
	rm -rf .venv .venv-demo .venv-oldest .venv-docs .venv-loggers .venv-clusters .venv-release docs/_build build dist .pytest_cache .mypy_cache .ruff_cache
