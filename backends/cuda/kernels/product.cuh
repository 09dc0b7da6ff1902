// Products of matrices by tiles in shared memory, for operands that find their own elements: matmul.cu reads strided
// matrices, convolution.cu reads images as matrices.
//
// Note [Tiles]  256 threads compute a square of Side x Side results, each Side/16 x Side/16 of them, `step` terms of
//   the sums at a time. While one step is multiplied, the next one is loaded from memory to registers, and then written
//   to the other of two buffers in shared memory, so that a step has one barrier. An operand has
//     Cursor begin(i64 row)            the state for a row of the left or a column of the right operand
//     W get(const Cursor&, i64 depth)  one element as a term of the sums
//     bool depth_first                 neighbours in memory lie along the depth, so that threads read along it
#pragma once
#include "scalars.cuh"

// The terms of a step, of which two buffers of two operands are below the 48 KB that every block may have.
template <class W>
constexpr int product_step = sizeof(W) > 8 ? 8 : 16;

template <class W, int Side, class Operand>
struct Feed {
  static constexpr int step = product_step<W>, each = Side * step / 256, pitch = Side + 4;
  typename Operand::Cursor cursors[each];
  W held[each];
  unsigned inside;  // a bit for each element whose row exists

  __device__ int row_of(bool depth_first, int e) const {
    const int i = threadIdx.x + e * 256;
    return depth_first ? i / step : i % Side;
  }
  __device__ int depth_of(bool depth_first, int e) const {
    const int i = threadIdx.x + e * 256;
    return depth_first ? i % step : i / Side;
  }
  __device__ void begin(const Operand& from, i64 first, i64 rows) {
    inside = 0;
#pragma unroll
    for (int e = 0; e < each; e++) {
      const i64 row = first + row_of(from.depth_first, e);
      if (row >= rows) continue;
      inside |= 1u << e;
      cursors[e] = from.begin(row);
    }
  }
  __device__ void load(const Operand& from, i64 at, i64 depth) {
#pragma unroll
    for (int e = 0; e < each; e++) {
      const i64 k = at + depth_of(from.depth_first, e);
      held[e] = (inside >> e & 1u) && k < depth ? from.get(cursors[e], k) : W{};
    }
  }
  __device__ void store(bool depth_first, W (&to)[step][pitch]) const {
#pragma unroll
    for (int e = 0; e < each; e++) to[depth_of(depth_first, e)][row_of(depth_first, e)] = held[e];
  }
};

// Adds up terms `begin` to `end` - 1 of the tile at first_row and first_column, and calls out(row, column, sum).
template <class W, int Side, class Left, class Right, class Out>
DEVICE void multiply_tile(const Left& a, const Right& b, i64 rows, i64 columns, i64 begin, i64 end,
                                     i64 first_row, i64 first_column, Out out) {
  constexpr int part = Side / 16, step = product_step<W>;
  typedef Feed<W, Side, Left> FeedLeft;
  typedef Feed<W, Side, Right> FeedRight;
  __shared__ W left[2][step][FeedLeft::pitch], right[2][step][FeedRight::pitch];
  FeedLeft x;
  FeedRight y;
  W sums[part][part];
#pragma unroll
  for (int i = 0; i < part; i++)
#pragma unroll
    for (int j = 0; j < part; j++) sums[i][j] = W{};
  const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
  x.begin(a, first_row, rows);
  y.begin(b, first_column, columns);
  x.load(a, begin, end);
  y.load(b, begin, end);
  int now = 0;
  for (i64 k = begin; k < end; k += step, now ^= 1) {
    x.store(a.depth_first, left[now]);
    y.store(b.depth_first, right[now]);
    __syncthreads();
    if (k + step < end) {
      x.load(a, k + step, end);
      y.load(b, k + step, end);
    }
#pragma unroll
    for (int d = 0; d < step; d++) {
      W u[part], v[part];
#pragma unroll
      for (int i = 0; i < part; i++) {  // quads of neighbours, 64 apart: wide reads without conflicts of banks
        u[i] = left[now][d][i / 4 * 64 + ty * 4 + i % 4];
        v[i] = right[now][d][i / 4 * 64 + tx * 4 + i % 4];
      }
#pragma unroll
      for (int i = 0; i < part; i++)
#pragma unroll
        for (int j = 0; j < part; j++) sums[i][j] = sums[i][j] + u[i] * v[j];
    }
  }
#pragma unroll
  for (int i = 0; i < part; i++)
#pragma unroll
    for (int j = 0; j < part; j++) {
      const i64 row = first_row + i / 4 * 64 + ty * 4 + i % 4, column = first_column + j / 4 * 64 + tx * 4 + j % 4;
      if (row < rows && column < columns) out(row, column, sums[i][j]);
    }
}

// The tile of a block. Tiles of one batch follow each other, eight rows of tiles at a time, so that blocks that run
// together read the same operands.
struct Tile {
  i64 batch, row, column;
};
template <int Side>
DEVICE Tile tile_of_block(i64 rows, i64 columns) {
  const i64 down = (rows + Side - 1) / Side, across = (columns + Side - 1) / Side, all = down * across;
  const i64 batch = blockIdx.x / all, in = blockIdx.x % all;
  const i64 strip = in / (8 * across), first = strip * 8, high = down - first < 8 ? down - first : 8;
  const i64 rest = in - strip * 8 * across;
  return {batch, (first + rest % high) * Side, rest / high * Side};
}
