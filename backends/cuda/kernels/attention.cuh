// What the kernels of attention share: the operands, and the score of a query and a key.
//
// Note [Two tiles]  Each loop has two tiles of what it walks over: while it works on one, the next is copied to the other.
//   One barrier in each round serves both: behind it the next tile is there, and nobody reads the one before.
// Note [Bits of two]  Weights are powers of two: e^(s - top) = 2^(by * s - by * top) with by = log2(e), into which the
//   scale of the scores goes where nothing is added to them.
#pragma once
#include "scalars.cuh"

constexpr int tile_side = 64;

// Rows of a head, which are read.
template <class T>
struct Head {
  const T* data;
  i64 row, column;
  DEVICE Wide<T> get(i64 i, i64 k) const { return wide(data[i * row + k * column]); }
  // Elements k to k + 3 of row i, and zeros from `width` on.
  DEVICE void four(Wide<T> (&y)[4], i64 i, i64 k, i64 width) const {
    const T* at = data + i * row + k;
    if (column == 1 && k + 4 <= width && reinterpret_cast<u64>(at) % (4 * sizeof(T)) == 0) {
      const Pack<T, 4> some = *reinterpret_cast<const Pack<T, 4>*>(at);
#pragma unroll
      for (int c = 0; c < 4; c++) y[c] = wide(some.v[c]);
    } else {
#pragma unroll
      for (int c = 0; c < 4; c++) y[c] = k + c < width ? get(i, k + c) : Wide<T>(0);
    }
  }
};

// (batch, heads, rows, width) by strides.
template <class T>
struct Heads {
  T* data;
  i64 batch, head, row, column;
  DEVICE Head<T> of(i64 b, i64 h) const { return {data + b * batch + h * head, row, column}; }
  DEVICE T& at(i64 b, i64 h, i64 i, i64 k) const { return data[b * batch + h * head + i * row + k * column]; }
};

struct AttentionSizes {
  i64 batch, heads, shared, queries, keys, width, value_width;  // shared: how many heads of queries have one of keys
  i32 causal, mask;  // mask: 0 none, 1 bools, 2 of the operands' type, 3 of floats
  double scale;
  const void* mask_data;
  i64 mask_strides[4];  // in elements
};

// The score of a query and a key from their product: scaled, masked, -inf where the query does not see the key.
template <class T>
DEVICE Wide<T> score(const AttentionSizes& n, i64 b, i64 h, i64 i, i64 j, Wide<T> product) {
  typedef Wide<T> W;
  if (i >= n.queries || j >= n.keys || (n.causal && j > i)) return -infinity<W>();
  const W s = product * (W)n.scale;
  if (!n.mask) return s;
  const i64 at = b * n.mask_strides[0] + h * n.mask_strides[1] + i * n.mask_strides[2] + j * n.mask_strides[3];
  if (n.mask == 1) return ((const bool*)n.mask_data)[at] ? s : -infinity<W>();
  return s + (n.mask == 2 ? wide(((const T*)n.mask_data)[at]) : (W)((const float*)n.mask_data)[at]);
}

// The keys that queries below `end` see.
DEVICE i64 keys_seen(const AttentionSizes& n, i64 end) { return n.causal && end < n.keys ? end : n.keys; }
DEVICE int clamped(i64 x) { return x < 0 ? -1 : x > tile_side ? tile_side : (int)x; }
// The last of the 64 keys from j0 on that a query sees; -1 is none.
DEVICE int last_seen(const AttentionSizes& n, i64 query, i64 j0) {
  return clamped((n.causal && query < n.keys - 1 ? query : n.keys - 1) - j0);
}

constexpr float log2_of_e = 1.44269504088896f;

// What scores are times in the exponents of weights. Plain scores are products as they are, seen up to a key of each
// query; others are made one by one: a mask is added to them, or their scale is not above 0.
template <bool Plain>
DEVICE float exponent_of(const AttentionSizes& n) {
  return Plain ? (float)n.scale * log2_of_e : log2_of_e;
}
