# Everything sets itself up: `make demo` and `make test` are the two commands. PYTHON chooses the interpreter.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
STEP := $(PYTHON) tools/step.py
BUILD_NEEDS := "scikit-build-core>=1.1" "pybind11>=3.1" "nlohmann_json==3.12.0" "onednn-devel-cpu-gomp==2023.2.0" "scipy-openblas32==0.3.34.481.3" cmake ninja setuptools wheel
export PATH := $(CURDIR)/$(BIN):$(PATH)
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell nproc)

.PHONY: demo test build wheel lint bench sanitize tsan stubs clean

$(VENV)/made: pyproject.toml
	@$(STEP) "make the environment $(VENV)" $(PYTHON) -m venv $(VENV)
	@$(STEP) "install build tools" $(PIP) $(BUILD_NEEDS)
	@touch $@

# Incremental: one build folder, no build isolation. An installed Lamella that cannot be imported is removed first, since
# the build asks installed packages for their CMake files.
build: $(VENV)/made
	@$(BIN)/python -c 'import lamella' 2> /dev/null || $(BIN)/python -m pip uninstall --quiet --yes lamella 2> /dev/null
	@$(STEP) "build and install lamella" $(PIP) -vv --no-build-isolation ".[test,demo]"

# The example plugins lie in a folder that only the demo's programs import: tests need an environment without them.
PLUGINS := build/demo
DEMO := env PYTHONPATH=$(CURDIR)/$(PLUGINS) $(BIN)/python

demo: build
	@rm -rf $(PLUGINS)
	@$(STEP) "build and install two example plugins" $(PIP) --no-build-isolation --no-deps --target $(PLUGINS) ./examples/layer_plugin ./examples/backend_plugin
	@$(STEP) --show "train a perceptron, and count its operations" $(DEMO) examples/mlp.py
	@$(STEP) --show "train a convolutional network, kill it, and go on" $(DEMO) examples/train_digits.py --kill-at 230
	@$(STEP) --show "train it on the example device bank" $(DEMO) examples/train_digits.py --device bank --steps 60 --curve build/train_bank.png
	@$(STEP) --show "train it in two processes, kill one, and go on" $(DEMO) -m lamella launch --nproc 2 --max-restarts 1 examples/train_digits_ranks.py --kill-at 100

# The two sanitized builds and runs go side by side, since a run takes one processor. OMP_WAIT_POLICY makes waiting
# threads yield, since each of pytest's processes has as many threads as there are processors. Of each sweep a tenth
# runs, and of long tests a quarter, by the day (tests/shares.py); `make test LAMELLA_SWEEP=all` runs all.
test: export LAMELLA_SWEEP := $(or $(LAMELLA_SWEEP),turn)
test: build
	setsid sh tests/cpp/tsan.sh $(BIN)/python & tsan=$$!; setsid sh tests/cpp/sanitize.sh $(BIN)/python & sanitize=$$!; \
	trap "kill -- -$$tsan -$$sanitize; exit 130" INT TERM; wait $$sanitize; ended=$$?; wait $$tsan && exit $$ended
	cd tests && OMP_WAIT_POLICY=passive ../$(BIN)/python ../tools/suite.py -q -n auto --dist worksteal

# Wheels that install without a compiler: of lamella, lamella-headers and the examples. Each is tried in a fresh
# environment; so are the packages of two pages, whose builds are isolated.
wheel: build
	rm -rf dist
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps -w dist \
		. ./extensions ./examples/layer_plugin ./examples/backend_plugin ./examples/numpy_backend \
		./examples/packed_plugin ./examples/nf4 ./examples/fp8_blocks
	$(BIN)/python tests/try_wheels.py dist

# .pre-commit-config.yaml names the same versions and files. Generated files are left out.
lint: build
	$(PIP) ruff==0.17.5 mypy==2.4.1 clang-format==14.0.6 pre-commit==4.7.0
	$(BIN)/pre-commit validate-config .pre-commit-config.yaml
	$(BIN)/ruff check .
	git ls-files '*.c' '*.cpp' '*.h' '*.hpp' $(addprefix ':!extensions/include/lamella/,operators.h' tensor_methods.h') | xargs $(BIN)/clang-format --dry-run -Werror
	cd / && $(CURDIR)/$(BIN)/mypy --config-file $(CURDIR)/pyproject.toml -p lamella

# The compared frameworks have a separate environment: the tests' environment has no torch.
bench: BENCH := $(CURDIR)/$(VENV)-bench/bin
bench: BENCH_PIP = PATH="$(BENCH):$$PATH" $(BENCH)/python -m pip install --quiet --disable-pip-version-check
bench: build
	test -d $(VENV)-bench || $(PYTHON) -m venv $(VENV)-bench
	$(BENCH_PIP) $(BUILD_NEEDS) torch==2.13.0 numpy
	$(BENCH_PIP) --no-build-isolation ".[demo]"
	$(BENCH_PIP) --no-build-isolation --no-deps ./examples/layer_plugin ./examples/backend_plugin
	$(BENCH)/python benchmarks/run.py

# AddressSanitizer and UndefinedBehaviorSanitizer, without instruction-set variants: C++ tests, bad input, all samples.
sanitize: build
	sh tests/cpp/sanitize.sh $(BIN)/python

tsan: build
	sh tests/cpp/tsan.sh $(BIN)/python

stubs: build
	$(BIN)/python tools/stubs.py frontend/lamella extensions/include/lamella
	$(BIN)/python tools/areas.py README.md
	$(BIN)/python tools/torch_names.py docs/torch_names.md
	$(BIN)/python tools/operator_pages.py docs/operators
	$(BIN)/python tests/plugins/transforms/pairs.py docs/transforms.md

clean:
	rm -rf build $(VENV) $(VENV)-bench
