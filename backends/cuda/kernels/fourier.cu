// Fourier transforms of real signals: the elements that cuFFT leaves out, and those whose imaginary parts it must not
// read.
#include "common.cuh"
#include "fourier.h"

// Writes the conjugates of other elements to the elements that are missing.
template <class T>
__global__ void __launch_bounds__(256) fill_conjugates(T* data, Mirror m) {
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < m.count; i += step) {
    int64_t left = i, to = 0, from = 0;
    for (int d = m.dims - 1; d >= 0; d--) {
      const int64_t n = m.sizes[d], j = left % n;
      left /= n;
      to += (d == m.half ? m.first + j : j) * m.steps[d];
      from += (d == m.half ? n - j : (m.transformed >> d & 1u) && j ? n - j : j) * m.steps[d];
    }
    T x = data[from];
    x.im = -x.im;
    data[to] = x;
  }
}

// Clears the imaginary parts of the first element of each signal, and with `both` of the last one. The signals have n
// elements, of which `inner` signals lie side by side.
template <class T>
__global__ void __launch_bounds__(256) clear_ends(T* data, int64_t signals, int64_t n, int64_t inner, bool both) {
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < signals; i += step) {
    T* const at = data + i / inner * n * inner + i % inner;
    at[0].im = 0;
    if (both) at[(n - 1) * inner].im = 0;
  }
}
