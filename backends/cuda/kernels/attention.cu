// Attention and its gradients by tiles of 64 queries and 64 keys, so that the matrix of all scores never exists.
//
// Note [Online softmax]  A block of queries goes through the keys tile by tile. `top` and `sum` are the largest score
//   so far and the sum of e^(score - top). When a tile raises `top`, the earlier sums are scaled down (Milakov and
//   Gimelshein, 2018; Dao et al., 2022). From logsumexp = top + log(sum) alone the gradients compute each weight again.
//   A query without any key to attend to gets zeros, and 0 for its logsumexp.
// Note [Threads of a tile]  256 threads form a square of 16 by 16. Thread (ty, tx) has rows ty * 4 to ty * 4 + 3 and
//   columns tx * 4 to tx * 4 + 3 of the scores. Of a result with more columns, it has these four of every 64 columns.
#include "attention.cuh"

// load_turned() copies columns from k0 on of 64 rows to to[column][row]. A warp copies 16 columns of 8 rows, so that it
// reads few lines of memory and meets few conflicts of banks.
template <class T>
DEVICE void load_turned(Wide<T> (*to)[tile_pitch], const Head<T>& x, i64 first, i64 rows, i64 k0, i64 width) {
  constexpr int depth = AttentionSpace<Wide<T>>::depth;
  const int r = threadIdx.x / 4;
#pragma unroll
  for (int d = threadIdx.x % 4 * 4; d < depth; d += 16) {
    Wide<T> y[4] = {};
    if (first + r < rows) x.four(y, first + r, k0 + d, width);
#pragma unroll
    for (int c = 0; c < 4; c++) to[d + c][r] = y[c];
  }
}
// load_rows() copies `depth` rows of 64 columns from c0 on to to[row][column].
template <class T>
DEVICE void load_rows(Wide<T> (*to)[tile_pitch], const Head<T>& x, i64 first, i64 rows, i64 c0, i64 width) {
  constexpr int depth = AttentionSpace<Wide<T>>::depth;
  const int c = threadIdx.x % 16 * 4;
#pragma unroll
  for (int r = threadIdx.x / 16; r < depth; r += 16) {
    Wide<T> y[4] = {};
    if (first + r < rows && c0 + c < width) x.four(y, first + r, c0 + c, width);
    *reinterpret_cast<Pack<Wide<T>, 4>*>(&to[r][c]) = *reinterpret_cast<const Pack<Wide<T>, 4>*>(y);
  }
}
// Adds the products of the four numbers at u and the four at v to columns `at` to `at` + 3 of the sums.
template <class W, int Wide4>
DEVICE void multiply_four(W (&sums)[4][Wide4], int at, const W* u, const W* v) {
  const Pack<W, 4> x = *reinterpret_cast<const Pack<W, 4>*>(u), y = *reinterpret_cast<const Pack<W, 4>*>(v);
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) sums[i][at + j] += x.v[i] * y.v[j];
}

// Adds the products of 64 rows of a and 64 rows of b. With `there`, space.left has the rows of a already.
template <class T>
DEVICE void multiply_rows(const Head<T>& a, i64 a_first, i64 a_rows, const Head<T>& b, i64 b_first, i64 b_rows, i64 depth,
                          AttentionSpace<Wide<T>>& space, Wide<T> (&sums)[4][4], bool there = false) {
  const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
  for (i64 k = 0; k < depth; k += AttentionSpace<Wide<T>>::depth) {
    __syncthreads();
    if (!there) load_turned<T>(space.left, a, a_first, a_rows, k, depth);
    load_turned<T>(space.right, b, b_first, b_rows, k, depth);
    __syncthreads();
#pragma unroll 16
    for (int d = 0; d < AttentionSpace<Wide<T>>::depth; d++) multiply_four(sums, 0, &space.left[d][ty * 4], &space.right[d][tx * 4]);
  }
}

// Puts a tile into shared memory, transposed if Turned.
template <bool Turned, class W>
DEVICE void keep_tile(AttentionSpace<W>& space, const W (&x)[4][4]) {
  const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    Pack<W, 4> four;
#pragma unroll
    for (int j = 0; j < 4; j++) four.v[j] = Turned ? x[j][i] : x[i][j];
    *reinterpret_cast<Pack<W, 4>*>(Turned ? &space.tile[tx * 4 + i][ty * 4] : &space.tile[ty * 4 + i][tx * 4]) = four;
  }
}

