#!/bin/sh
# build.sh FOLDER builds the stand-ins for libcuda.so.1 and libnvrtc.so.13 in FOLDER, those for libcublas.so.13 and
# libcublasLt.so.13 in FOLDER/blas, that for libcudnn.so.9 in FOLDER/dnn, that for libcufft.so.12 in FOLDER/fft, that for
# libcusolver.so.12 in FOLDER/solver, and an older one in FOLDER/old_solver.
set -e
here=$(cd "$(dirname "$0")" && pwd)
flags="-std=c++20 -O1 -g1 -fPIC -shared -fvisibility=hidden -Wall -Wextra ${CXXFLAGS_STANDIN}"
g++ $flags "$here/driver.cpp" "$here/fibers.cpp" -Wl,-soname,libcuda.so.1 -o "$1/libcuda.so.1" -ldl -lpthread
g++ $flags "-DSTANDIN_PRELUDE=\"$here/prelude.h\"" "-DSTANDIN_DRIVER=\"$1/libcuda.so.1\"" "$here/nvrtc.cpp" \
  -Wl,-soname,libnvrtc.so.13 -o "$1/libnvrtc.so.13"
mkdir -p "$1/blas" "$1/dnn" "$1/fft" "$1/solver" "$1/old_solver"
g++ $flags "$here/blas.cpp" "$here/blas_factors.cpp" "$1/libcuda.so.1" -Wl,-soname,libcublas.so.13 \
  -o "$1/blas/libcublas.so.13" -ldl
g++ $flags "$here/blaslt.cpp" "$1/libcuda.so.1" -Wl,-soname,libcublasLt.so.13 -o "$1/blas/libcublasLt.so.13"
g++ $flags "$here/dnn.cpp" "$1/libcuda.so.1" -Wl,-soname,libcudnn.so.9 -o "$1/dnn/libcudnn.so.9"
g++ $flags "$here/fft.cpp" "$1/libcuda.so.1" -Wl,-soname,libcufft.so.12 -o "$1/fft/libcufft.so.12"
solver() {  # solver FOLDER FLAGS...
  to=$1
  shift
  g++ $flags "$here/solver.cpp" "$here/solver_types.cpp" "$@" -Wl,-soname,libcusolver.so.12 -o "$to/libcusolver.so.12" -ldl
}
solver "$1/solver" "$1/libcuda.so.1"
solver "$1/old_solver" "$1/libcuda.so.1" -DSTANDIN_OLD
