// Attention of two-byte floats and its gradients by the matrix instruction of a warp. Widths are up to 64 * Quads and
// multiples of 8; the elements of a row lie side by side, and rows are aligned to 16 bytes. See Note [Fragments] and
// Note [Tiles] of mma.cuh, and Note [Online softmax] of attention.cu.
//
// Note [Two tiles]  Each loop has two tiles of what it walks over: while it works on one, the next is copied to the other.
//   One barrier in each round serves both: behind it the next tile is there, and nobody reads the one before.
// Note [Bits of two]  Weights are powers of two: e^(s - top) = 2^(by * s - by * top) with by = log2(e), into which the
//   scale of the scores goes where nothing is added to them.
#include "attention.cuh"
#include "mma.cuh"

constexpr float log2_of_e = 1.44269504088896f;

// What scores are times in the exponents of weights. Plain scores are products as they are, seen up to a key of each
// query; others are made one by one: a mask is added to them, or their scale is not above 0.
template <bool Plain>
DEVICE float exponent_of(const AttentionSizes& n) {
  return Plain ? (float)n.scale * log2_of_e : log2_of_e;
}
template <class T, int Quads, bool Plain>
__global__ void __launch_bounds__(128, Quads == 1 ? 2 : 1)
    attend_by_warps(Heads<T> query, Heads<T> key, Heads<T> value, Heads<T> out, float* logsumexp, AttentionSizes n) {
  constexpr int most = 64 * Quads, steps = most / 16, columns = most / 8, rows_of_block = 128, side = tile_side;
  SHARED_BYTES(T, memory);  // queries [128][most], twice keys [64][most] and values [64][most]
  const Tile<T, most> queries{memory};
  const i64 tiles = (n.queries + rows_of_block - 1) / rows_of_block, head = blockIdx.x / tiles;
  const i64 first = (tiles - 1 - blockIdx.x % tiles) * rows_of_block;  // the longest ones of causal attention begin
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
        for (int m = 0; m < 2; m++)
#pragma unroll
          for (int half = 0; half < 2; half++) {
            const i64 row = own + m * 16 + half * 8 + g;
            const int last = last_seen(n, row, j0);
#pragma unroll
            for (int j = 0; j < 8; j++)
#pragma unroll
              for (int e = 0; e < 2; e++) {
                float& x = s[m][j][half * 2 + e];
                const int column = j * 8 + 2 * t + e;
                if (!Plain)
                  x = score<T>(n, b, h, row, j0 + column, x);
                else if (column > last)
                  x = -infinity<float>();
              }
          }
#pragma unroll
      for (int m = 0; m < 2; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
          float raised = top[m][half];
#pragma unroll
          for (int j = 0; j < 8; j++) raised = fmaxf(raised, fmaxf(s[m][j][half * 2], s[m][j][half * 2 + 1]));
          raised = fmaxf(raised, __shfl_xor_sync(~0u, raised, 1));
          raised = fmaxf(raised, __shfl_xor_sync(~0u, raised, 2));
          const float from = raised == -infinity<float>() ? 0.0f : raised * by;
          const float less = power_of_two(top[m][half] * by - from);
          float part = 0;
#pragma unroll
          for (int j = 0; j < 8; j++)
#pragma unroll
            for (int e = half * 2; e < half * 2 + 2; e++) {
              s[m][j][e] = power_of_two(s[m][j][e] * by - from);
              part += s[m][j][e];
            }
          sum[m][half] = sum[m][half] * less + part;  // of this lane's columns
          top[m][half] = raised;
#pragma unroll
          for (int c = 0; c < columns; c++) {
            result[m][c][half * 2] *= less;
            result[m][c][half * 2 + 1] *= less;
          }
        }
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

// Of a product s of a query and a key, and d of the query's gradient and the value: the weight in place of s, and the
// gradient of the score in place of d.
DEVICE void weigh(float& s, float& d, float by, float logsumexp, float shift) {
  s = power_of_two(s * by - logsumexp * log2_of_e);
  d = s * (d - shift);
}

// The gradient of 64 queries, 16 a warp.
template <class T, int Quads, bool Plain>
__global__ void __launch_bounds__(128, Quads == 1 ? 3 : 2)
    backward_query_by_warps(Heads<T> grad, Heads<T> query, Heads<T> key, Heads<T> value, const float* logsumexp,
                            const float* shifts, Heads<T> to, AttentionSizes n) {
  constexpr int most = 64 * Quads, steps = most / 16, columns = most / 8, side = tile_side;
  SHARED_BYTES(T, memory);  // twice keys [64][most] and values [64][most]
  const i64 tiles = (n.queries + side - 1) / side, head = blockIdx.x / tiles;
  const i64 first = (tiles - 1 - blockIdx.x % tiles) * side, b = head / n.heads, h = head % n.heads;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const T *k = key.data + b * key.batch + h / n.shared * key.head,
          *v = value.data + b * value.batch + h / n.shared * value.head;
  const i64 end = keys_seen(n, first + side < n.queries ? first + side : n.queries), own = first + warp * 16;
  const float by = exponent_of<Plain>(n);
  const auto tile = [&](int turn, int which) { return Tile<T, most>{memory + (turn * 2 + which) * side * most}; };
  const auto fill = [&](i64 j0, int turn) {
    tile(turn, 0).template fill<side, 128>(k, key.row, j0, n.keys, n.width);
    tile(turn, 1).template fill<side, 128>(v, value.row, j0, n.keys, n.value_width);
  };
  // The queries and their gradients go through the second tiles into fragments.
  tile(1, 0).template fill<side, 128>(query.data + b * query.batch + h * query.head, query.row, first, n.queries, n.width);
  tile(1, 1).template fill<side, 128>(grad.data + b * grad.batch + h * grad.head, grad.row, first, n.queries,
                                      n.value_width);
  fill(0, 0);
  wait_for_copies();
  __syncthreads();
  u32 queries[steps][4], grads[steps][4];
#pragma unroll
  for (int i = 0; i < steps; i++) {
    tile(1, 0).left(queries[i], warp * 16, i, lane);
    tile(1, 1).left(grads[i], warp * 16, i, lane);
  }
  float sums_of[2], shift_of[2], result[columns][4] = {};
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const i64 row = own + half * 8 + g, at = head * n.queries + (row < n.queries ? row : 0);
    sums_of[half] = logsumexp[at];
    shift_of[half] = shifts[at];
  }
  __syncthreads();
  int turn = 0;
  for (i64 j0 = 0; j0 < end; j0 += side, turn ^= 1) {
    if (j0 + side < end) fill(j0 + side, turn ^ 1);
    if (!n.causal || j0 <= own + 15) {
      const Tile<T, most> keys = tile(turn, 0), values = tile(turn, 1);
      float s[8][4] = {}, d[8][4] = {};
#pragma unroll
      for (int i = 0; i < steps; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
          u32 right[4];
          keys.right(right, j * 16, i, lane);
          multiply_warp(s[2 * j], queries[i], right[0], right[1], T());
          multiply_warp(s[2 * j + 1], queries[i], right[2], right[3], T());
          values.right(right, j * 16, i, lane);
          multiply_warp(d[2 * j], grads[i], right[0], right[1], T());
          multiply_warp(d[2 * j + 1], grads[i], right[2], right[3], T());
        }
      if (!Plain || j0 + side > n.keys || (n.causal && j0 + side - 1 > own))
#pragma unroll
        for (int half = 0; half < 2; half++) {
          const i64 row = own + half * 8 + g;
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
#pragma unroll
      for (int j = 0; j < 8; j++)
#pragma unroll
        for (int e = 0; e < 4; e++) weigh(s[j][e], d[j][e], by, sums_of[e / 2], shift_of[e / 2]);
#pragma unroll
      for (int i = 0; i < 4; i++) {
        u32 of_scores[4];
#pragma unroll
        for (int w = 0; w < 4; w++)
          of_scores[w] = rounded(d[2 * i + w / 2][w % 2 * 2], d[2 * i + w / 2][w % 2 * 2 + 1], T());
#pragma unroll
        for (int c = 0; c < columns / 2; c++) {
          u32 right[4];
          keys.right_turned(right, i * 16, c, lane);
          multiply_warp(result[2 * c], of_scores, right[0], right[1], T());
          multiply_warp(result[2 * c + 1], of_scores, right[2], right[3], T());
        }
      }
    }
    wait_for_copies();
    __syncthreads();
  }
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const i64 row = own + half * 8 + g;
    if (row >= n.queries) continue;
    T* const at = &to.at(b, h, row, 2 * t);
#pragma unroll
    for (int c = 0; c < columns; c++)
      if (c * 8 < n.width)
        *reinterpret_cast<u32*>(at + c * 8) =
            rounded(result[c][half * 2] * (float)n.scale, result[c][half * 2 + 1] * (float)n.scale, T());
  }
}

