// Rows that a group of threads works on together: folds over the group, and rows that are read once and kept.
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

// Every thread of the group gets the fold of all their values, in one order whatever the timing. Turn 0 may follow any
// fold. Folds of turns 1 and 2 that alternate have a space each, so that one barrier for each fold is enough: a thread
// writes to a space only after the other fold's barrier, and every thread has read that space before it.
template <class Fold, int Turn = 0, class W>
DEVICE W fold_group(W x) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) x = Fold::of(x, __shfl_xor_sync(~0u, x, apart));
  if (blockDim.x == 32) return x;
  __shared__ W parts[32];
  if (Turn == 0) __syncthreads();  // the space may still be read
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  // The number of warps is a power of two. A lane begins with the part of one warp, and lanes exchange their parts.
  const int warps = blockDim.x / 32;
  x = parts[threadIdx.x & (warps - 1)];
#pragma unroll 1
  for (int apart = warps / 2; apart > 0; apart /= 2) x = Fold::of(x, __shfl_xor_sync(~0u, x, apart));
  return x;
}

// Converts the elements of a pack to numbers. A bfloat16 takes one instruction, since a word holds two of them.
template <class T, int N>
DEVICE void widen(Wide<T> (&x)[N], const Pack<T, N> pack) {
  if constexpr (Same<T, bfloat16>::value && N % 2 == 0) {
    const Pack<u32, N / 2> words = bits_as<Pack<u32, N / 2>>(pack);
#pragma unroll
    for (int j = 0; j < N; j++) x[j] = bits_as<float>(j % 2 ? words.v[j / 2] & 0xffff0000u : words.v[j / 2] << 16);
  } else {
#pragma unroll
    for (int j = 0; j < N; j++) x[j] = wide(pack.v[j]);
  }
}

// The elements of a row that this thread has, N at a time: numbers k to k + N - 1 for each k that it visits. K packs
// are kept in registers, so that memory is read once. With K = 0, rows may be of any length, and are kept in `space` of
// shared memory if that is given, as numbers of the type of sums. Each thread reads back only its own numbers there, so
// that no barrier is needed. Without `space`, the row is read again each time.
template <class T, int N, int K>
struct Row {
  typedef Wide<T> W;
  Pack<T, N> packs[K ? K : 1];
  const T* from;
  W* space;
  i64 length;

  DEVICE Row(const T* row, i64 length, W* space = nullptr) : from(row), space(space), length(length) {
    if constexpr (K > 0) {
#pragma unroll
      for (int i = 0; i < K; i++)
        if (const i64 k = number_of(i); k < length) packs[i] = *reinterpret_cast<const Pack<T, N>*>(row + k);
    } else if (space) {
      for (i64 k = number_of(0); k < length; k += (i64)blockDim.x * N) {
        W x[N];
        widen(x, *reinterpret_cast<const Pack<T, N>*>(row + k));
#pragma unroll
        for (int j = 0; j < N; j++) space[k + j] = x[j];
      }
    }
  }
  static DEVICE i64 number_of(int i) { return ((i64)threadIdx.x + (i64)i * blockDim.x) * N; }

  // Calls visit(k, x) with the numbers x[N] of each pack.
  template <class Visit>
  DEVICE void packs_of_row(Visit visit) const {
    W x[N];
    if constexpr (K > 0) {
#pragma unroll
      for (int i = 0; i < K; i++) {
        const i64 k = number_of(i);
        if (k >= length) break;
        widen(x, packs[i]);
        visit(k, x);
      }
    } else {
      for (i64 k = number_of(0); k < length; k += (i64)blockDim.x * N) {
        if (space) {
#pragma unroll
          for (int j = 0; j < N; j++) x[j] = space[k + j];
        } else {
          widen(x, *reinterpret_cast<const Pack<T, N>*>(from + k));
        }
        visit(k, x);
      }
    }
  }
  // Calls visit(x) with each number.
  template <class Visit>
  DEVICE void each(Visit visit) const {
    packs_of_row([&](i64, const W(&x)[N]) {
#pragma unroll
      for (int j = 0; j < N; j++) visit(x[j]);
    });
  }
};
// Stores numbers as a pack of elements.
template <class R, int N, class W>
DEVICE void store(R* to, const W (&y)[N]) {
  Pack<R, N> some;
#pragma unroll
  for (int j = 0; j < N; j++) some.v[j] = narrow<R>(y[j]);
  *reinterpret_cast<Pack<R, N>*>(to) = some;
}
// Loads N elements as numbers, by one load if `dense`.
template <int N, class W, class P>
DEVICE void load(W (&y)[N], const P* from, bool dense) {
  if (dense) {
    Wide<P> some[N];
    widen(some, *reinterpret_cast<const Pack<P, N>*>(from));
#pragma unroll
    for (int j = 0; j < N; j++) y[j] = (W)some[j];
  } else {
#pragma unroll
    for (int j = 0; j < N; j++) y[j] = (W)wide(from[j]);
  }
}
// Calls visit(k, x, y) with the numbers of the packs of two rows of one length.
template <class T, int N, int K, class Visit>
DEVICE void both_of_rows(const Row<T, N, K>& a, const Row<T, N, K>& b, Visit visit) {
  Wide<T> x[N], y[N];
  if constexpr (K > 0) {
#pragma unroll
    for (int i = 0; i < K; i++) {
      const i64 k = a.number_of(i);
      if (k >= a.length) break;
      widen(x, a.packs[i]);
      widen(y, b.packs[i]);
      visit(k, x, y);
    }
  } else {
    for (i64 k = a.number_of(0); k < a.length; k += (i64)blockDim.x * N) {
      load(x, a.from + k, true);
      load(y, b.from + k, true);
      visit(k, x, y);
    }
  }
}
// Returns the space of this thread's row among those of the block, or null.
template <class W>
DEVICE W* row_space(bool keeps, i64 length) {
  SHARED_BYTES(W, space);
  return keeps ? space + threadIdx.y * length : nullptr;
}
