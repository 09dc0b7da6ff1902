// Attention and its gradients by the matrix instruction of four warps, for the operands of attention_warps.cu; for
// float32 by the instruction of one warp. See Note [Groups] of groups.cuh, and the notes of attention.cuh.
#include "attention.cuh"
#include "groups.cuh"

template <class T>
DEVICE T* aligned_for_groups(char* bytes) {
  return reinterpret_cast<T*>(bytes + (1024 - reinterpret_cast<u64>(bytes) % 1024) % 1024);
}

// The number of instructions that sum over 64 columns.
template <class T>
constexpr int steps_of_tile = 64 / summed_at_once<T>;

// Returns the number of blocks of a gradient that a multiprocessor is to hold. For float32 and for the widest rows,
// shared memory has no room for more.
template <class T>
constexpr int blocks_at_once(int quads, int of_two_bytes) {
  return quads == 4 ? 1 : sizeof(T) == 2 ? of_two_bytes : quads == 1 ? 2 : 1;
}

// Converts sums of a group to the left fragment of step i.
template <class T>
DEVICE void as_left(u32 (&to)[4], const float (&x)[8][4], int i) {
#pragma unroll
  for (int w = 0; w < 4; w++)
    if constexpr (sizeof(T) == 2)
      to[w] = rounded(x[2 * i + w / 2][w % 2 * 2], x[2 * i + w / 2][w % 2 * 2 + 1], T());
    else
      to[w] = bits_as<u32>(x[i][w % 2 * 2 + w / 2]);  // see Note [Split floats]
}
// Adds x times a tile of float32 to the sums. The sums of a tile are computed on their own first: the instruction
// rounds towards zero whenever it adds, and over many tiles these errors would add up.
DEVICE void add_tile(float (&sums)[8][4], const float (&x)[8][4], const Tile<float, 64>& tile) {
#pragma unroll
  for (int half = 0; half < 2; half++) {
    float part[4][4] = {};
#pragma unroll
    for (int i = 0; i < steps_of_tile<float>; i++) {
      u32 left[4];
      as_left<float>(left, x, i);
      multiply_group_turned(part, left, tile, i, half);
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
#pragma unroll
      for (int e = 0; e < 4; e++) sums[half * 4 + k][e] += part[k][e];
  }
}
// Adds x times a matrix of Quads tiles to the sums; tile(p) returns tile p.
template <class T, int Quads, class TileOf>
DEVICE void add_product(float (&sums)[Quads][8][4], const float (&x)[8][4], TileOf tile) {
  if constexpr (sizeof(T) == 4) {
#pragma unroll
    for (int p = 0; p < Quads; p++) add_tile(sums[p], x, tile(p));
  } else {
    constexpr int each = steps_of_tile<T>;
    u32 left[each][4];
#pragma unroll
    for (int i = 0; i < each; i++) as_left<T>(left[i], x, i);
    begin_group(sums);
#pragma unroll
    for (int p = 0; p < Quads; p++)
#pragma unroll
      for (int i = 0; i < each; i++) multiply_group_turned(sums[p], left[i], tile(p), i);
    end_group(sums);
  }
}
// Writes row half * 8 + g of a warp: 64 sums of multiply_group_turned times `by`, of which the first `width` exist.
template <class T>
DEVICE void write_sums(T* to, const float (&x)[8][4], int half, float by, i64 width) {
  const int t = threadIdx.x % 4;
  if constexpr (sizeof(T) == 2) {
#pragma unroll
    for (int j = 0; j < 8; j++)
      if (j * 8 < width)
        *reinterpret_cast<u32*>(to + j * 8 + 2 * t) = rounded(x[j][half * 2] * by, x[j][half * 2 + 1] * by, T());
  } else {
#pragma unroll
    for (int e = 0; e < 2; e++)
#pragma unroll
      for (int j = 0; j < 8; j += 4) {
        const int c = column_of_product(j, 2 * t + e);
        Pack<T, 4> four;
#pragma unroll
        for (int k = 0; k < 4; k++) four.v[k] = x[j + k][half * 2 + e] * by;
        if (c < width) *reinterpret_cast<Pack<T, 4>*>(to + c) = four;
      }
  }
}

// Attention as in attend_by_warps, by two groups with 64 queries each.
template <class T, int Quads, bool Plain>
__global__ void __launch_bounds__(256, Quads == 1 ? 2 : 1)
    attend_by_groups(Heads<T> query, Heads<T> key, Heads<T> value, Heads<T> out, float* logsumexp, AttentionSizes n) {
  constexpr int each = steps_of_tile<T>, steps = each * Quads, rows_of_block = 128, side = tile_side, area = 64 * 64;
  SHARED_BYTES(char, bytes);
  T* const memory = aligned_for_groups<T>(bytes);
  // Shared memory has queries by columns of 64, [Quads][128][64], then twice keys and values, [Quads][64][64] each.
  const i64 tiles = (n.queries + rows_of_block - 1) / rows_of_block, head = blockIdx.x / tiles;
  const i64 first = (tiles - 1 - blockIdx.x % tiles) * rows_of_block, b = head / n.heads, h = head % n.heads;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const T *q = query.data + b * query.batch + h * query.head, *k = key.data + b * key.batch + h / n.shared * key.head;
  const T* v = value.data + b * value.batch + h / n.shared * value.head;
  const i64 of_group = first + warp / 4 * 64, own = first + warp * 16;
  const i64 end = keys_seen(n, first + rows_of_block < n.queries ? first + rows_of_block : n.queries);
  const float by = exponent_of<Plain>(n);
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
  // Returns columns 64 * p to 64 * p + 63 of the queries of this warp's group.
  const auto queries = [&](int p) { return Tile<T, 64>{memory + (2 * p + warp / 4) * area}; };

  float top[2] = {-infinity<float>(), -infinity<float>()}, sum[2] = {0, 0}, result[Quads][8][4] = {};
  int turn = 0;
  for (i64 j0 = 0; j0 < end; j0 += side, turn ^= 1) {
    if (j0 + side < end) fill(j0 + side, turn ^ 1);
    if (!n.causal || j0 <= of_group + 63) {
      float scores[1][8][4] = {};
      float(&s)[8][4] = scores[0];
      begin_group(scores);
#pragma unroll(sizeof(T) == 2 ? steps : 2)
      for (int i = 0; i < steps; i++) multiply_group(s, queries(i / each), keys(turn, i / each), i % each);
      end_group(scores);
      if (!Plain || j0 + side > n.keys || (n.causal && j0 + side - 1 > own)) hide<T, Plain>(s, n, b, h, own, j0);
#pragma unroll
      for (int half = 0; half < 2; half++) {
        float raised = top[half];
#pragma unroll
        for (int j = 0; j < 8; j++) raised = fmaxf(raised, fmaxf(s[j][half * 2], s[j][half * 2 + 1]));
        raised = fmaxf(raised, __shfl_xor_sync(~0u, raised, 1));
        raised = fmaxf(raised, __shfl_xor_sync(~0u, raised, 2));
        const float from = raised == -infinity<float>() ? 0.0f : raised;
        const float less = weight_of<Plain>(top[half], from, by);
        float part = 0;
#pragma unroll
        for (int j = 0; j < 8; j++) {
          float &x = s[j][half * 2], &y = s[j][half * 2 + 1];
          x = weight_of<Plain>(x, from, by), y = weight_of<Plain>(y, from, by);
          part += x + y;
        }
        sum[half] = sum[half] * less + part;  // the sum over this lane's columns
        top[half] = raised;
#pragma unroll
        for (int p = 0; p < Quads; p++)
#pragma unroll
          for (int c = 0; c < 8; c++) {
            result[p][c][half * 2] *= less;
            result[p][c][half * 2 + 1] *= less;
          }
      }
      if (!Plain && n.words)
        drop(n, b, h, own, j0, [&](int j, int e, float factor) { s[j][e] *= factor; });
      add_product<T>(result, s, [&](int p) { return values(turn, p); });
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
#pragma unroll
    for (int p = 0; p < Quads; p++)
      write_sums(&out.at(b, h, row, p * 64), result[p], half, share, n.value_width - p * 64);
    if (t == 0) logsumexp[head * n.queries + row] = all == 0 ? 0.0f : top[half] * (by / log2_of_e) + logarithm(all);
  }
}

// s is the score of a query and a key, without the scale if Plain; d is the product of the gradient of the query's
// output and the value. weigh() turns s into the weight times dropout's `factor`, and d into the gradient of the score.
template <bool Plain>
DEVICE void weigh(float& s, float& d, float by, float logsumexp, float shift, float factor) {
  s = Plain ? power_of_two(s * by - logsumexp * log2_of_e) : power_of_two((s - logsumexp) * log2_of_e);
  d = s * (d * factor - shift);
  s *= factor;
}

// Matrices of Quads * 64 columns in shared memory. Part p of a matrix is a tile of 64 rows and 64 columns.
template <class T, int Quads>
struct Matrices {
  T* memory;
  DEVICE Tile<T, 64> part(int which, int p) const { return {memory + (which * Quads + p) * 64 * 64}; }
  // Begins to copy 64 rows of a matrix by 128 threads.
  DEVICE void fill(int which, const T* from, i64 step, i64 first, i64 rows, i64 width) const {
#pragma unroll
    for (int p = 0; p < Quads; p++)
      part(which, p).template fill<64, 128>(from + p * 64, step, first, rows, width - p * 64);
  }
};
// Writes a group's rows of 64 * Quads columns, 16 rows a warp, times `by`.
template <class T, int Quads>
DEVICE void write_rows(const Heads<T>& to, i64 b, i64 h, i64 own, i64 rows, i64 width, float by,
                       const float (*x)[8][4]) {
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const i64 row = own + half * 8 + threadIdx.x % 32 / 4;
    if (row >= rows) continue;
#pragma unroll
    for (int p = 0; p < Quads; p++) write_sums(&to.at(b, h, row, p * 64), x[p], half, by, width - p * 64);
  }
}

// Computes the gradient of 64 queries by one group.
template <class T, int Quads, bool Plain>
__global__ void __launch_bounds__(128, blocks_at_once<T>(Quads, Quads == 1 ? 3 : 2))
    backward_query_by_groups(Heads<T> grad, Heads<T> query, Heads<T> key, Heads<T> value, const float* logsumexp,
                             const float* shifts, Heads<T> to, AttentionSizes n) {
  constexpr int each = steps_of_tile<T>, steps = each * Quads, side = tile_side;
  SHARED_BYTES(char, bytes);
  const Matrices<T, Quads> all{aligned_for_groups<T>(bytes)};  // queries and `grad`, twice keys and values
  const i64 tiles = (n.queries + side - 1) / side, head = blockIdx.x / tiles;
  const i64 first = (tiles - 1 - blockIdx.x % tiles) * side, b = head / n.heads, h = head % n.heads;
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4;
  const T *k = key.data + b * key.batch + h / n.shared * key.head,
          *v = value.data + b * value.batch + h / n.shared * value.head;
  const i64 end = keys_seen(n, first + side < n.queries ? first + side : n.queries), own = first + warp * 16;
  const float by = exponent_of<Plain>(n);
  const auto fill = [&](i64 j0, int turn) {
    all.fill(2 + turn * 2, k, key.row, j0, n.keys, n.width);
    all.fill(3 + turn * 2, v, value.row, j0, n.keys, n.value_width);
  };
  all.fill(0, query.data + b * query.batch + h * query.head, query.row, first, n.queries, n.width);
  all.fill(1, grad.data + b * grad.batch + h * grad.head, grad.row, first, n.queries, n.value_width);
  fill(0, 0);
  wait_for_copies();
  show_to_groups();
  __syncthreads();
  float sums_of[2], shift_of[2], result[Quads][8][4] = {};
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const i64 row = own + half * 8 + g, at = head * n.queries + (row < n.queries ? row : 0);
    sums_of[half] = logsumexp[at];
    shift_of[half] = shifts[at];
  }
  int turn = 0;
  for (i64 j0 = 0; j0 < end; j0 += side, turn ^= 1) {
    if (j0 + side < end) fill(j0 + side, turn ^ 1);
    float both[2][8][4] = {};
    float(&s)[8][4] = both[0], (&d)[8][4] = both[1];
    begin_group(both);
#pragma unroll(sizeof(T) == 2 ? steps : 2)
    for (int i = 0; i < steps; i++) {
      multiply_group(s, all.part(0, i / each), all.part(2 + turn * 2, i / each), i % each);
      multiply_group(d, all.part(1, i / each), all.part(3 + turn * 2, i / each), i % each);
    }
    end_group(both);
    if (!Plain || j0 + side > n.keys || (n.causal && j0 + side - 1 > own)) hide<T, Plain>(s, n, b, h, own, j0);
    const auto weigh_one = [&](int j, int e, float factor) {
      weigh<Plain>(s[j][e], d[j][e], by, sums_of[e / 2], shift_of[e / 2], factor);
    };
    if (!Plain && n.words)
      drop(n, b, h, own, j0, weigh_one);
    else
#pragma unroll
      for (int j = 0; j < 8; j++)
#pragma unroll
        for (int e = 0; e < 4; e++) weigh_one(j, e, 1);
    add_product<T>(result, d, [&](int p) { return all.part(2 + turn * 2, p); });
    wait_for_copies();
    show_to_groups();
    __syncthreads();
  }
  write_rows<T, Quads>(to, b, h, own, n.queries, n.width, (float)n.scale, result);
}

