// The blocks of scores that attention and its gradients compute: operands, masks, dropout of weights, and scores.
#pragma once

#include <limits>

#include "backends/cpu/attention.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/multiply.h"
#include "backends/cpu/random.h"

namespace lamella::cpu {

inline constexpr int64_t query_block = 128, key_block = 256;

inline const AttentionLoops& attention_loops_for(int dtype) {
  static const auto chosen = LAMELLA_BY_ISA(attention_loops);
  return *chosen(dtype);
}

// Returns whether the last dimension has no gaps.
inline bool has_rows(const lamella_tensor* t) {
  const int last = t->dl.ndim - 1;
  return t->dl.shape[last] <= 1 || t->dl.strides[last] == 1;
}

// An operand of four dimensions in the dtype of the computation, with no gaps in the last dimension.
struct AttentionOperand : Operand {
  AttentionOperand() = default;
  AttentionOperand(const Tensor& t, int dtype) : Operand(t.get(), dtype, has_rows(t.get())) {}

  template <class T>
  Block<const T> head(int64_t b, int64_t h) const {
    const int64_t* strides = get()->dl.strides;
    return {data<T>() + b * strides[0] + h * strides[1], strides[2]};
  }
};

// The mask, whose dimensions broadcast to (batch, heads, queries, keys).
struct AttentionMask {
  Operand t;
  bool bools = false;
  int64_t item = 1, strides[4] = {0, 0, 0, 0};

  AttentionMask() = default;
  AttentionMask(const lamella_tensor* from, int dtype) {
    if (!from) return;
    bools = from->dtype == LAMELLA_BOOL;
    t = Operand(from, bools ? static_cast<int>(LAMELLA_BOOL) : dtype, true);
    item = itemsize(t.get());
    const int n = t->dl.ndim;
    for (int d = 0; d < n; d++) strides[4 - n + d] = t->dl.shape[d] == 1 ? 0 : t->dl.strides[d];
  }
  const char* at(int64_t b, int64_t h, int64_t i, int64_t j) const {
    if (!t) return nullptr;
    return t.data() + item * (b * strides[0] + h * strides[1] + i * strides[2] + j * strides[3]);
  }
};

struct AttentionSizes {
  int64_t batch, heads, key_heads, queries, keys, width, value_width;
  double scale;
  bool causal;

  int64_t group() const { return key_heads ? heads / key_heads : 1; }
  // Returns how many of the first keys query i may attend to; the mask can exclude some of these.
  int64_t seen(int64_t i) const { return causal ? std::min(i + 1, keys) : keys; }
};

inline AttentionSizes sizes_of(const lamella_tensor* q, const lamella_tensor* k, const lamella_tensor* v, double scale,
                               bool causal) {
  return {q->dl.shape[0], q->dl.shape[1], k->dl.shape[1], q->dl.shape[2], k->dl.shape[2],
          q->dl.shape[3], v->dl.shape[3], scale,          causal};
}

// Writes a block of keys or values to `to`, transposed: its rows become columns.
template <class T>
inline void turn(int64_t rows, int64_t columns, const Block<const T>& from, T* to) {
  constexpr auto item = static_cast<int64_t>(sizeof(T));
  pack_of(item)(columns, rows, reinterpret_cast<char*>(to), rows * item, reinterpret_cast<const char*>(from.data), item,
                from.row * item);
}

// Dropout of weights: chooses the weights that stay by their places in the matrix of all scores.
struct Dropped {
  Stream stream{0, 0};
  float keep = 1;
  double by = 1;  // the factor of the weights that stay
  bool on = false;

  void begin(uint64_t seed, uint64_t offset, double p) {
    stream = {seed, offset / 4};
    keep = static_cast<float>(1 - p);
    by = p == 1 ? 0 : 1 / (1 - p);
    on = true;
  }
  void read(const lamella_tensor* words, double p) {
    if (p == 0) return;
    auto* w = static_cast<const int64_t*>(words->dl.data);
    begin(static_cast<uint64_t>(w[0]), static_cast<uint64_t>(w[words->dl.strides[0]]), p);
  }
  // Writes to `buffer`, for `count` weights (at most a block) from place `first` on, 1 if the weight stays, else 0.
  // Returns the address of the first: up to three other numbers lie before it, since a counter gives four words.
  const float* kept(int64_t first, int64_t count, float* buffer) const {
    static const RandomLoops& random = LAMELLA_BY_ISA(random_loops)();
    const int64_t skip = first % 4;
    random.bernoulli({stream.seed, stream.counter + static_cast<uint64_t>(first / 4)}, count + skip, buffer, keep);
    return buffer + skip;
  }
};
inline constexpr int64_t kept_space = key_block + 4;

template <class T>
struct Attention {
  AttentionSizes n;
  const AttentionLoops& loops;
  AttentionOperand q, k, v;
  AttentionMask mask;
  Dropped dropped;

  // Returns the place of the weight of a query and a key in the matrix of all scores.
  int64_t place(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return ((b * n.heads + h) * n.queries + i) * n.keys + j;
  }

  void open(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask, int dtype) {
    q = {query, dtype};
    k = {key, dtype};
    v = {value, dtype};
    mask = {attn_mask.get(), dtype};
  }

  // Computes the scores of `rows` queries from i0 with `columns` keys from j0, scaled and masked; -inf for a key that
  // the query does not attend to.
  void scores(const Multiplier<T>& multiply, int64_t b, int64_t h, int64_t i0, int64_t rows, int64_t j0,
              int64_t columns, const Block<const T>& keys, const Block<T>& to) const {
    multiply(rows, columns, n.width, q.template head<T>(b, h).from(i0), keys, to);
    for (int64_t i = 0; i < rows; i++) {
      T* row = to.data + i * to.row;
      const int64_t seen = std::clamp<int64_t>(n.seen(i0 + i) - j0, 0, columns);
      loops.masked(seen, row, n.scale, mask.at(b, h, i0 + i, j0), mask.strides[3], mask.bools);
      std::fill(row + seen, row + columns, -std::numeric_limits<T>::infinity());
    }
  }
};

inline int attention_dtype(const Tensor& query) {
  return query.get()->dtype == LAMELLA_FLOAT64 ? LAMELLA_FLOAT64 : LAMELLA_FLOAT32;
}

// Returns a result in the dtype of the computation whose rows have no gaps; an absent result stays absent.
inline Result attention_result(const lamella_tensor* out, int dtype) { return {out, dtype, !out || has_rows(out)}; }

}  // namespace lamella::cpu
