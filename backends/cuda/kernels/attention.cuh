// The common part of attention's kernels: the operands, and the score of a query and a key.
//
// Note [Two tiles]  Each loop has room for two tiles of each operand: while it works on one, the next is copied to the
//   other. One barrier in each round serves both: after it the next tile is there, and no thread reads the one before.
// Note [Dropped weights]  A word of a stream decides whether a weight stays: the word at the weight's place in the
//   row-major matrix of all weights, (batch, heads, queries, keys). Forward and backward compute the words of the tile
//   that they work on. The stream is in device memory, so that a replayed graph has another one each time.
// Note [Bits of two]  Weights are computed as powers of two: e^(s - top) = 2^(by * (s - top)) with by = log2(e). For
//   plain scores, `by` includes their scale, and by * top is computed once for a row. Other scores may be near the
//   largest number, as with masks of finfo.min, and infinite when multiplied by `by`: their difference is computed
//   first.
#pragma once
#include "attention.h"
#include "philox.cuh"
#include "scalars.cuh"

// The rows of a head, for reading.
template <class T>
struct Head {
  const T* data;
  i64 row, column;
  DEVICE Wide<T> get(i64 i, i64 k) const { return wide(data[i * row + k * column]); }
  // Sets y to elements k to k + 3 of row i, with zeros from `width` on.
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

template <class T>
DEVICE Head<T> head_of(const Heads<T>& all, i64 b, i64 h) {
  return {all.data + b * all.batch + h * all.head, all.row, all.column};
}

// Returns the score of a query and a key from their product: scaled and masked; -inf if the key is hidden.
template <class T>
DEVICE Wide<T> score(const AttentionSizes& n, i64 b, i64 h, i64 i, i64 j, Wide<T> product) {
  typedef Wide<T> W;
  if (i >= n.queries || j >= n.keys || (n.causal && j > i)) return -infinity<W>();
  const W s = product * (W)n.scale;
  if (!n.mask) return s;
  const i64 at = b * n.mask_strides[0] + h * n.mask_strides[1] + i * n.mask_strides[2] + j * n.mask_strides[3];
  if (n.mask == 1) return ((const bool8*)n.mask_data)[at] ? s : -infinity<W>();
  return s + (n.mask == 2 ? wide(((const T*)n.mask_data)[at]) : (W)((const float*)n.mask_data)[at]);
}

// Dropout's factors of the weights, 0 or n.factor: see Note [Dropped weights].
class Dropout {
 public:
  DEVICE explicit Dropout(const AttentionSizes& n)
      : n_(n), stream_{(u64)n.words[0], (u64)n.words[1] / 4}, stay_((float)n.stay) {}
  DEVICE i64 place(i64 b, i64 h, i64 i, i64 j) const { return ((b * n_.heads + h) * n_.queries + i) * n_.keys + j; }
  // Returns the factor at a place. One computation gives the words of four neighbours, and is kept.
  DEVICE double factor(i64 place) {
    if (place / 4 != at_) four_ = philox(stream_, (u64)(at_ = place / 4));
    const int k = place % 4;
    const u32 word = k == 0 ? four_.w[0] : k == 1 ? four_.w[1] : k == 2 ? four_.w[2] : four_.w[3];
    return unit(word) < stay_ ? n_.factor : 0;
  }

 private:
  const AttentionSizes& n_;
  Stream stream_;
  float stay_;
  i64 at_ = -1;
  Four four_;
};

// Returns the number of keys that are not hidden from queries below `end`.
DEVICE i64 keys_seen(const AttentionSizes& n, i64 end) { return n.causal && end < n.keys ? end : n.keys; }
DEVICE int clamped(i64 x) { return x < 0 ? -1 : x > tile_side ? tile_side : (int)x; }
// Returns the last key that is not hidden from a query, less j0: among the 64 keys from j0 on -1 means none of them is
// seen, and 63 or 64 that all are.
DEVICE int last_seen(const AttentionSizes& n, i64 query, i64 j0) {
  return clamped((n.causal && query < n.keys - 1 ? query : n.keys - 1) - j0);
}

// Masks a warp's scores of 64 keys and 16 queries from `first` on. They lie as in Note [Fragments] of mma.cuh: of row
// `half` * 8 + lane / 4 a lane has columns j * 8 + lane % 4 * 2 + e, at [j][half * 2 + e]. A score becomes -inf if its
// key is hidden from the query; without Plain, other scores are scaled and masked by score().
template <class T, bool Plain>
DEVICE void hide(float (&s)[8][4], const AttentionSizes& n, i64 b, i64 h, i64 first, i64 j0) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const i64 row = first + half * 8 + g;
    const int last = last_seen(n, row, j0);
#pragma unroll
    for (int j = 0; j < 8; j++)
#pragma unroll
      for (int e = 0; e < 2; e++) {
        float& x = s[j][half * 2 + e];
        const int column = j * 8 + 2 * t + e;
        if (!Plain)
          x = score<T>(n, b, h, row, j0 + column, x);
        else if (column > last)
          x = -infinity<float>();
      }
  }
}
// Calls visit(j, e, factor) for each of a lane's numbers [j][e] of a matrix as in hide(), with dropout's factor of the
// weight.
template <class Visit>
DEVICE void drop(const AttentionSizes& n, i64 b, i64 h, i64 first, i64 j0, Visit visit) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  Dropout dropout(n);
#pragma unroll
  for (int half = 0; half < 2; half++)
#pragma unroll
    for (int j = 0; j < 8; j++)
#pragma unroll
      for (int e = 0; e < 2; e++) {
        const i64 place = dropout.place(b, h, first + half * 8 + g, j0 + j * 8 + 2 * t + e);
        visit(j, half * 2 + e, (float)dropout.factor(place));
      }
}

constexpr float log2_of_e = 1.44269504088896f;

// Returns 2^(by * (x - from)): see Note [Bits of two].
template <bool Plain>
DEVICE float weight_of(float x, float from, float by) {
  return power_of_two(Plain ? x * by - from * by : (x - from) * by);
}

// Returns the factor of scores in the exponents of weights. Plain scores are products without the scale, and only the
// last keys are hidden. Other scores are computed one by one: they have a mask or dropout, or a scale that is not above
// 0.
template <bool Plain>
DEVICE float exponent_of(const AttentionSizes& n) {
  return Plain ? (float)n.scale * log2_of_e : log2_of_e;
}
