// nonzero: the kernels compute the counts of blocks, the places of blocks, and then the places of elements, in order.
#include "nonzero.h"
#include "scalars.cuh"

template <class T>
DEVICE bool is_set(T x) {
  return x != T(0);
}
DEVICE bool is_set(float16 x) { return (x.bits & 0x7fffu) != 0; }
DEVICE bool is_set(bfloat16 x) { return (x.bits & 0x7fffu) != 0; }
template <class R>
DEVICE bool is_set(complex<R> x) {
  return x.re != R(0) || x.im != R(0);
}

template <class T>
__global__ void __launch_bounds__(256) nonzero_count(const T* in, i64 n, i64* counts) {
  __shared__ u32 warps[8];
  const i64 first = (i64)blockIdx.x * nonzero_tile + threadIdx.x;
  u32 count = 0;
  for (int j = 0; j < nonzero_each; j++) {
    const i64 i = first + j * 256;
    count += __popc(__ballot_sync(~0u, i < n && is_set(in[i])));
  }
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = count;
  __syncthreads();
  if (threadIdx.x != 0) return;
  i64 all = 0;
  for (int w = 0; w < 8; w++) all += warps[w];
  counts[blockIdx.x] = all;
}

// Replaces each count by the sum of those before it, in one block. The sum of all is written after them.
__global__ void __launch_bounds__(256) nonzero_places(i64* counts, i64 blocks) {
  __shared__ i64 space[256];
  i64 before = 0;
  for (i64 i = 0; i < blocks; i += 256) {
    const i64 mine = i + threadIdx.x < blocks ? counts[i + threadIdx.x] : 0;
    space[threadIdx.x] = mine;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
      const i64 more = threadIdx.x >= step ? space[threadIdx.x - step] : 0;
      __syncthreads();
      space[threadIdx.x] += more;
      __syncthreads();
    }
    if (i + threadIdx.x < blocks) counts[i + threadIdx.x] = before + space[threadIdx.x] - mine;
    before += space[255];
    __syncthreads();
  }
  if (threadIdx.x == 0) counts[blocks] = before;
}

// Writes coordinates (count, ndim), or the elements' numbers if ndim is 1.
template <class T>
__global__ void __launch_bounds__(256) nonzero_write(const T* in, i64 n, const i64* places, NonzeroShape shape, i64* out) {
  __shared__ u32 warps[nonzero_each][8];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const i64 first = (i64)blockIdx.x * nonzero_tile + threadIdx.x;
  u32 found[nonzero_each];
  for (int j = 0; j < nonzero_each; j++) {
    const i64 i = first + j * 256;
    found[j] = __ballot_sync(~0u, i < n && is_set(in[i]));
    if (lane == 0) warps[j][warp] = __popc(found[j]);
  }
  __syncthreads();
  i64 place = places[blockIdx.x];
  for (int j = 0; j < nonzero_each; j++) {
    u32 before = __popc(found[j] & ((1u << lane) - 1u)), all = 0;
    for (int w = 0; w < 8; w++) {
      if (w < warp) before += warps[j][w];
      all += warps[j][w];
    }
    if (found[j] >> lane & 1u) {
      i64 rest = first + j * 256, *to = out + (place + before) * shape.ndim;
      for (int d = shape.ndim - 1; d > 0; d--) {
        const i64 q = rest / shape.sizes[d];
        to[d] = rest - q * shape.sizes[d];
        rest = q;
      }
      to[0] = rest;
    }
    place += all;
  }
}
