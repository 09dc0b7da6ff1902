#!/bin/sh
# run.sh [PYTHON]: on a machine with a GPU, from the root of the repository: tests and measures device `cuda`. It takes
# at most four minutes beside a build; all that it finds is in one file, benchmarks/cuda/DATE.md.
#
# LAMELLA_SITE     a folder with lamella installed, or
# LAMELLA_WHEEL    a wheel of it; without both, the package is built here first. On a machine without a network
#                  PIP_NO_INDEX=1 and PIP_FIND_LINKS name a folder of wheels: of what builds it (the Makefile's
#                  BUILD_NEEDS).
# LAMELLA_ABI_PROGRAMS  a folder with `order` and `contracts` of tests/abi; without it they are compiled here.
#
# A wheel should be built on a usual toolchain. Where g++ has a static libstdc++ only, libraries that it builds carry a
# copy of that, and ml_dtypes and torch crash when they are imported after them; a build on such a machine does so, too.
# ml_dtypes, numpy and pytest must be there; torch, CuPy, numba and compute-sanitizer are used where they are.
python=${1:-python3}
out=benchmarks/cuda/$(date +%Y-%m-%d).md
folder=$PWD/build/gpu
logs=$folder/logs
mkdir -p "$logs"
rm -f "$logs"/*
export LAMELLA_CUDA_CACHE="$folder/kernels" OMP_NUM_THREADS=1

section() {  # section TITLE COMMAND...: what the command prints, as a part of the file
  printf '\n## %s\n\n```\n' "$1"
  shift
  "$@" 2>&1
  echo '```'
}
install() {
  if test -z "$LAMELLA_SITE"; then
    LAMELLA_SITE=$folder/site
    set -- --no-deps --upgrade --no-build-isolation --target "$LAMELLA_SITE"
    timeout 400 $python -m pip install -q "$@" "${LAMELLA_WHEEL:-.}"
  fi
  LAMELLA_SITE=$(cd "$LAMELLA_SITE" && pwd)
  export PYTHONPATH="$LAMELLA_SITE"
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv
  $python -V
}
first() {
  timeout 30 $python -c '
import lamella
print(lamella.cuda.get_device_properties())
x = lamella.arange(6.0, device="cuda").reshape(2, 3)
print(x @ x.t(), x.sum(0), (x.cpu() == x.to("cuda:0").cpu()).all())
print("cuSOLVER", lamella.ops.cuda._cusolver_version())
'
}
sweeps() {  # values and gradients of all samples, in fifteen processes that share compiled kernels
  for i in $(seq 15); do
    (
      cd tests/backends/cuda || exit
      timeout 90 $python run_samples.py "$i/15" > "$logs/samples.$i" 2>&1
      echo "samples $i/15: status $?" >> "$logs/samples.$i"
      timeout 60 $python run_gradients.py "$i/15" > "$logs/gradients.$i" 2>&1
      echo "gradients $i/15: status $?" >> "$logs/gradients.$i"
    ) &
  done
  (
    cd tests/backends/cuda || exit
    for case in products sorts selections meeting nonzeros rows weights columns short_floats pools batches convolutions attentions wide_attentions long_sums dropouts updates faults quantizations byte_products; do
      timeout 30 $python heavy.py $case > "$logs/heavy.$case" 2>&1
      echo "heavy $case: status $?" >> "$logs/heavy.$case"
    done
    timeout 60 $python fourier.py > "$logs/heavy.fourier" 2>&1
    echo "fourier: status $?" >> "$logs/heavy.fourier"
    for case in equations symmetric orthogonal spectra failures streams captures; do
      timeout 40 $python linear_algebra.py $case > "$logs/heavy.$case" 2>&1
      echo "linear algebra $case: status $?" >> "$logs/heavy.$case"
    done
  ) &
  wait
  for what in samples gradients heavy; do
    cat "$logs/$what".* | grep -v -x -e '{"fallbacks": \[\]}' -e '.*: status 0' -e 'hash .*' | sort | cut -c1-600 | head -60
  done
}
sanitized() {  # sanitized NAME TOOL WORDS...
  name=$1 tool=$2
  shift 2
  log=$logs/sanitizer.$tool.$name
  (
    cd tests/backends/cuda || exit
    timeout 70 compute-sanitizer --error-exitcode 9 --report-api-errors no --tool "$tool" $python sanitized.py "$@" > "$log" 2>&1
  )
  echo "$tool, $*: status $?" >> "$log"
}
checks() {  # tests, and at the same time compute-sanitizer
  if command -v compute-sanitizer > /dev/null; then
    for tool in memcheck racecheck; do
      sanitized 1 $tool pointwise reductions scans sorts &
      sanitized 2 $tool rows norms attention pools &
      sanitized 3 $tool convolutions indexing random products updates factorizations &
    done
  fi
  (cd tests && timeout 75 $python -m pytest -q -p no:cacheprovider --maxfail=20 --durations=8 \
    backends/cuda/test_device.py backends/cuda/test_promises.py backends/cuda/test_cuda.py)
  wait
}
sanitizer() {
  command -v compute-sanitizer > /dev/null || echo 'not installed'
  for log in "$logs"/sanitizer.*; do
    test -f "$log" && tail -n 8 "$log"
  done
}
{
  echo "# Device cuda, $(date +%Y-%m-%d)"
  section 'Machine' install
  export PYTHONPATH="$LAMELLA_SITE"
  section 'First contact' first
  section 'Values and gradients of samples' sweeps
  printf '\n## Times\n\n'
  # Each in a process of its own: after an illegal address nothing else would run.
  for words in 'launch 1e8 8192x4096 columns' 'matmul linear' factorization quantization fft attention ResNet GPT; do
    (cd benchmarks && env -u OMP_NUM_THREADS timeout 60 $python cuda.py $words 2>&1)
    echo
  done
  section 'Tests' checks
  section 'compute-sanitizer' sanitizer
} > "$out"
echo "$out"