// Adds the transpose of the tile in `space` times x, 64 rows of `width` columns. Columns 4 q to 4 q + 3 of sums are for
// columns from q * 64 on.
template <class T, int Quads>
DEVICE void multiply_tile(AttentionSpace<Wide<T>>& space, const Head<T>& x, i64 first, i64 rows, i64 width,
                          Wide<T> (&sums)[4][4 * Quads]) {
  constexpr int depth = AttentionSpace<Wide<T>>::depth;
  const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
#pragma unroll
  for (int q = 0; q < Quads; q++) {
    if (q * 64 >= width) break;
    for (int k = 0; k < tile_side; k += depth) {
      __syncthreads();
      load_rows<T>(space.right, x, first + k, rows, q * 64, width);
      __syncthreads();
#pragma unroll 16
      for (int d = 0; d < depth; d++) multiply_four(sums, q * 4, &space.tile[k + d][ty * 4], &space.right[d][tx * 4]);
    }
  }
}

// Folds over the 16 threads of a row, which are half a warp.
template <class Fold, class W>
DEVICE W fold_row(W x, Fold fold) {
#pragma unroll
  for (int apart = 8; apart > 0; apart /= 2) x = fold(x, __shfl_xor_sync(~0u, x, apart));
  return x;
}

template <class T, int Quads>
__global__ void __launch_bounds__(256)
    attend(Heads<T> query, Heads<T> key, Heads<T> value, Heads<T> out, Wide<T>* logsumexp, AttentionSizes n) {
  typedef Wide<T> W;
  SHARED_BYTES(AttentionSpace<W>, space_at);
  AttentionSpace<W>& space = *space_at;
  const i64 tiles = (n.queries + tile_side - 1) / tile_side, head = blockIdx.x / tiles;
  const i64 first = (tiles - 1 - blockIdx.x % tiles) * tile_side;  // causal attention runs the longest tiles first
  const i64 b = head / n.heads, h = head % n.heads;
  const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
  const Head<T> q = head_of(query, b, h), k = head_of(key, b, h / n.shared), v = head_of(value, b, h / n.shared);
  W top[4], sum[4], result[4][4 * Quads];
#pragma unroll
  for (int i = 0; i < 4; i++) {
    top[i] = -infinity<W>();
    sum[i] = 0;
#pragma unroll
    for (int j = 0; j < 4 * Quads; j++) result[i][j] = 0;
  }
  const i64 end = keys_seen(n, first + tile_side < n.queries ? first + tile_side : n.queries);
  const auto drop_row = [&](W (&s)[4], int i, i64 j0) {
    Dropout dropout(n);
#pragma unroll
    for (int j = 0; j < 4; j++) s[j] *= (W)dropout.factor(dropout.place(b, h, first + ty * 4 + i, j0 + tx * 4 + j));
  };
  const bool narrow_rows = n.width <= AttentionSpace<W>::depth;
  if (narrow_rows) load_turned<T>(space.left, q, first, n.queries, 0, n.width);
  for (i64 j0 = 0; j0 < end; j0 += tile_side) {
    W s[4][4] = {};
    multiply_rows<T>(q, first, n.queries, k, j0, n.keys, n.width, space, s, narrow_rows);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      W raised = top[i];
#pragma unroll
      for (int j = 0; j < 4; j++) {
        s[i][j] = score<T>(n, b, h, first + ty * 4 + i, j0 + tx * 4 + j, s[i][j]);
        raised = s[i][j] > raised || s[i][j] != s[i][j] ? s[i][j] : raised;
      }
      raised = fold_row(raised, [](W x, W y) { return x > y || x != x ? x : y; });
      const W from = raised == -infinity<W>() ? W(0) : raised, less = exponential(top[i] - from);
      W part = 0;
#pragma unroll
      for (int j = 0; j < 4; j++) {
        s[i][j] = exponential(s[i][j] - from);
        part += s[i][j];
      }
      sum[i] = sum[i] * less + fold_row(part, [](W x, W y) { return x + y; });
      top[i] = raised;
      if (n.words) drop_row(s[i], i, j0);
#pragma unroll
      for (int j = 0; j < 4 * Quads; j++) result[i][j] *= less;
    }
    keep_tile<true>(space, s);
    multiply_tile<T, Quads>(space, v, j0, n.keys, n.value_width, result);
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const i64 row = first + ty * 4 + i;
    if (row >= n.queries) continue;
    const W by = sum[i] == 0 ? W(0) : 1 / sum[i];
#pragma unroll
    for (int j = 0; j < 4 * Quads; j++) {
      const i64 c = j / 4 * 64 + tx * 4 + j % 4;
      if (c < n.value_width) out.at(b, h, row, c) = narrow<T>(result[i][j] * by);
    }
    if (tx == 0) logsumexp[head * n.queries + row] = sum[i] == 0 ? W(0) : top[i] + logarithm(sum[i]);
  }
}

