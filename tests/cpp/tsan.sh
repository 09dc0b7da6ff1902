#!/bin/sh
# Builds the library without OpenMP under ThreadSanitizer and runs the stress tests: registration beside calls, backward
# in several threads, a program that several threads run, observers that are added and removed, and names that several
# threads keep. The catalogue's objects and the backend for the cpu are those of the ordinary build, without
# ThreadSanitizer. Usage: tsan.sh PYTHON
set -e
python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")  # has the packages that the build needs
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$top/build/tsan
for ordinary in "$top"/build/cp3*; do :; done
cpu=$ordinary/liblamella_cpu.so
[ -e "$cpu" ] || { echo "tsan: there is no $cpu; run make build"; exit 1; }
cmake -S "$top" -B "$build" -G Ninja -DLAMELLA_TSAN=ON -DLAMELLA_CATALOGUE="$ordinary" -DLAMELLA_OPENMP=OFF -DLAMELLA_PYTHON=OFF -DLAMELLA_TESTS=ON -DSKBUILD_PROJECT_VERSION=0.1.0 -DPython_EXECUTABLE="$python" > "$build.log" 2>&1 || { cat "$build.log"; exit 1; }
cmake --build "$build" > "$build.log" 2>&1 || { tail -50 "$build.log"; exit 1; }
cd "$build"
export TSAN_OPTIONS=halt_on_error=1 OMP_NUM_THREADS=1
if tests/cpp/planted race > /dev/null 2>&1; then echo "tsan: the planted race was not reported"; exit 1; fi
tests/cpp/test_stress "$cpu" 5
tests/cpp/test_threads "$cpu" "$build/tests/cpp/libtwice.so"
tests/cpp/test_backward "$cpu" "$build/liblamella_autograd.so"
tests/cpp/test_graphs "$cpu" "$build/liblamella_graph.so"
tests/cpp/test_named "$cpu" "$build/liblamella_named_tensor.so"
if tests/cpp/test_observers "$cpu" "$build/liblamella_profiler.so" 5 planted > /dev/null 2>&1; then
  echo "tsan: observers that share a number without a lock were not reported"; exit 1
fi
tests/cpp/test_observers "$cpu" "$build/liblamella_profiler.so" 5
