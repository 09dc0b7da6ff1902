// Sums that several blocks have begun, put together in order.
#pragma once
#include "scalars.cuh"

// out[c] = the sum of parts[i][c], in order.
template <class W, class P>
__global__ void __launch_bounds__(256) add_parts(const W* parts, i64 count, i64 length, P* out) {
  const i64 step = (i64)gridDim.x * blockDim.x;
  for (i64 c = (i64)blockIdx.x * blockDim.x + threadIdx.x; c < length; c += step) {
    W sum = 0;
    for (i64 i = 0; i < count; i++) sum += parts[i * length + c];
    out[c] = narrow<P>(sum);
  }
}
