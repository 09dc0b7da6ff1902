// Attention block by block: the scores of some queries with some keys at a time, so that the matrix of all scores never
// exists; its gradient computes the blocks again.
//
// Note [Online softmax]  A block of queries is multiplied by the keys block by block. `top` and `sum` are the largest
//   score so far and the sum of e^(score - top); where a block raises `top`, what was added up before it is scaled down
//   (Milakov and Gimelshein, 2018; Dao et al., 2022). At the end logsumexp = top + log(sum), from which the gradient
//   has each softmax as e^(score - logsumexp). A query without any key to attend to gets zeros, and 0 for its
//   logsumexp. Dropout takes away exponentials once they are in `sum`: Note [Dropped scores] in
//   operators/attention.cpp.
#include <cmath>
#include <limits>

#include "backends/cpu/attention_blocks.h"

namespace lamella::cpu {
namespace {

template <class T>
struct Forward : Attention<T> {
  using Attention<T>::n, Attention<T>::loops;
  const lamella_tensor *out, *logsumexp;

  lamella_status heads(int64_t first, int64_t last) const {
    const int64_t rows = std::min(query_block, n.queries), columns = std::min(key_block, n.keys);
    Multiplier<T> multiply;
    Space space;
    if (lamella_status st = multiply.open(rows, std::max(columns, n.value_width), std::max(n.width, columns)))
      return st;
    const int64_t count = n.width * n.keys + rows * (columns + n.value_width);
    if (lamella_status st = space.take(count * static_cast<int64_t>(sizeof(T)))) return st;
    T* turned = reinterpret_cast<T*>(space.data());
    const Block<T> s{turned + n.width * n.keys, columns}, o{s.data + rows * columns, n.value_width};
    int64_t held = -1;
    for (int64_t at = first; at < last; at++) {
      const int64_t b = at / n.heads, h = at % n.heads, source = h / n.group();
      if (held != b * n.key_heads + source) turn<T>(n.keys, n.width, this->k.template head<T>(b, source), turned);
      held = b * n.key_heads + source;
      const Block<const T> values = this->v.template head<T>(b, source);
      for (int64_t i0 = 0; i0 < n.queries; i0 += query_block) {
        queries(multiply, b, h, i0, std::min(query_block, n.queries - i0), turned, values, s, o);
        if (lamella_status st = api().check_interrupt()) return st;
      }
    }
    return LAMELLA_OK;
  }

  void queries(const Multiplier<T>& multiply, int64_t b, int64_t h, int64_t i0, int64_t rows, const T* turned,
               const Block<const T>& values, const Block<T>& s, const Block<T>& o) const {
    double top[query_block], sum[query_block];
    float buffer[kept_space];
    std::fill(top, top + rows, -std::numeric_limits<double>::infinity());
    std::fill(sum, sum + rows, 0);
    std::fill(o.data, o.data + rows * o.row, T(0));
    const int64_t end = n.seen(i0 + rows - 1);
    for (int64_t j0 = 0; j0 < end; j0 += key_block) {
      const int64_t columns = std::min(key_block, end - j0);
      this->scores(multiply, b, h, i0, rows, j0, columns, {turned + j0, n.keys}, s);
      for (int64_t i = 0; i < rows; i++) {
        const double factor = loops.take(columns, s.data + i * s.row, top + i, sum + i);
        T* row = o.data + i * o.row;
        const auto& drop = this->dropped;
        if (drop.on)
          loops.keep(columns, s.data + i * s.row, drop.kept(this->place(b, h, i0 + i, j0), columns, buffer), 1);
        if (factor != 1 && j0 > 0) loops.scale(n.value_width, row, row, factor);
      }
      multiply(rows, n.value_width, columns, constant(s), values.from(j0), o, true);
    }
    auto* to = static_cast<T*>(out->dl.data) + b * out->dl.strides[0] + h * out->dl.strides[1];
    auto* sums = static_cast<T*>(logsumexp->dl.data) + (b * n.heads + h) * n.queries;
    for (int64_t i = 0; i < rows; i++) {
      const bool none = sum[i] == 0;
      loops.scale(n.value_width, o.data + i * o.row, to + (i0 + i) * out->dl.strides[2],
                  none ? 0 : this->dropped.by / sum[i]);
      sums[i0 + i] = none ? T(0) : static_cast<T>(top[i] + std::log(sum[i]));
    }
  }
};

template <class T>
lamella_status forward(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask,
                       bool causal, double scale, const Dropped& dropped, lamella_tensor* out,
                       lamella_tensor* logsumexp) {
  const int dtype = attention_dtype(query);
  const AttentionSizes n = sizes_of(query.get(), key.get(), value.get(), scale, causal);
  const Result result = attention_result(out, dtype);
  Forward<T> f{{n, attention_loops_for(dtype), {}, {}, {}, {}, dropped}, result.get(), logsumexp};
  f.open(query, key, value, attn_mask, dtype);
  const double work =
      static_cast<double>(n.queries) * static_cast<double>(n.keys) * static_cast<double>(n.width + n.value_width + 8);
  const auto few = static_cast<int64_t>(1e6 / std::max(work, 1.0)) + 1;
  if (n.queries > 0)
    if (lamella_status st =
            parallel_for(0, n.batch * n.heads, few, [&](int64_t first, int64_t last) { return f.heads(first, last); }))
      return st;
  return result.finish();
}

Status attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask, bool is_causal,
                 double scale, const Tensor& out, const Tensor& logsumexp) {
  const auto run = attention_dtype(query) == LAMELLA_FLOAT64 ? forward<double> : forward<float>;
  return run(query, key, value, attn_mask, is_causal, scale, {}, out.get(), logsumexp.get());
}

Status attention_dropout(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask,
                         bool is_causal, double scale, double dropout_p, const Generator& generator, const Tensor& out,
                         const Tensor& logsumexp, const Tensor& words) {
  const auto count = static_cast<uint64_t>(query.get()->dl.shape[0] * query.get()->dl.shape[1] *
                                           query.get()->dl.shape[2] * key.get()->dl.shape[2]);
  uint64_t seed, offset;
  if (lamella_status st = api().generator_reserve(generator.get(), device_of(query.get()), count, &seed, &offset))
    return st;
  auto* w = static_cast<int64_t*>(words.get()->dl.data);
  w[0] = static_cast<int64_t>(seed);
  w[words.get()->dl.strides[0]] = static_cast<int64_t>(offset);
  Dropped dropped;
  if (dropout_p > 0) dropped.begin(seed, offset, dropout_p);
  const auto run = attention_dtype(query) == LAMELLA_FLOAT64 ? forward<double> : forward<float>;
  return run(query, key, value, attn_mask, is_causal, scale, dropped, out.get(), logsumexp.get());
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<attention>(m, "_attention");
  add<attention_dropout>(m, "_attention_dropout");
}

}  // namespace lamella::cpu