// Computes the gradients of 64 keys and values of one head by one group, from all queries of all heads that share it,
// in order. Everything is transposed: rows are keys, and columns are queries. The kernel sums for keys, for values or
// for both, since for the widest rows registers have no room for both. A null result is omitted.
template <class T, int Quads, bool Plain, bool Keys, bool Values>
__global__ void __launch_bounds__(128, blocks_at_once<T>(Quads, Quads == 1 && Plain ? 3 : 2))
    backward_key_by_groups(Heads<T> grad, Heads<T> query, Heads<T> key, Heads<T> value, const float* logsumexp,
                           const float* shifts, Heads<T> to_key, Heads<T> to_value, AttentionSizes n) {
  constexpr int each = steps_of_tile<T>, steps = each * Quads, side = tile_side;
  // Shared memory has keys and values, twice queries and `grad`, and twice logsumexp and shifts of 64 queries.
  SHARED_BYTES(char, bytes);
  const Matrices<T, Quads> all{aligned_for_groups<T>(bytes)};
  const auto numbers = [&](int turn) { return reinterpret_cast<float*>(all.part(6, 0).data) + turn * 2 * side; };
  const i64 tiles = (n.keys + side - 1) / side, head = blockIdx.x / tiles, own_heads = n.heads / n.shared;
  const i64 first = blockIdx.x % tiles * side, b = head / own_heads, source = head % own_heads;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const i64 own = first + warp * 16, begin = n.causal ? first : 0, rounds = (n.queries - begin + side - 1) / side;
  const float by = exponent_of<Plain>(n);
  // fill(r) begins to copy the tile of queries r % rounds of the head r / rounds.
  const auto fill = [&](i64 r) {
    const i64 h = source * n.shared + r / rounds, i0 = begin + r % rounds * side;
    const int turn = r & 1;
    all.fill(2 + turn * 2, query.data + b * query.batch + h * query.head, query.row, i0, n.queries, n.width);
    all.fill(3 + turn * 2, grad.data + b * grad.batch + h * grad.head, grad.row, i0, n.queries, n.value_width);
    const i64 row = i0 + threadIdx.x % side;
    const float* from = threadIdx.x < side ? logsumexp : shifts;
    const bool there = row < n.queries;
    copy_later_4(numbers(turn) + threadIdx.x, from + (there ? (b * n.heads + h) * n.queries + row : 0), there);
  };
  constexpr int of_values = Keys ? Quads : 0;
  float sums[of_values + (Values ? Quads : 0)][8][4] = {};  // the sums of keys, then those of values
  const i64 count = rounds > 0 ? rounds * n.shared : 0;
  all.fill(0, key.data + b * key.batch + source * key.head, key.row, first, n.keys, n.width);
  all.fill(1, value.data + b * value.batch + source * value.head, value.row, first, n.keys, n.value_width);
  if (count) fill(0);
  wait_for_copies();
  show_to_groups();
  __syncthreads();
  for (i64 r = 0; r < count; r++) {
    if (r + 1 < count) fill(r + 1);
    const i64 h = source * n.shared + r / rounds, i0 = begin + r % rounds * side;
    const int queries = 2 + (r & 1) * 2, grads = queries + 1;
    float both[2][8][4] = {};
    float(&s)[8][4] = both[0], (&d)[8][4] = both[1];
    begin_group(both);
#pragma unroll(sizeof(T) == 2 ? steps : 2)
    for (int i = 0; i < steps; i++) {
      multiply_group(s, all.part(0, i / each), all.part(queries, i / each), i % each);
      if (Keys) multiply_group(d, all.part(1, i / each), all.part(grads, i / each), i % each);
    }
    end_group(both);
    const float* of = numbers(static_cast<int>(r & 1));
    if (!Plain || first + side > n.keys || i0 + side > n.queries || (n.causal && own + 15 > i0))
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const i64 column = own + half * 8 + g;
        // Of the 64 queries from i0 on, the key is hidden from those before `from`, and those from `behind` on do not
        // exist.
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
#pragma unroll
        for (int half = 0; half < 2; half++) {
          float factor = 1;
          if (!Plain && n.words) {
            Dropout dropout(n);
            factor = (float)dropout.factor(dropout.place(b, h, i0 + j * 8 + 2 * t + e, own + half * 8 + g));
          }
          weigh<Plain>(s[j][half * 2 + e], d[j][half * 2 + e], by, logsumexp_of, shift, factor);
        }
      }
    if constexpr (sizeof(T) == 4) {
#pragma unroll
      for (int p = 0; p < Quads; p++) {
        if constexpr (Keys) add_tile(sums[p], d, all.part(queries, p));
        if constexpr (Values) add_tile(sums[of_values + p], s, all.part(grads, p));
      }
    } else {
      u32 weights[each][4], of_scores[each][4];
#pragma unroll
      for (int i = 0; i < each; i++) {
        as_left<T>(weights[i], s, i);
        as_left<T>(of_scores[i], d, i);
      }
      begin_group(sums);
#pragma unroll
      for (int p = 0; p < Quads; p++)
#pragma unroll
        for (int i = 0; i < each; i++) {
          if constexpr (Keys) multiply_group_turned(sums[p], of_scores[i], all.part(queries, p), i);
          if constexpr (Values) multiply_group_turned(sums[of_values + p], weights[i], all.part(grads, p), i);
        }
      end_group(sums);
    }
    wait_for_copies();
    show_to_groups();
    __syncthreads();
  }
  if (Keys && to_key.data) write_rows<T, Quads>(to_key, b, source, own, n.keys, n.width, (float)n.scale, sums);
  if (Values && to_value.data) write_rows<T, Quads>(to_value, b, source, own, n.keys, n.value_width, 1, sums + of_values);
}
