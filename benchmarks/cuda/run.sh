#!/bin/sh
# run.sh [PYTHON]: on a machine with a GPU, from the root of the repository: builds, tests and measures device `cuda`.
# It takes less than ten minutes; all that it finds is in one file, benchmarks/cuda/DATE.md. On a machine without a
# network PIP_NO_INDEX=1 and PIP_FIND_LINKS name a folder of wheels: of what builds the package (the Makefile's
# BUILD_NEEDS) and of ml_dtypes, pytest and what these need. CuPy, NVRTC, cuBLAS and cuDNN may be the machine's own.
python=${1:-python3}
out=benchmarks/cuda/$(date +%Y-%m-%d).md
folder=build/gpu
export LAMELLA_CUDA_CACHE="$PWD/$folder/kernels"
mkdir -p "$folder"
{
  echo "# Device cuda, $(date +%Y-%m-%d)"
  echo
  echo '```'
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv
  $python -V
  $python -m venv --system-site-packages "$folder/venv"
  python=$folder/venv/bin/python
  major=$(nvidia-smi | sed -n 's/.*CUDA Version: \([0-9]*\).*/\1/p')
  timeout 60 $python -m pip install -q "scikit-build-core>=1.1" "pybind11>=3.1" cmake ninja ml_dtypes pytest 2>&1 | tail -3
  timeout 240 $python -m pip install -q --no-build-isolation --no-deps . 2>&1 | tail -3
  test -n "$PIP_NO_INDEX" || timeout 60 $python -m pip install -q "lamella[cuda$major]" 2>&1 | tail -3
  echo '```'
  echo
  echo '## First contact'
  echo
  echo '```'
  timeout 60 $python -c '
import lamella
print(lamella.cuda.get_device_properties())
x = lamella.arange(6.0, device="cuda").reshape(2, 3)
print(x @ x.t(), x.sum(0), (x.cpu() == x.to("cuda:0").cpu()).all())
' 2>&1
  echo '```'
  echo
  echo '## Samples of all operators'
  echo
  echo '```'
  (cd tests && timeout 180 "../$python" backends/cuda/run_samples.py 2>&1 | tail -40)
  echo '```'
  echo
  echo '## compute-sanitizer'
  echo
  echo '```'
  if command -v compute-sanitizer > /dev/null; then
    for tool in memcheck racecheck; do
      (cd tests && timeout 60 compute-sanitizer --tool $tool "../$python" backends/cuda/run_samples.py sum.dim_IntList cumsum sort.stable softmax.int mm 2>&1 | tail -5)
    done
  else
    echo 'not installed'
  fi
  echo '```'
  echo
  echo '## Times'
  echo
  (cd benchmarks && timeout 240 "../$python" cuda.py 2>&1)
} > "$out" 2>&1
echo "$out"
