// Attention of two-byte floats by the matrix instruction of a warp. Widths are up to 64 * Quads and
// multiples of 8; the elements of a row lie side by side, and rows are aligned to 16 bytes. See Note [Fragments] and
// Note [Tiles] of mma.cuh, Note [Online softmax] of attention.cu, and the notes of attention.cuh.
#include "attention.cuh"
#include "mma.cuh"

template <class T, int Quads, bool Plain>
__global__ void __launch_bounds__(128, Quads == 1 ? 2 : 1)
    attend_by_warps(Heads<T> query, Heads<T> key, Heads<T> value, Heads<T> out, float* logsumexp, AttentionSizes n) {
  constexpr int most = 64 * Quads, steps = most / 16, columns = most / 8, rows_of_block = 128, side = tile_side;
  SHARED_BYTES(T, memory);  // queries [128][most], twice keys [64][most] and values [64][most]
  const Tile<T, most> queries{memory};
  const i64 tiles = (n.queries + rows_of_block - 1) / rows_of_block, head = blockIdx.x / tiles;
  const i64 first = (tiles - 1 - blockIdx.x % tiles) * rows_of_block;  // causal attention runs the longest tiles first
  const i64 b = head / n.heads, h = head % n.heads;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const T *q = query.data + b * query.batch + h * query.head, *k = key.data + b * key.batch + h / n.shared * key.head;
  const T* v = value.data + b * value.batch + h / n.shared * value.head;
  const i64 own = first + warp * 32;  // the warp's first query
  const i64 end = keys_seen(n, first + rows_of_block < n.queries ? first + rows_of_block : n.queries);
  const float by = exponent_of<Plain>(n);

  const auto fill = [&](i64 j0, int turn) {
    T* const at = memory + (rows_of_block + turn * 2 * side) * most;
    Tile<T, most>{at}.template fill<side, 128>(k, key.row, j0, n.keys, n.width);
    Tile<T, most>{at + side * most}.template fill<side, 128>(v, value.row, j0, n.keys, n.value_width);
  };
  queries.template fill<rows_of_block, 128>(q, query.row, first, n.queries, n.width);
  fill(0, 0);
  wait_for_copies();
  __syncthreads();
  u32 left[2][Quads == 1 ? steps : 1][4];  // kept for narrow heads, else read again in each round
  if (Quads == 1)
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
      for (int d = 0; d < steps; d++) queries.left(left[m][Quads == 1 ? d : 0], warp * 32 + m * 16, d, lane);

  float top[2][2], sum[2][2], result[2][columns][4] = {};
#pragma unroll
  for (int m = 0; m < 2; m++)
#pragma unroll
    for (int half = 0; half < 2; half++) top[m][half] = -infinity<float>(), sum[m][half] = 0;
  int turn = 0;
  for (i64 j0 = 0; j0 < end; j0 += side, turn ^= 1) {
    if (j0 + side < end) fill(j0 + side, turn ^ 1);
    if (!n.causal || j0 <= own + 31) {
      const Tile<T, most> keys{memory + (rows_of_block + turn * 2 * side) * most}, values{keys.data + side * most};
      float s[2][8][4] = {};
#pragma unroll
      for (int d = 0; d < steps; d++) {
        if (Quads > 1)
#pragma unroll
          for (int m = 0; m < 2; m++) queries.left(left[m][0], warp * 32 + m * 16, d, lane);
#pragma unroll
        for (int j = 0; j < 4; j++) {
          u32 right[4];
          keys.right(right, j * 16, d, lane);
#pragma unroll
          for (int m = 0; m < 2; m++) {
            multiply_warp(s[m][2 * j], left[m][Quads == 1 ? d : 0], right[0], right[1], T());
            multiply_warp(s[m][2 * j + 1], left[m][Quads == 1 ? d : 0], right[2], right[3], T());
          }
        }
      }
      if (!Plain || j0 + side > n.keys || (n.causal && j0 + side - 1 > own))
#pragma unroll
        for (int m = 0; m < 2; m++) hide<T, Plain>(s[m], n, b, h, own + m * 16, j0);
#pragma unroll
      for (int m = 0; m < 2; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
          float raised = top[m][half];
#pragma unroll
          for (int j = 0; j < 8; j++) raised = fmaxf(raised, fmaxf(s[m][j][half * 2], s[m][j][half * 2 + 1]));
          raised = fmaxf(raised, __shfl_xor_sync(~0u, raised, 1));
          raised = fmaxf(raised, __shfl_xor_sync(~0u, raised, 2));
          const float from = raised == -infinity<float>() ? 0.0f : raised;
          const float less = weight_of<Plain>(top[m][half], from, by);
          float part = 0;
#pragma unroll
          for (int j = 0; j < 8; j++)
#pragma unroll
            for (int e = half * 2; e < half * 2 + 2; e++) {
              s[m][j][e] = weight_of<Plain>(s[m][j][e], from, by);
              part += s[m][j][e];
            }
          sum[m][half] = sum[m][half] * less + part;  // the sum over this lane's columns
          top[m][half] = raised;
#pragma unroll
          for (int c = 0; c < columns; c++) {
            result[m][c][half * 2] *= less;
            result[m][c][half * 2 + 1] *= less;
          }
        }
      if (!Plain && n.words)
#pragma unroll
        for (int m = 0; m < 2; m++)
          drop(n, b, h, own + m * 16, j0, [&](int j, int e, float factor) { s[m][j][e] *= factor; });
#pragma unroll
      for (int d = 0; d < 4; d++) {
        u32 weights[2][4];
#pragma unroll
        for (int m = 0; m < 2; m++)
#pragma unroll
          for (int i = 0; i < 4; i++)
            weights[m][i] = rounded(s[m][2 * d + i / 2][i % 2 * 2], s[m][2 * d + i / 2][i % 2 * 2 + 1], T());
#pragma unroll
        for (int c = 0; c < columns / 2; c++) {
          u32 right[4];
          values.right_turned(right, d * 16, c, lane);
#pragma unroll
          for (int m = 0; m < 2; m++) {
            multiply_warp(result[m][2 * c], weights[m], right[0], right[1], T());
            multiply_warp(result[m][2 * c + 1], weights[m], right[2], right[3], T());
          }
        }
      }
    }
    wait_for_copies();
    __syncthreads();
  }
#pragma unroll
  for (int m = 0; m < 2; m++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const i64 row = own + m * 16 + half * 8 + g;
      float all = sum[m][half] + __shfl_xor_sync(~0u, sum[m][half], 1);
      all += __shfl_xor_sync(~0u, all, 2);
      if (row >= n.queries) continue;
      const float share = all == 0 ? 0.0f : 1 / all;
      T* const to = &out.at(b, h, row, 2 * t);
#pragma unroll
      for (int c = 0; c < columns; c++)
        if (c * 8 < n.value_width)
          *reinterpret_cast<u32*>(to + c * 8) =
              rounded(result[m][c][half * 2] * share, result[m][c][half * 2 + 1] * share, T());
      if (t == 0)
        logsumexp[head * n.queries + row] = all == 0 ? 0.0f : top[m][half] * (by / log2_of_e) + logarithm(all);
    }
}