// Computes shift = the sum of grad_out * out over a row, less the gradient of its logsumexp. A warp computes a row.
template <class T>
__global__ void __launch_bounds__(256)
    attention_shifts(Heads<T> grad, Heads<T> out, const Wide<T>* of_logsumexp, Wide<T>* shifts, AttentionSizes n) {
  const i64 rows = n.batch * n.heads * n.queries, step = (i64)gridDim.x * 8;
  for (i64 r = (i64)blockIdx.x * 8 + threadIdx.x / 32; r < rows; r += step) {
    const i64 i = r % n.queries, h = r / n.queries % n.heads, b = r / n.queries / n.heads;
    const Head<T> x = head_of(grad, b, h), y = head_of(out, b, h);
    Wide<T> sum = 0;
    for (i64 c = threadIdx.x % 32; c < n.value_width; c += 32) sum += x.get(i, c) * y.get(i, c);
    for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(~0u, sum, apart);
    if (threadIdx.x % 32 == 0) shifts[r] = of_logsumexp ? sum - of_logsumexp[r] : sum;
  }
}

// Computes the weights p, times dropout's factors, and the gradients d of the scores of one tile, for the scores that
// this thread has.
template <class T>
DEVICE void tile_gradients(const Head<T>& q, const Head<T>& k, const Head<T>& v, const Head<T>& g,
                           const Wide<T>* logsumexp, const Wide<T>* shifts, const AttentionSizes& n, i64 b, i64 h,
                           i64 i0, i64 j0, AttentionSpace<Wide<T>>& space, Wide<T> (&p)[4][4], Wide<T> (&d)[4][4]) {
  typedef Wide<T> W;
  const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) p[i][j] = d[i][j] = 0;
  multiply_rows<T>(q, i0, n.queries, k, j0, n.keys, n.width, space, p);
  multiply_rows<T>(g, i0, n.queries, v, j0, n.keys, n.value_width, space, d);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const i64 row = i0 + ty * 4 + i, at = (b * n.heads + h) * n.queries + (row < n.queries ? row : 0);
#pragma unroll
    for (int j = 0; j < 4; j++) {
      p[i][j] = exponential(score<T>(n, b, h, row, j0 + tx * 4 + j, p[i][j]) - logsumexp[at]);
      W factor = 1;
      if (n.words) {
        Dropout dropout(n);
        factor = (W)dropout.factor(dropout.place(b, h, row, j0 + tx * 4 + j));
      }
      d[i][j] = p[i][j] * (d[i][j] * factor - shifts[at]);
      p[i][j] *= factor;
    }
  }
}

template <class T, int Quads>
DEVICE void write_tile(const Heads<T>& to, i64 b, i64 h, i64 first, i64 rows, i64 width, Wide<T> by,
                       const Wide<T> (&sums)[4][4 * Quads]) {
  const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4 * Quads; j++) {
      const i64 row = first + ty * 4 + i, c = j / 4 * 64 + tx * 4 + j % 4;
      if (row < rows && c < width) to.at(b, h, row, c) = narrow<T>(sums[i][j] * by);
    }
}

template <class T, int Quads>
__global__ void __launch_bounds__(256)
    attend_backward_query(Heads<T> grad, Heads<T> query, Heads<T> key, Heads<T> value,
                          const Wide<T>* logsumexp, const Wide<T>* shifts, Heads<T> to, AttentionSizes n) {
  typedef Wide<T> W;
  SHARED_BYTES(AttentionSpace<W>, space_at);
  AttentionSpace<W>& space = *space_at;
  const i64 tiles = (n.queries + tile_side - 1) / tile_side, head = blockIdx.x / tiles;
  const i64 first = (tiles - 1 - blockIdx.x % tiles) * tile_side, b = head / n.heads, h = head % n.heads;
  const Head<T> q = head_of(query, b, h), k = head_of(key, b, h / n.shared), v = head_of(value, b, h / n.shared), g = head_of(grad, b, h);
  W sums[4][4 * Quads] = {}, p[4][4], d[4][4];
  const i64 end = keys_seen(n, first + tile_side < n.queries ? first + tile_side : n.queries);
  for (i64 j0 = 0; j0 < end; j0 += tile_side) {
    tile_gradients<T>(q, k, v, g, logsumexp, shifts, n, b, h, first, j0, space, p, d);
    keep_tile<true>(space, d);
    multiply_tile<T, Quads>(space, k, j0, n.keys, n.width, sums);
  }
  write_tile<T, Quads>(to, b, h, first, n.queries, n.width, (W)n.scale, sums);
}

