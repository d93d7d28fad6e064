# make demo: set up, then run the main job.   make test: set up, then pass the tests.
PYTHON ?= python3
BIN := .venv/bin
# One test worker per core, at most four.
WORKERS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); [ $$n -gt 4 ] && echo 4 || echo $$n)

.PHONY: release-check install-check bench bench-heads bench-start demo demo-models demo-models-check test test-all test-slow test-latex test-planted test-libraries test-ray lint format real real-servers calibrate spelling messages heads fuzz torture sweep mutants mutants-sample docs reference pictures gallery clean

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=23.0"
	# torch comes first and is pinned: a looser requirement may pull in gigabytes of GPU libraries.
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[hf,dev,docs]"
	touch $@

# Pages are tested in a real browser: Debian's Chromium, installed if run as root.
.venv/browser: .venv/ready
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	       && apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium >/dev/null; } \
	  || echo "no Chromium: the browser tests will be skipped"
	touch $@

# Setting the clock back needs Debian's libfaketime, installed if run as root.
.venv/faketime: .venv/ready
	@ls /usr/lib/*/faketime/libfaketime.so.1 >/dev/null 2>&1 \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	       && apt-get update -qq && apt-get install -qq -y --no-install-recommends libfaketime >/dev/null; } \
	  || echo "no libfaketime: the clock will not be set back"
	touch $@

# The documentation site, in site/: open site/index.html. A warning is an error.
SITE = NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
docs: .venv/ready
	$(SITE)

# The reference pages that follow from the code: the command line and the fields of a result.
reference: .venv/ready
	GENDALENS_PLUGINS=off $(BIN)/python -m tools.site.reference

# The pictures of the documentation, which the tests compare with what the product says.
pictures: .venv/ready .venv/browser
	$(BIN)/python -m tools.site.pictures

# Real models, the demo's and control models on built-in data, with their reports: docs/gallery. (ONLY="demo-lm fair"
# runs some of them, and leaves the pages as they are.)
gallery: .venv/ready .venv/browser
	$(BIN)/python -m tools.site.gallery $(ONLY)

demo: .venv/ready
	$(BIN)/gendalens demo

test: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers $(WORKERS)
	$(BIN)/lint-imports
	$(SITE)
	$(BIN)/python -m pytest -n $(WORKERS) -m "not slow and not browser"

test-all: .venv/ready .venv/browser
	$(BIN)/python -m pytest -n $(WORKERS)

# Tests against the real optional libraries (Flair, GLiNER, quantisers, trackers, peft, Stanza, llama.cpp), in
# environments of their own under .work/. (LIBRARIES="trackers gliner" takes some of them.)
test-libraries: .venv/ready
	$(BIN)/python -m tools.libraries $(LIBRARIES)

# Runs on Ray, in an environment of its own under .work/: same bytes, workers that die, keys that stay here.
test-ray: .venv/ready
	$(BIN)/python -m tools.libraries ray

# Every slow test but the planted biases, those in a browser among them: six minutes on two cores. Tests
# whose libraries are not installed here are skipped; `make test-libraries` and `make test-latex` run them.
test-slow: .venv/ready .venv/browser
	$(BIN)/python -m pytest -n $(WORKERS) -m "slow or browser" --ignore tests/models/test_planted_bias.py

# Planted biases behind a scripted server, by every test in every way to answer; a quarter of an hour.
# The planted gap, the measured one and its interval are in the XML file, for docs/chat-validity.md.
test-planted: .venv/ready
	$(BIN)/python -m pytest -n $(WORKERS) -m slow --timeout 1200 --junitxml .work/planted.xml tests/models/test_planted_bias.py

# Build the release twice from clean clones: the same bytes, nothing stray in it, versions that agree.
# (LIST=1 lists what is in it.)
release-check: .venv/ready
	$(BIN)/python -m tools.release.check $(if $(LIST),--list)

# Install the wheel into empty environments, without extras and with each, and try the commands of a new
# user; a few minutes. (EXTRAS="base hf" takes some of them.)
install-check: .venv/ready
	$(BIN)/python -m tools.release.install $(EXTRAS)

# LaTeX tables set by a real TeX: Debian's, installed if run as root (250 MB).
TEX := texlive-latex-base texlive-latex-recommended poppler-utils
test-latex: .venv/ready
	@command -v pdflatex >/dev/null && command -v pdftotext >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	       && apt-get update -qq && apt-get install -qq -y --no-install-recommends $(TEX) >/dev/null; } \
	  || echo "no TeX: its tests will be skipped"
	$(BIN)/python -m pytest -n $(WORKERS) -m slow tests/report/test_latex.py

lint: .venv/ready
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy --num-workers $(WORKERS) && $(BIN)/lint-imports

format: .venv/ready
	$(BIN)/ruff check --fix . && $(BIN)/ruff format .

# Both language-model tests on Gemma 3 270M from the package index, full data.
real: .venv/ready
	$(BIN)/python benchmarks/real.py

# llama.cpp's server and transformers serve with two small models, probed and tested on samples of the
# built-in data; writes benchmarks/SERVERS.md. Five minutes a test, two hours in all. (SECONDS=60 takes a
# minute a test, FULL=1 all data and days, ONLY=llama.cpp-smollm2 one server.)
real-servers: .venv/ready
	$(BIN)/python benchmarks/real_servers.py $(if $(FULL),--full) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(ONLY),--only $(ONLY))

# 1,000 seeded control models in two worlds: does the 95% interval cover the truth?
# (DANE=ddt.test.conllu calibrates ner-dane as well; about an hour on two cores.)
calibrate: .venv/ready
	$(BIN)/python benchmarks/calibrate.py $(if $(DANE),--dane $(DANE))

# Speed compared with GenDa Lens 0.0.3, minicons and the bare model: benchmarks/RESULTS.md. Needs idle
# cores for about an hour.
bench: .venv/ready
	$(BIN)/python benchmarks/bench.py $(if $(DANE),--dane $(DANE))

# How long a start takes, with a .gguf file and with a folder: benchmarks/START.md. Needs idle cores and
# the network once (250 MB), or FILE=model.gguf.
bench-start: .venv/ready
	$(BIN)/python benchmarks/start.py $(FILE)

# Speed compared with the revision OLD: both answer the same requests in turn; a quarter of an hour.
bench-heads: .venv/ready
	$(BIN)/python benchmarks/heads.py $(OLD)

# Robustness: runs that are killed, interrupted, starved of memory, or whose cache and weights are damaged.
# Takes half an hour and writes benchmarks/TORTURE.md. (PARTS=kill,disk runs only some parts, SEED=2 sets
# another seed; disk needs root and is skipped without it.)
torture: .venv/ready .venv/faketime
	$(BIN)/python -m torture $(if $(PARTS),--only $(PARTS)) $(if $(SEED),--seed $(SEED))

# Look up every Danish word of the built-in sets in hunspell's dictionary (apt install hunspell hunspell-da).
spelling: .venv/ready
	$(BIN)/python tools/spelling.py

# Update every catalogue with new and changed messages, and compile the catalogues.
messages: .venv/ready
	$(BIN)/python tools/messages.py update
	$(BIN)/python tools/messages.py compile

# Compare every figure of the demo, the control models and the golden models with the revision OLD.
heads: .venv/ready
	$(BIN)/python tools/compare_heads.py $(OLD)

# Rebuild both demo models in the package; takes a few minutes.
demo-models: .venv/ready
	$(BIN)/python -m training.build

# Train counterparts with nothing planted, three seeds, and write the table in docs/demo-models.md.
demo-models-check: .venv/ready
	$(BIN)/python -m training.check

# Fuzz the readers with a million mangled inputs (INPUTS, SEED) and write benchmarks/FUZZ.md; half an hour.
INPUTS ?= 1075000
SEED ?= 0
fuzz: .venv/ready
	OMP_NUM_THREADS=1 PYTHONPATH=tests:tests/models $(BIN)/python -m fuzz --inputs $(INPUTS) --seed $(SEED) $(TARGETS)

# Try a tiny model of every architecture of the installed transformers and write docs/models.md; half an
# hour. (HEADS=masked,causal,tokens,images and ONLY=bert,llama try some of them.)
sweep: .venv/ready
	PYTHONPATH=.:tests/models $(BIN)/python -m tools.sweep $(if $(HEADS),--heads $(HEADS)) $(if $(ONLY),--only $(ONLY))

# Mutation testing: record which tests reach which lines, then try small changes to the code on them and write
# benchmarks/MUTANTS.md; about an hour on two cores. (COUNT mutants, SEED.)
mutants: .venv/ready
	$(BIN)/python -m tools.mutants reach
	$(BIN)/python -m tools.mutants run --seed $(SEED) $(if $(COUNT),--count $(COUNT))

# Some of the recorded mutants, on the tests that noticed them.
mutants-sample: .venv/ready
	$(BIN)/python -m tools.mutants sample --seed $(SEED) $(if $(COUNT),--count $(COUNT))

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache
