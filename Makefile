# `make` alone says what there is. The first target that needs it makes .venv; after that nothing
# here touches the network, until pyproject.toml or constraints.txt change.

PYTHON ?= python3
ARGS ?=
WORKERS ?= 2
VENV := .venv
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check lint types bench chaos clean programs

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(STAMP) ## try it with no account: a chat in the terminal, or a tour if there is no terminal
	@$(VENV)/bin/python -m claude_sessions.demo $(ARGS)

test: programs $(STAMP) ## run the tests; ARGS="-k name" goes to pytest; WORKERS=0: one by one
	@$(VENV)/bin/python -m pytest -n $(WORKERS) $(ARGS)

check: lint types test ## all that must hold before a commit: ruff, mypy, tests

lint: $(STAMP)
	@$(VENV)/bin/ruff check
	@$(VENV)/bin/ruff format --check

types: $(STAMP)
	@$(VENV)/bin/mypy

bench: programs $(STAMP) ## measure, and write bench/RESULTS.md
	@$(VENV)/bin/python -m bench $(ARGS)

chaos: programs $(STAMP) ## kill daemon and CLIs at random, check that nothing is lost; ARGS="--seconds 300"
	@$(VENV)/bin/python -m tests.chaos $(ARGS)

clean: ## remove everything that was made here, .venv too
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# $(call install,PACKAGES): as root on Debian install them, one make at a time; else ask for them.
define install
if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
  echo "Installing$(1) with apt-get"; \
  export DEBIAN_FRONTEND=noninteractive; \
  exec 8<Makefile; flock 8; \
  apt-get -qq -o DPkg::Lock::Timeout=300 update && \
  apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 install -y --no-install-recommends $(1) >/dev/null \
    || { echo "Could not install$(1): see above." >&2; exit 1; }; \
else \
  echo "Please install$(1), for example: sudo apt-get install$(1)" >&2; exit 1; \
fi
endef

# What the tests drive besides Python, as program:package.
programs:
	@missing=; \
	for each in tmux:tmux git:git setpriv:util-linux curl:curl; do \
	  command -v "$${each%%:*}" >/dev/null || missing="$$missing $${each##*:}"; \
	done; \
	[ -z "$$missing" ] || { $(call install,$$missing); }

# hatchling is installed beforehand, because constraints do not reach an isolated build. The lock is
# for two makes at once: the second finds the work done.
$(STAMP): pyproject.toml constraints.txt
	@find_python() { \
	  for python in $(PYTHON) python3.14 python3.13 python3.12 python3.11; do \
	    "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && return; \
	  done; false; \
	}; \
	command -v $(PYTHON) >/dev/null || find_python || { $(call install, python3 python3-venv); }; \
	find_python || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/it" >&2; exit 1; }; \
	"$$python" -c 'import ensurepip, venv' 2>/dev/null || { $(call install, python3-venv); }; \
	exec 9<pyproject.toml; ! command -v flock >/dev/null || flock 9; \
	if [ $@ -nt pyproject.toml ] && [ $@ -nt constraints.txt ]; then exit 0; fi; \
	echo "Setting up $(VENV) (once, about a minute)"; \
	export PIP_DISABLE_PIP_VERSION_CHECK=1; \
	pip="$(VENV)/bin/python -m pip install -qq --constraint constraints.txt"; \
	"$$python" -m venv $(VENV) && \
	$$pip hatchling editables && \
	$$pip --no-build-isolation --editable '.[dev]' && \
	touch $@