// The gradients of one head's keys and values, from all queries of all heads that share it, in order. A null result is
// omitted.
template <class T, int Quads>
__global__ void __launch_bounds__(256)
    attend_backward_key(Heads<T> grad, Heads<T> query, Heads<T> key, Heads<T> value,
                        const Wide<T>* logsumexp, const Wide<T>* shifts, Heads<T> to_key, Heads<T> to_value, AttentionSizes n) {
  typedef Wide<T> W;
  SHARED_BYTES(AttentionSpace<W>, space_at);
  AttentionSpace<W>& space = *space_at;
  const i64 tiles = (n.keys + tile_side - 1) / tile_side, head = blockIdx.x / tiles, own = n.heads / n.shared;
  const i64 first = blockIdx.x % tiles * tile_side, b = head / own, source = head % own;
  const Head<T> k = head_of(key, b, source), v = head_of(value, b, source);
  W of_key[4][4 * Quads] = {}, of_value[4][4 * Quads] = {}, p[4][4], d[4][4];
  for (i64 h = source * n.shared; h < (source + 1) * n.shared; h++) {
    const Head<T> q = head_of(query, b, h), g = head_of(grad, b, h);
    for (i64 i0 = n.causal ? first : 0; i0 < n.queries; i0 += tile_side) {
      tile_gradients<T>(q, k, v, g, logsumexp, shifts, n, b, h, i0, first, space, p, d);
      if (to_value.data) {
        keep_tile<false>(space, p);
        multiply_tile<T, Quads>(space, g, i0, n.queries, n.value_width, of_value);
        __syncthreads();
      }
      if (to_key.data) {
        keep_tile<false>(space, d);
        multiply_tile<T, Quads>(space, q, i0, n.queries, n.width, of_key);
      }
    }
  }
  if (to_key.data) write_tile<T, Quads>(to_key, b, source, first, n.keys, n.width, (W)n.scale, of_key);
  if (to_value.data) write_tile<T, Quads>(to_value, b, source, first, n.keys, n.value_width, W(1), of_value);
}

// The gradient of a mask that is added. Each element gets the sum of the gradients of the scores that it was added to,
// in a fixed order. Sizes of 1 of the mask broadcast. A block computes a tile of the mask's gradient, or a row or a
// column of 64, or one element.
template <class T, class M>
__global__ void __launch_bounds__(256)
    attend_backward_mask(Heads<T> grad, Heads<T> query, Heads<T> key, Heads<T> value, const Wide<T>* logsumexp,
                         const Wide<T>* shifts, M* to, MaskSizes of, AttentionSizes n) {
  typedef Wide<T> W;
  SHARED_BYTES(AttentionSpace<W>, space_at);
  AttentionSpace<W>& space = *space_at;
  const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
  const i64 row_tiles = (of.queries + tile_side - 1) / tile_side, column_tiles = (of.keys + tile_side - 1) / tile_side;
  const i64 column_tile = blockIdx.x % column_tiles, row_tile = blockIdx.x / column_tiles % row_tiles;
  const i64 own = blockIdx.x / column_tiles / row_tiles, own_b = own / of.heads, own_h = own % of.heads;
  // Along a size of 1 of the mask a block walks over everything, else over its own part.
  const auto first = [](i64 size, i64 mine) { return size == 1 ? 0 : mine; };
  const auto behind = [](i64 size, i64 mine, i64 all, i64 each) { return size == 1 ? all : mine + each; };
  const i64 i_first = first(of.queries, row_tile * tile_side), j_first = first(of.keys, column_tile * tile_side);
  const i64 i_behind = behind(of.queries, i_first, n.queries, tile_side), j_behind = behind(of.keys, j_first, n.keys, tile_side);
  W sums[4][4] = {}, p[4][4], d[4][4];
  for (i64 b = first(of.batch, own_b); b < behind(of.batch, own_b, n.batch, 1); b++)
    for (i64 h = first(of.heads, own_h); h < behind(of.heads, own_h, n.heads, 1); h++) {
      const Head<T> q = head_of(query, b, h), k = head_of(key, b, h / n.shared), v = head_of(value, b, h / n.shared), g = head_of(grad, b, h);
      for (i64 i0 = i_first; i0 < i_behind; i0 += tile_side)
        for (i64 j0 = j_first; j0 < j_behind; j0 += tile_side) {
          if (n.causal && j0 > i0 + tile_side - 1) break;
          tile_gradients<T>(q, k, v, g, logsumexp, shifts, n, b, h, i0, j0, space, p, d);
#pragma unroll
          for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) sums[i][j] += d[i][j];
        }
    }
  __syncthreads();
  keep_tile<false>(space, sums);
  __syncthreads();
  const int rows = of.queries == 1 ? 1 : tile_side, columns = of.keys == 1 ? 1 : tile_side;
  for (int at = threadIdx.x; at < rows * columns; at += 256) {
    const int r = at / columns, c = at % columns;
    const i64 i = (of.queries == 1 ? 0 : i_first) + r, j = (of.keys == 1 ? 0 : j_first) + c;
    W sum = 0;
    for (int x = r; x < (of.queries == 1 ? tile_side : r + 1); x++)
      for (int y = c; y < (of.keys == 1 ? tile_side : c + 1); y++) sum += space.tile[x][y];
    if (i < of.queries && j < of.keys) to[(own * of.queries + i) * of.keys + j] = narrow<M>(sum);
  }
}
