// The last step of sums that several blocks have begun: the parts are added up in a fixed order.
#pragma once
#include "scalars.cuh"

// out[c] = the sum of parts[i][c] over `count` parts. In a block (32, 16) a thread adds every sixteenth part of a
// column, so that few loads wait for each other; then the first row of threads adds these sums, in order. If the grid
// has two blocks in y, as many parts of a second output follow.
template <class W, class P>
__global__ void __launch_bounds__(512) add_parts(const W* parts, i64 count, i64 length, P* out, P* second) {
  __shared__ W space[16][32];
  if (blockIdx.y) parts += count * length, out = second;
  for (i64 first = (i64)blockIdx.x * 32; first < length; first += (i64)gridDim.x * 32) {
    const i64 c = first + threadIdx.x;
    W sum = 0;
    if (c < length)
#pragma unroll 8
      for (i64 i = threadIdx.y; i < count; i += 16) sum += parts[i * length + c];
    space[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && c < length) {
#pragma unroll
      for (int y = 1; y < 16; y++) sum += space[y][threadIdx.x];
      out[c] = narrow<P>(sum);
    }
    __syncthreads();  // before the space is written again
  }
}
