// The arguments of attention's kernels.
#pragma once
#include <cstdint>

namespace cuda {

constexpr int tile_side = 64;  // queries, and keys, of a tile

// A tensor (batch, heads, rows, width), with strides in elements.
template <class T>
struct Heads {
  T* data;
  int64_t batch, head, row, column;
  T& at(int64_t b, int64_t h, int64_t i, int64_t k) const { return data[b * batch + h * head + i * row + k * column]; }
};

struct AttentionSizes {
  int64_t batch, heads, shared, queries, keys, width,
      value_width;       // shared: heads of queries for each head of keys
  int32_t causal, mask;  // mask: 0 none, 1 bools, 2 of the operands' type, 3 of float32
  double scale;
  const void* mask_data;
  int64_t mask_strides[4];  // in elements
  const int64_t* words;     // dropout's: a stream's seed, and the place of its first word; null without dropout
  double stay, factor;      // a weight stays with the probability `stay`, and is multiplied by `factor`
};

// The sizes of a mask, each 1 or that of the scores.
struct MaskSizes {
  int64_t batch = 1, heads = 1, queries = 1, keys = 1;
};

// A block's shared memory in attention.cu: parts of two operands, and a computed tile. W is the type of sums. Parts of
// doubles have half the depth, so that the whole takes 68 KiB; for float it takes 51 KiB.
constexpr int tile_pitch = tile_side + 4;
template <class W>
struct AttentionSpace {
  static constexpr int depth = sizeof(W) == 8 ? 32 : 64;
  alignas(16) W left[depth][tile_pitch];
  alignas(16) W right[depth][tile_pitch];
  alignas(16) W tile[tile_side][tile_pitch];
};

}  // namespace cuda
