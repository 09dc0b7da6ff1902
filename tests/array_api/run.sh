#!/bin/sh
# Runs the array API standard's public test suite on lamella.array_api. Further arguments are pytest's.
#
# ARRAY_API_TESTS is the folder of the suite, by default build/array-api-tests, into which it is cloned if need be.
# PYTHON is an interpreter with lamella, pytest and hypothesis. Packages that the suite alone needs are installed beside it.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-$root/.venv/bin/python}
suite=${ARRAY_API_TESTS:-$root/build/array-api-tests}
commit=55fcc60179efa2680ddd6cd926ddf17b83530e2b

if [ ! -d "$suite" ]; then
  git clone --quiet https://github.com/data-apis/array-api-tests "$suite"
  git -C "$suite" checkout --quiet $commit
  git -C "$suite" submodule --quiet update --init
fi
[ -d "$suite/packages" ] || "$python" -m pip install --quiet --no-deps --target "$suite/packages" \
  "ndindex>=1.8" pytest-json-report pytest-metadata

cd "$suite"
PYTHONPATH="$suite/packages" ARRAY_API_TESTS_MODULE=lamella.array_api OMP_NUM_THREADS=1 exec "$python" -m pytest \
  array_api_tests -q -p no:cacheprovider --max-examples=100 --derandomize --disable-deadline "$@"
