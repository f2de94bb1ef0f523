# Everything that a fresh machine with Python >= 3.11 and make needs; `make help` lists the targets.

# bytecode is kept: to compile the tests anew takes each of pytest's processes half a minute
export PYTHONDONTWRITEBYTECODE :=
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
TYPES := build/types/judge_tui
ROOMS := cli tui reports judging checks
# pip compiles what it copies, not what stays here; under PYTHONDONTWRITEBYTECODE each start would compile it anew.
COMPILE := $(BIN)/python -m compileall -q $(ROOMS)

.DEFAULT_GOAL := help
.PHONY: help compare quick test test-all lint types links layers unit tiers verdicts goldens holes spellings bench wheel gpu frameworks architecture pictures screenshots keys reports claims kernelbench coverage system browser clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

compare: $(STAMP)  ## install, and open glm5 against qwen36 on the KV cache
	@$(BIN)/judge-tui compare glm5 qwen36 --task kv

quick: $(DEV_STAMP) lint  ## while working: lint, units, a mutant and a twin for each check, one size of pictures
	$(BIN)/python -m pytest -q --tier quick

test: $(DEV_STAMP) lint types layers unit  ## lint, types, layers and tests: what CI runs

test-all: $(DEV_STAMP) lint types layers  ## all that there is, long campaigns included
	$(BIN)/python -m pytest -q --tier all

lint: $(DEV_STAMP)  ## style and likely bugs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV_STAMP) links  ## mypy --strict on every room, and on the tools
	$(BIN)/mypy $(ROOMS:%=-p judge_tui.%)
	$(BIN)/mypy tools

links:  ## the rooms under the name that they are imported by, for mypy, pyright and editors
	@mkdir -p $(TYPES) && for room in $(ROOMS); do ln -sfn ../../../$$room $(TYPES)/$$room; done

layers: $(DEV_STAMP)  ## cli > tui > reports > judging > checks, held by import-linter
	$(BIN)/lint-imports

unit: $(DEV_STAMP)  ## the tests, without lint, types and layers
	$(BIN)/python -m pytest

tiers: $(DEV_STAMP)  ## measure anew which tests and specimens are quick, into tests/thorough.txt and quick.txt
	JUDGE_TUI_WRITE_TIERS=1 $(BIN)/python -m pytest -q
	JUDGE_TUI_WRITE_QUICK=1 JUDGE_TUI_ALL_VERDICTS=1 $(BIN)/python -m pytest -q tests/checks/tasks/test_specimens.py

goldens: $(DEV_STAMP)  ## write down anew what the binder finds in every submission of the tests
	JUDGE_TUI_WRITE_GOLDENS=1 JUDGE_TUI_ALL_VERDICTS=1 $(BIN)/python -m pytest -q tests/checks/test_goldens.py \
		tests/checks/test_spellings.py tests/checks/tasks/test_specimens.py

verdicts: $(DEV_STAMP)  ## every check on its mutants and twins, as a table
	JUDGE_TUI_ALL_VERDICTS=1 $(BIN)/python -m pytest -q tests/checks/tasks/test_specimens.py

bench: $(DEV_STAMP)  ## speed, as ratios measured in one run
	@$(COMPILE)
	@bad=0; for bench in tui gradients checks beside behaviour judging cluster; do $(BIN)/python benchmarks/bench_$$bench.py || bad=1; done; exit $$bad

wheel: $(DEV_STAMP)  ## build the wheel, and try it on every Python that is here
	@sh tools/try_wheel.sh $(BIN)/python constraints.txt

gpu: $(DEV_STAMP)  ## what the GPU side is held to, on a machine that has one
	@benchmarks/gpu.sh

frameworks: build/frameworks/bin/python  ## answers in JAX, PyTorch, Triton, C++ and Rust judged for real, in an environment aside
	build/frameworks/bin/python -m tools.frameworks

build/frameworks/bin/python:
	$(PYTHON) -m venv build/frameworks
	build/frameworks/bin/python -m pip install -q --disable-pip-version-check -e . jax torch

architecture: $(DEV_STAMP)  ## redraw the pictures of docs/architecture.md
	$(BIN)/python -m tools.architecture

pictures: $(DEV_STAMP)  ## draw every screen in three sizes and depths of colour into build/pictures, to be looked at
	$(BIN)/python -m tools.pictures

screenshots: $(DEV_STAMP)  ## redraw the pictures in docs/
	$(BIN)/python -m tools.screenshots

keys: $(DEV_STAMP)  ## write the list of keys anew, into docs/keys.md
	$(BIN)/python -m tools.key_list

reports: $(STAMP)  ## write docs/reports anew: a report of each shape, by the commands of its README
	@sed -n 's/^judge-tui //p' docs/reports/README.md | while read -r line; do $(BIN)/judge-tui $$line || exit 1; done

holes: $(DEV_STAMP)  ## edit right submissions in one place, and tell what no check sees; goes on where it was broken off
	$(BIN)/python -m tools.holes --rights 1000 --edits 8 --log build/holes.jsonl
	$(BIN)/python -m tools.holes.own docs/examples/challenges
	$(BIN)/python -m tools.holes.own

spellings: $(DEV_STAMP)  ## spell right submissions otherwise, and tell which check fails them then; goes on where it was broken off
	$(BIN)/python -m tools.spellings --rights 1000 --log build/spellings.jsonl

coverage: $(DEV_STAMP)  ## simulate how often intervals hold the truth, into docs/statistics.md; about ten minutes
	$(BIN)/python -m tools.coverage

kernelbench: $(DEV_STAMP)  ## import published problems of KernelBench, and try their references: DIR=…/level1; needs PyTorch
	$(BIN)/python -m tools.kernelbench "$(DIR)"

claims: $(DEV_STAMP)  ## measure the claims of the analyses anew, into docs/claims.md
	$(BIN)/python -m tools.claims

system:  ## bubblewrap, which confines submissions, and g++, which emulates CUDA, when they can be installed here
	@sh tools/system.sh

browser:  ## a browser without a window, which the tests of 'judge-tui serve' drive, when it can be installed here
	@sh tools/system.sh browser

clean:  ## remove what was built
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

$(VENV)/bin/python:
	@sh tools/venv.sh "$(PYTHON)" $(VENV)

$(STAMP): pyproject.toml constraints.txt | $(VENV)/bin/python system
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[serve]'
	@$(COMPILE)
	@touch $@

$(DEV_STAMP): $(STAMP) | browser
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev,serve]'
	@touch $@
