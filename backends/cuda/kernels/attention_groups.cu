// Attention of two-byte floats by the matrix instruction of four warps: as attend_by_warps, for plain scores. See Note
// [Groups] of groups.cuh, and Note [Two tiles] and Note [Bits of two] of attention_warps.cu.
#include "attention.cuh"
#include "groups.cuh"

// Two groups with 64 queries each.
template <class T, int Quads>
__global__ void __launch_bounds__(256, Quads == 1 ? 2 : 1)
    attend_by_groups(Heads<T> query, Heads<T> key, Heads<T> value, Heads<T> out, float* logsumexp, AttentionSizes n) {
  constexpr int steps = 4 * Quads, rows_of_block = 128, side = tile_side, area = 64 * 64;
  constexpr float log2_of_e = 1.44269504088896f;
  SHARED_BYTES(char, bytes);
  T* const memory = reinterpret_cast<T*>(bytes + (1024 - reinterpret_cast<u64>(bytes) % 1024) % 1024);
  // Queries by columns of 64, [Quads][128][64], then twice keys and values, [Quads][64][64] each.
  const i64 tiles = (n.queries + rows_of_block - 1) / rows_of_block, head = blockIdx.x / tiles;
  const i64 first = (tiles - 1 - blockIdx.x % tiles) * rows_of_block, b = head / n.heads, h = head % n.heads;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const T *q = query.data + b * query.batch + h * query.head, *k = key.data + b * key.batch + h / n.shared * key.head;
  const T* v = value.data + b * value.batch + h / n.shared * value.head;
  const i64 of_group = first + warp / 4 * 64, own = first + warp * 16;
  const i64 end = keys_seen(n, first + rows_of_block < n.queries ? first + rows_of_block : n.queries);
  const float by = (float)n.scale * log2_of_e;
  const auto keys = [&](int turn, int p) { return Tile<T, 64>{memory + (2 * Quads + (turn * 2) * Quads + p) * area}; };
  const auto values = [&](int turn, int p) {
    return Tile<T, 64>{memory + (2 * Quads + (turn * 2 + 1) * Quads + p) * area};
  };
  const auto fill = [&](i64 j0, int turn) {
#pragma unroll
    for (int p = 0; p < Quads; p++) {
      keys(turn, p).template fill<side, 256>(k + p * 64, key.row, j0, n.keys, n.width - p * 64);
      values(turn, p).template fill<side, 256>(v + p * 64, value.row, j0, n.keys, n.value_width - p * 64);
    }
  };
#pragma unroll
  for (int p = 0; p < Quads; p++)
    Tile<T, 64>{memory + p * 2 * area}.template fill<rows_of_block, 256>(q + p * 64, query.row, first, n.queries,
                                                                        n.width - p * 64);
  fill(0, 0);
  wait_for_copies();
  show_to_groups();
  __syncthreads();
  u32 left[steps][4];
#pragma unroll
  for (int i = 0; i < steps; i++) Tile<T, 64>{memory + i / 4 * 2 * area}.left(left[i], warp * 16, i % 4, lane);

  float top[2] = {-infinity<float>(), -infinity<float>()}, sum[2] = {0, 0}, result[Quads][8][4] = {};
  int turn = 0;
  for (i64 j0 = 0; j0 < end; j0 += side, turn ^= 1) {
    if (j0 + side < end) fill(j0 + side, turn ^ 1);
    if (!n.causal || j0 <= of_group + 63) {
      float scores[1][8][4] = {};
      float(&s)[8][4] = scores[0];
      begin_group();
#pragma unroll
      for (int i = 0; i < steps; i++) multiply_group(s, left[i], keys(turn, i / 4), i % 4);
      end_group(scores);
      u32 weights[4][4];
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const i64 row = own + half * 8 + g;
        if (j0 + side > n.keys || (n.causal && j0 + side - 1 > own)) {
          const int last = last_seen(n, row, j0);
#pragma unroll
          for (int j = 0; j < 8; j++)
#pragma unroll
            for (int e = 0; e < 2; e++)
              if (j * 8 + 2 * t + e > last) s[j][half * 2 + e] = -infinity<float>();
        }
        float raised = top[half];
#pragma unroll
        for (int j = 0; j < 8; j++) raised = fmaxf(raised, fmaxf(s[j][half * 2], s[j][half * 2 + 1]));
        raised = fmaxf(raised, __shfl_xor_sync(~0u, raised, 1));
        raised = fmaxf(raised, __shfl_xor_sync(~0u, raised, 2));
        const float from = raised == -infinity<float>() ? 0.0f : raised * by;
        const float less = power_of_two(top[half] * by - from);
        float part = 0;
#pragma unroll
        for (int j = 0; j < 8; j++) {
          const float x = power_of_two(s[j][half * 2] * by - from), y = power_of_two(s[j][half * 2 + 1] * by - from);
          part += x + y;
          weights[j / 2][j % 2 * 2 + half] = rounded(x, y, T());
        }
        sum[half] = sum[half] * less + part;  // of this lane's columns
        top[half] = raised;
#pragma unroll
        for (int p = 0; p < Quads; p++)
#pragma unroll
          for (int c = 0; c < 8; c++) {
            result[p][c][half * 2] *= less;
            result[p][c][half * 2 + 1] *= less;
          }
      }
      begin_group();
#pragma unroll
      for (int p = 0; p < Quads; p++)
#pragma unroll
        for (int i = 0; i < 4; i++) multiply_group_turned(result[p], weights[i], values(turn, p), i);
      end_group(result);
    }
    wait_for_copies();
    show_to_groups();
    __syncthreads();
  }
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const i64 row = own + half * 8 + g;
    float all = sum[half] + __shfl_xor_sync(~0u, sum[half], 1);
    all += __shfl_xor_sync(~0u, all, 2);
    if (row >= n.queries) continue;
    const float share = all == 0 ? 0.0f : 1 / all;
    T* const to = &out.at(b, h, row, 2 * t);
#pragma unroll
    for (int p = 0; p < Quads; p++)
#pragma unroll
      for (int c = 0; c < 8; c++)
        if (p * 64 + c * 8 < n.value_width)
          *reinterpret_cast<u32*>(to + p * 64 + c * 8) =
              rounded(result[p][c][half * 2] * share, result[p][c][half * 2 + 1] * share, T());
    if (t == 0) logsumexp[head * n.queries + row] = all == 0 ? 0.0f : top[half] * (by / log2_of_e) + logarithm(all);
  }
}
