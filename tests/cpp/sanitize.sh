#!/bin/sh
# Builds everything under AddressSanitizer and UndefinedBehaviorSanitizer and runs the C++ tests, the bad-input sweep,
# every sample, its gradients to second order, and kernels of other packages. Usage: sanitize.sh PYTHON
set -e
python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # realpath would leave the environment
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$top/build/sanitize
cmake -S "$top" -B "$build" -G Ninja -DLAMELLA_SANITIZE=ON -DLAMELLA_TESTS=ON -DSKBUILD_PROJECT_VERSION=0.1.0 -DPython_EXECUTABLE="$python" \
  -Dpybind11_DIR="$("$python" -m pybind11 --cmakedir)" > "$build.log" 2>&1 || { cat "$build.log"; exit 1; }
cmake --build "$build" > "$build.log" 2>&1 || { tail -50 "$build.log"; exit 1; }
cd "$build"
export LAMELLA_SWEEP_PARTS=20
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
for defect in heap shift; do
  if tests/cpp/planted $defect > /dev/null 2>&1; then echo "sanitize: the planted defect '$defect' was not reported"; exit 1; fi
done
if tests/cpp/fuzz_archive_planted 100000 > "$build.fuzz" 2>&1 || ! grep -q "AddressSanitizer: heap-buffer-overflow" "$build.fuzz"; then
  echo "sanitize: a check that the reader of archives lacks was not missed"; exit 1
fi
if tests/cpp/fuzz_graph_planted "$build/liblamella_cpu.so" 10 > "$build.fuzz" 2>&1 || ! grep -q "AddressSanitizer: heap-buffer-overflow" "$build.fuzz"; then
  echo "sanitize: a check that the reader of graphs lacks was not missed"; exit 1
fi
if tests/cpp/fuzz_program_planted "$build/liblamella_cpu.so" 2000 > "$build.fuzz" 2>&1 || ! grep -q "AddressSanitizer: heap-buffer-overflow" "$build.fuzz"; then
  echo "sanitize: a check that the reader of programs lacks was not missed"; exit 1
fi
# A copy of the installed package with the sanitized libraries in it.
package=$build/package/lamella
rm -rf "$build/package"
mkdir -p "$build/package"
cp -r "$("$python" -c 'import importlib.util as u; print(u.find_spec("lamella").submodule_search_locations[0])')" "$package"
cp _C*.so liblamella.so "$package/"
cp liblamella_cpu.so "$package/backends/cpu/"
for plugin in autocast autograd distributed profiler transforms; do
  cp plugins/$plugin/_python*.so liblamella_$plugin.so "$package/plugins/$plugin/"
done
cp liblamella_named_tensor.so "$package/plugins/named_tensor/"
cp liblamella_mpi.so "$package/plugins/distributed/engines/mpi/"
sanitized() {
  LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so)" PYTHONPATH="$build/package" PYTHONMALLOC=malloc LAMELLA_EXPECT="$package" "$python" "$@"
}
# Kernels of other packages are compiled with the sanitizers too.
export LAMELLA_TEST_CXXFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
strangers() { sanitized -m pytest -q -s -p no:cacheprovider "$@"; }
# The gradients, and a failing device kernel at each step of each composite, run beside the rest: each uses one processor.
(cd "$top/tests/plugins/autograd" && sanitized run_gradients.py && cd "$top/tests" && strangers faults/test_failing.py) & beside=$!
trap wait EXIT
tests/cpp/fuzz_archive 300000
rm -rf "$build/archives" && mkdir -p "$build/archives"
tests/cpp/test_archive "$build/liblamella_cpu.so" "$build/archives"
tests/cpp/fuzz_graph "$build/liblamella_cpu.so" 3000 1 "$top/tests/plugins/graph/torch_graphs"
tests/cpp/fuzz_program "$build/liblamella_cpu.so" 3000 1 "$top/tests/plugins/graph/golden"
tests/cpp/test_graphs "$build/liblamella_cpu.so" "$build/liblamella_graph.so"
tests/cpp/test_schema
tests/cpp/test_dispatch "$build/liblamella_cpu.so"
tests/cpp/test_door "$build/liblamella_cpu.so"
tests/cpp/test_entries "$build/liblamella_cpu.so"
tests/cpp/test_growth "$build/liblamella_cpu.so"
tests/cpp/test_kernels "$build/liblamella_cpu.so"
tests/cpp/test_tensors "$build/liblamella_cpu.so"
tests/cpp/test_values "$build/liblamella_cpu.so"
tests/cpp/test_dtypes "$build/liblamella_cpu.so"
tests/cpp/test_events "$build/liblamella_cpu.so" "$build/liblamella_autograd.so"
tests/cpp/test_stamp "$build/liblamella_autograd.so"
tests/cpp/test_threads "$build/liblamella_cpu.so" "$build/tests/cpp/libtwice.so"
tests/cpp/test_backward "$build/liblamella_cpu.so" "$build/liblamella_autograd.so"
tests/cpp/test_profiler "$build/liblamella_cpu.so" "$build/liblamella_profiler.so"
cd "$top/tests/faults"
sanitized sweep.py
cd "$top/tests/operators"
if sanitized run_all.py planted > /dev/null 2>&1; then echo "sanitize: a byte behind a tensor was read, and not reported"; exit 1; fi
sanitized run_all.py
cd "$top/tests"
for defect in behind_memory behind_arguments; do
  if ! LAMELLA_PLANTED=1 strangers -k planted_$defect extensions/test_ported.py 2>&1 | grep -q "AddressSanitizer: heap-buffer-overflow"; then
    echo "sanitize: a kernel of a stranger read $defect, and no sanitizer said so"; exit 1
  fi
done
strangers extensions/test_ported.py extensions/test_typed.py plugins/autograd/test_given.py plugins/transforms/test_vmap.py plugins/transforms/test_forward_ad.py plugins/transforms/test_functionalize.py
strangers plugins/distributed/test_stores.py plugins/distributed/test_collectives.py plugins/distributed/test_data_parallel.py \
  -k "not mpiexec and not 3- and not cannot_be_shared and not (engine and data_parallel)" # the ranks are sanitized, too
wait $beside
