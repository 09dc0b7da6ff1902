// Rows that a group of threads works on together: reductions over the group, and rows that are read once and kept in
// shared memory.
//
// Note [Row groups]  blockDim.x threads share a row and blockDim.y rows share a block. Either a row has one warp, and no
//   barrier of the block is needed, or blockDim.y is 1.
#pragma once
#include "scalars.cuh"

DEVICE i64 row_of_group() { return (i64)blockIdx.x * blockDim.y + threadIdx.y; }
DEVICE i64 row_step() { return (i64)gridDim.x * blockDim.y; }

DEVICE void group_barrier() {
  if (blockDim.x == 32)
    __syncwarp();
  else
    __syncthreads();
}

struct Add {
  template <class W>
  static __device__ W of(W x, W y) {
    return x + y;
  }
};
// NaN wins.
struct Most {
  template <class W>
  static __device__ W of(W x, W y) {
    return x > y || x != x ? x : y;
  }
};

// Every thread of the group gets the fold of all their values, in one order whatever the timing.
template <class Fold, class W>
DEVICE W fold_group(W x) {
  for (int apart = 16; apart > 0; apart /= 2) x = Fold::of(x, __shfl_xor_sync(~0u, x, apart));
  if (blockDim.x == 32) return x;
  __shared__ W parts[32];
  __syncthreads();  // the space may still be read
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  const int warps = blockDim.x / 32;
  W all = parts[0];
  for (int w = 1; w < warps; w++) all = Fold::of(all, parts[w]);
  return all;
}

// Calls visit(k, x) with each element k of a row that this thread has, N at a time; x is of the type of sums.
template <class T, int N, class Visit>
DEVICE void each_of_row(const T* row, i64 length, Visit visit) {
  if constexpr (N == 1) {
    for (i64 k = threadIdx.x; k < length; k += blockDim.x) visit(k, wide(row[k]));
  } else {
    for (i64 k = (i64)threadIdx.x * N; k < length; k += (i64)blockDim.x * N) {
      const Pack<T, N> some = *reinterpret_cast<const Pack<T, N>*>(row + k);
#pragma unroll
      for (int j = 0; j < N; j++) visit(k + j, wide(some.v[j]));
    }
  }
}
// Writes number(k) as each element k.
template <class T, int N, class Number>
DEVICE void write_row(T* row, i64 length, Number number) {
  if constexpr (N == 1) {
    for (i64 k = threadIdx.x; k < length; k += blockDim.x) row[k] = narrow<T>(number(k));
  } else {
    for (i64 k = (i64)threadIdx.x * N; k < length; k += (i64)blockDim.x * N) {
      Pack<T, N> some;
#pragma unroll
      for (int j = 0; j < N; j++) some.v[j] = narrow<T>(number(k + j));
      *reinterpret_cast<Pack<T, N>*>(row + k) = some;
    }
  }
}

// A row as numbers of the type of sums: in shared memory where it fits (`kept` points there), else read once more. Each
// thread reads back only what it wrote itself, so that no barrier is needed.
template <class T>
struct Row {
  const T* from;
  Wide<T>* kept;
  __device__ Wide<T> operator[](i64 k) const { return kept ? kept[k] : wide(from[k]); }
};
// The space of this thread's row among those of the block.
template <class W>
DEVICE W* row_space(bool keeps, i64 length) {
  SHARED_BYTES(W, space);
  return keeps ? space + threadIdx.y * length : nullptr;
}