// The gradients of 64 keys and values of one head of theirs, 16 a warp, from all queries of all heads that share it, in
// order. Everything is turned around: rows are keys, and columns are queries. A null result is not wanted.
template <class T, int Quads, bool Plain>
__global__ void __launch_bounds__(128, Quads == 1 ? 2 : 1)
    backward_key_by_warps(Heads<T> grad, Heads<T> query, Heads<T> key, Heads<T> value, const float* logsumexp,
                          const float* shifts, Heads<T> to_key, Heads<T> to_value, AttentionSizes n) {
  constexpr int most = 64 * Quads, steps = most / 16, columns = most / 8, side = tile_side;
  // Keys [64][most] and values [64][most], twice queries and their gradients, twice two numbers of 64 queries.
  SHARED_BYTES(T, memory);
  const auto tile = [&](int which) { return Tile<T, most>{memory + which * side * most}; };
  const auto numbers = [&](int turn) { return reinterpret_cast<float*>(memory + 6 * side * most) + turn * 2 * side; };
  const i64 tiles = (n.keys + side - 1) / side, head = blockIdx.x / tiles, own_heads = n.heads / n.shared;
  const i64 first = blockIdx.x % tiles * side, b = head / own_heads, source = head % own_heads;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const i64 own = first + warp * 16, begin = n.causal ? first : 0, rounds = (n.queries - begin + side - 1) / side;
  const float by = exponent_of<Plain>(n);
  // Round r of all: the tile of queries r % rounds of the head r / rounds.
  const auto fill = [&](i64 r) {
    const i64 h = source * n.shared + r / rounds, i0 = begin + r % rounds * side;
    const int turn = r & 1;
    tile(2 + turn * 2).template fill<side, 128>(query.data + b * query.batch + h * query.head, query.row, i0, n.queries,
                                               n.width);
    tile(3 + turn * 2).template fill<side, 128>(grad.data + b * grad.batch + h * grad.head, grad.row, i0, n.queries,
                                               n.value_width);
    const i64 row = i0 + threadIdx.x % side;
    const float* from = threadIdx.x < side ? logsumexp : shifts;
    const bool there = row < n.queries;
    copy_later_4(numbers(turn) + threadIdx.x, from + (there ? (b * n.heads + h) * n.queries + row : 0), there);
  };
  float of_key[columns][4] = {}, of_value[columns][4] = {};
  const i64 all = rounds > 0 ? rounds * n.shared : 0;
  tile(0).template fill<side, 128>(key.data + b * key.batch + source * key.head, key.row, first, n.keys, n.width);
  tile(1).template fill<side, 128>(value.data + b * value.batch + source * value.head, value.row, first, n.keys,
                                   n.value_width);
  if (all) fill(0);
  wait_for_copies();
  __syncthreads();
  u32 keys[Quads == 1 ? steps : 1][4], values[Quads == 1 ? steps : 1][4];  // as `left` of attend_by_warps
  if (Quads == 1)
#pragma unroll
    for (int i = 0; i < steps; i++) {
      tile(0).left(keys[Quads == 1 ? i : 0], warp * 16, i, lane);
      tile(1).left(values[Quads == 1 ? i : 0], warp * 16, i, lane);
    }
  for (i64 r = 0; r < all; r++) {
    if (r + 1 < all) fill(r + 1);
    const i64 h = source * n.shared + r / rounds, i0 = begin + r % rounds * side;
    const Tile<T, most> queries = tile(2 + (r & 1) * 2), grads = tile(3 + (r & 1) * 2);
    if (!n.causal || own <= i0 + side - 1) {
      float s[8][4] = {}, d[8][4] = {};
#pragma unroll
      for (int i = 0; i < steps; i++) {
        if (Quads > 1) {
          tile(0).left(keys[0], warp * 16, i, lane);
          tile(1).left(values[0], warp * 16, i, lane);
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
          u32 right[4];
          queries.right(right, j * 16, i, lane);
          multiply_warp(s[2 * j], keys[Quads == 1 ? i : 0], right[0], right[1], T());
          multiply_warp(s[2 * j + 1], keys[Quads == 1 ? i : 0], right[2], right[3], T());
          grads.right(right, j * 16, i, lane);
          multiply_warp(d[2 * j], values[Quads == 1 ? i : 0], right[0], right[1], T());
          multiply_warp(d[2 * j + 1], values[Quads == 1 ? i : 0], right[2], right[3], T());
        }
      }
      const float* of = numbers(static_cast<int>(r & 1));
      if (!Plain || first + side > n.keys || i0 + side > n.queries || (n.causal && own + 15 > i0))
#pragma unroll
        for (int half = 0; half < 2; half++) {
          const i64 column = own + half * 8 + g;
          // Of the 64 queries from i0 on those see the key that are not before it, and are there.
          const int from = column >= n.keys ? tile_side : n.causal ? clamped(column - i0) : 0;
          const int behind = clamped(n.queries - i0);
#pragma unroll
          for (int j = 0; j < 8; j++)
#pragma unroll
            for (int e = 0; e < 2; e++) {
              float& x = s[j][half * 2 + e];
              const int row = j * 8 + 2 * t + e;
              if (!Plain)
                x = score<T>(n, b, h, i0 + row, column, x);
              else if (row < from || row >= behind)
                x = -infinity<float>();
            }
        }
#pragma unroll
      for (int j = 0; j < 8; j++)
#pragma unroll
        for (int e = 0; e < 2; e++) {
          const float logsumexp_of = of[j * 8 + 2 * t + e], shift = of[side + j * 8 + 2 * t + e];
          weigh(s[j][e], d[j][e], by, logsumexp_of, shift);
          weigh(s[j][2 + e], d[j][2 + e], by, logsumexp_of, shift);
        }
#pragma unroll
      for (int i = 0; i < 4; i++) {
        u32 weights[4], of_scores[4];
#pragma unroll
        for (int w = 0; w < 4; w++) {
          weights[w] = rounded(s[2 * i + w / 2][w % 2 * 2], s[2 * i + w / 2][w % 2 * 2 + 1], T());
          of_scores[w] = rounded(d[2 * i + w / 2][w % 2 * 2], d[2 * i + w / 2][w % 2 * 2 + 1], T());
        }
#pragma unroll
        for (int c = 0; c < columns / 2; c++) {
          u32 right[4];
          grads.right_turned(right, i * 16, c, lane);
          multiply_warp(of_value[2 * c], weights, right[0], right[1], T());
          multiply_warp(of_value[2 * c + 1], weights, right[2], right[3], T());
          queries.right_turned(right, i * 16, c, lane);
          multiply_warp(of_key[2 * c], of_scores, right[0], right[1], T());
          multiply_warp(of_key[2 * c + 1], of_scores, right[2], right[3], T());
        }
      }
    }
    wait_for_copies();
    __syncthreads();
  }
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const i64 row = own + half * 8 + g;
    if (row >= n.keys) continue;
#pragma unroll
    for (int c = 0; c < columns; c++) {
      if (to_key.data && c * 8 < n.width)
        *reinterpret_cast<u32*>(&to_key.at(b, source, row, c * 8 + 2 * t)) =
            rounded(of_key[c][half * 2] * (float)n.scale, of_key[c][half * 2 + 1] * (float)n.scale, T());
      if (to_value.data && c * 8 < n.value_width)
        *reinterpret_cast<u32*>(&to_value.at(b, source, row, c * 8 + 2 * t)) =
            rounded(of_value[c][half * 2], of_value[c][half * 2 + 1], T());
    }
  }
}
