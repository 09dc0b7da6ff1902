// The gradients of attention, block by block: of queries, keys and values, and of a mask that was added.
#include "backends/cpu/attention_blocks.h"
#include "backends/cpu/loops.h"

namespace lamella::cpu {
namespace {

// The weights of a block and the gradients of its scores, which both kinds of gradients here compute again.
template <class T>
struct BlockGradients : Attention<T> {
  using Attention<T>::n, Attention<T>::loops, Attention<T>::dropped;
  AttentionOperand grad, out;
  Operand logsumexp, grad_logsumexp;

  void open(const Tensor& of_out, const Tensor& of_sums, const Tensor& query, const Tensor& key, const Tensor& value,
            const Tensor& attn_mask, const Tensor& made, const Tensor& sums, int dtype) {
    Attention<T>::open(query, key, value, attn_mask, dtype);
    grad = {of_out, dtype};
    out = {made, dtype};
    logsumexp = {sums.get(), dtype};
    grad_logsumexp = {of_sums.get(), dtype};
  }

  // For each row, writes `shift`, which is subtracted from the gradient of every weight, and `sums`, the logsumexp.
  void of_rows(int64_t b, int64_t h, int64_t i0, int64_t rows, double* shift, double* sums) const {
    const Block<const T> g = grad.head<T>(b, h).from(i0), o = out.head<T>(b, h).from(i0);
    const int64_t first = (b * n.heads + h) * n.queries + i0;
    for (int64_t i = 0; i < rows; i++) {
      shift[i] = loops.dot(n.value_width, g.data + i * g.row, o.data + i * o.row);
      if (grad_logsumexp) shift[i] -= static_cast<double>(grad_logsumexp.data<T>()[first + i]);
      sums[i] = static_cast<double>(logsumexp.data<T>()[first + i]);
    }
  }

  struct Corner {
    int64_t b, h, i0, rows, j0, columns;
  };
  // Computes p, the weights after dropout, and d, `by` times the gradient of the scores. Keys and values are given
  // transposed.
  void block(const Multiplier<T>& multiply, const Corner& at, const Block<const T>& keys, const Block<const T>& values,
             const double* shift, const double* sums, double by, const Block<T>& p, const Block<T>& d) const {
    const auto [b, h, i0, rows, j0, columns] = at;
    float buffer[kept_space];
    this->scores(multiply, b, h, i0, rows, j0, columns, keys, p);
    multiply(rows, columns, n.value_width, grad.head<T>(b, h).from(i0), values, d);
    for (int64_t i = 0; i < rows; i++) {
      T *weights = p.data + i * p.row, *of_weights = d.data + i * d.row;
      if (!dropped.on) {
        loops.backward(columns, weights, of_weights, sums[i], shift[i], by);
        continue;
      }
      const float* kept = dropped.kept(this->place(b, h, i0 + i, j0), columns, buffer);
      loops.keep(columns, of_weights, kept, dropped.by);
      loops.backward(columns, weights, of_weights, sums[i], shift[i], by);
      loops.keep(columns, weights, kept, dropped.by);
    }
  }
};

template <class T>
struct Backward : BlockGradients<T> {
  using Attention<T>::n;
  const lamella_tensor *dq, *dk, *dv;

  // Computes pairs [first, last) of a sample and a head of keys, each with all heads of queries that share that head.
  lamella_status heads(int64_t first, int64_t last) const {
    const int64_t rows = std::min(query_block, n.queries), columns = std::min(key_block, n.keys);
    const int64_t width = std::max(n.width, n.value_width), longest = std::max({rows, columns, width});
    Multiplier<T> multiply;
    Space space;
    if (lamella_status st = multiply.open(std::max(rows, columns), longest, longest)) return st;
    const int64_t both = (n.width + n.value_width) * n.keys;
    const int64_t count = 2 * both + 2 * rows * columns + rows * n.width;
    if (lamella_status st = space.take(count * static_cast<int64_t>(sizeof(T)))) return st;
    T* turned = reinterpret_cast<T*>(space.data());
    T* turned_values = turned + n.width * n.keys;
    const Block<T> keys{turned + both, n.width}, values{keys.data + n.width * n.keys, n.value_width};
    const Block<T> p{keys.data + both, columns}, d{p.data + rows * columns, columns};
    const Block<T> query{d.data + rows * columns, n.width};
    for (int64_t at = first; at < last; at++) {
      const int64_t b = at / n.key_heads, h = at % n.key_heads;
      turn<T>(n.keys, n.width, this->k.template head<T>(b, h), turned);
      turn<T>(n.keys, n.value_width, this->v.template head<T>(b, h), turned_values);
      std::fill(keys.data, keys.data + both, T(0));
      for (int64_t from = h * n.group(); from < (h + 1) * n.group(); from++)
        for (int64_t i0 = 0; i0 < n.queries; i0 += query_block) {
          const Places place{b, from, h, i0, std::min(query_block, n.queries - i0)};
          queries(multiply, place, turned, turned_values, p, d, query, keys, values);
          if (lamella_status st = api().check_interrupt()) return st;
        }
      store(keys, n.keys, n.width, dk, b, h, 0);
      store(values, n.keys, n.value_width, dv, b, h, 0);
    }
    return LAMELLA_OK;
  }

  struct Places {
    int64_t b, h, source, i0, rows;
  };

  void queries(const Multiplier<T>& multiply, const Places& at, const T* turned, const T* turned_values,
               const Block<T>& p, const Block<T>& d, const Block<T>& query, const Block<T>& keys,
               const Block<T>& values) const {
    const auto [b, h, source, i0, rows] = at;
    double shift[query_block], sums[query_block];
    const Block<const T> g = this->grad.template head<T>(b, h).from(i0);
    this->of_rows(b, h, i0, rows, shift, sums);
    std::fill(query.data, query.data + rows * query.row, T(0));
    const int64_t end = n.seen(i0 + rows - 1);
    for (int64_t j0 = 0; j0 < end; j0 += key_block) {
      const int64_t columns = std::min(key_block, end - j0);
      this->block(multiply, {b, h, i0, rows, j0, columns}, {turned + j0, n.keys}, {turned_values + j0, n.keys}, shift,
                  sums, n.scale, p, d);
      multiply(columns, n.value_width, rows, constant(p).transposed(), g, values.from(j0), true);
      multiply(columns, n.width, rows, constant(d).transposed(), this->q.template head<T>(b, h).from(i0), keys.from(j0),
               true);
      multiply(rows, n.width, columns, constant(d), this->k.template head<T>(b, source).from(j0), query, true);
    }
    store(query, rows, n.width, dq, b, h, i0);
  }

  void store(const Block<T>& from, int64_t rows, int64_t columns, const lamella_tensor* t, int64_t b, int64_t h,
             int64_t i0) const {
    if (!t) return;
    T* to = static_cast<T*>(t->dl.data) + b * t->dl.strides[0] + h * t->dl.strides[1] + i0 * t->dl.strides[2];
    for (int64_t i = 0; i < rows; i++)
      std::copy(from.data + i * from.row, from.data + i * from.row + columns, to + i * t->dl.strides[2]);
  }
};

template <class T>
lamella_status backward(const Tensor& grad, const Tensor& grad_logsumexp, const Tensor& query, const Tensor& key,
                        const Tensor& value, const Tensor& attn_mask, const Tensor& out, const Tensor& logsumexp,
                        bool causal, double scale, const Tensor& words, double dropout_p,
                        const std::optional<Tensor>* results) {
  const int dtype = attention_dtype(query);
  const AttentionSizes n = sizes_of(query.get(), key.get(), value.get(), scale, causal);
  Result targets[3];
  for (int i = 0; i < 3; i++)
    if (results[i]) targets[i] = attention_result(results[i]->get(), dtype);
  Backward<T> f{{{n, attention_loops_for(dtype), {}, {}, {}, {}, {}}, {}, {}, {}, {}},
                targets[0].get(),
                targets[1].get(),
                targets[2].get()};
  f.open(grad, grad_logsumexp, query, key, value, attn_mask, out, logsumexp, dtype);
  f.dropped.read(words.get(), dropout_p);
  if (lamella_status st =
          parallel_for(0, n.batch * n.key_heads, 1, [&](int64_t first, int64_t last) { return f.heads(first, last); }))
    return st;
  for (const Result& t : targets)
    if (lamella_status st = t.finish()) return st;
  return LAMELLA_OK;
}

Status attention_backward(const Tensor& grad_out, const Tensor& grad_logsumexp, const Tensor& query, const Tensor& key,
                          const Tensor& value, const Tensor& attn_mask, const Tensor& out, const Tensor& logsumexp,
                          bool is_causal, double scale, ArrayRef<bool> /*output_mask*/, const Tensor& words,
                          double dropout_p, const std::optional<Tensor>& dq, const std::optional<Tensor>& dk,
                          const std::optional<Tensor>& dv) {
  const std::optional<Tensor> results[3] = {dq, dk, dv};
  const auto run = attention_dtype(query) == LAMELLA_FLOAT64 ? backward<double> : backward<float>;
  return run(grad_out, grad_logsumexp, query, key, value, attn_mask, out, logsumexp, is_causal, scale, words, dropout_p,
             results);
}

// ---- the gradient of a mask -----------------------------------------------------------------------------------------

// The threads share the blocks of the mask. Each block sums the gradients of all scores that it was broadcast to, so no
// other thread writes to it, and the order of the sums is the same with any number of threads.
template <class T>
struct MaskBackward : BlockGradients<T> {
  using Attention<T>::n;
  int64_t size[4];  // the mask's sizes: 1 where it is broadcast
  T* to;            // the gradient of the mask, in row-major order

  static int64_t blocks(int64_t count, int64_t block) { return count == 1 ? 1 : (count + block - 1) / block; }
  int64_t units() const { return size[0] * size[1] * blocks(size[2], query_block) * blocks(size[3], key_block); }

  // Returns the part of an axis of the scores to which block k of the mask belongs: the whole axis if the mask has
  // size 1 there.
  static std::pair<int64_t, int64_t> range(int64_t mask, int64_t whole, int64_t k, int64_t block) {
    if (mask == 1) return {0, whole};
    return {k * block, std::min(whole, (k + 1) * block)};
  }

  lamella_status run(int64_t first, int64_t last) const {
    const int64_t rows = std::min(query_block, n.queries), columns = std::min(key_block, n.keys);
    const int64_t width = n.width + n.value_width, count = columns * (width + 2 * rows);
    Multiplier<T> multiply;
    Space space;
    if (lamella_status st = multiply.open(rows, columns, std::max(n.width, n.value_width))) return st;
    if (lamella_status st = space.take(count * static_cast<int64_t>(sizeof(T)))) return st;
    T* turned = reinterpret_cast<T*>(space.data());
    const Block<T> p{turned + width * columns, columns}, d{p.data + rows * columns, columns};
    const int64_t across = blocks(size[3], key_block), along = blocks(size[2], query_block);
    for (int64_t at = first; at < last; at++) {
      const auto [j0, j1] = range(size[3], n.keys, at % across, key_block);
      const auto [i0, i1] = range(size[2], n.queries, at / across % along, query_block);
      const int64_t head = at / (across * along) % size[1], sample = at / (across * along * size[1]);
      const auto [h0, h1] = range(size[1], n.heads, head, 1);
      const auto [b0, b1] = range(size[0], n.batch, sample, 1);
      for (int64_t b = b0; b < b1; b++)
        for (int64_t h = h0; h < h1; h++)
          for (int64_t j = j0; j < j1; j += key_block)
            if (lamella_status st = keys(multiply, b, h, i0, i1, j, std::min(key_block, j1 - j), turned, p, d))
              return st;
    }
    return LAMELLA_OK;
  }

  lamella_status keys(const Multiplier<T>& multiply, int64_t b, int64_t h, int64_t i0, int64_t i1, int64_t j,
                      int64_t columns, T* turned, const Block<T>& p, const Block<T>& d) const {
    double shift[query_block], sums[query_block];
    T* turned_values = turned + n.width * columns;
    const int64_t source = h / n.group();
    turn<T>(columns, n.width, this->k.template head<T>(b, source).from(j), turned);
    turn<T>(columns, n.value_width, this->v.template head<T>(b, source).from(j), turned_values);
    for (int64_t i = i0; i < i1; i += query_block) {
      const int64_t rows = std::min(query_block, i1 - i);
      if (j >= n.seen(i + rows - 1)) continue;
      this->of_rows(b, h, i, rows, shift, sums);
      this->block(multiply, {b, h, i, rows, j, columns}, {turned, columns}, {turned_values, columns}, shift, sums, 1, p,
                  d);
      for (int64_t r = 0; r < rows; r++) add_row(columns, d.data + r * d.row, b, h, i + r, j);
      if (lamella_status st = api().check_interrupt()) return st;
    }
    return LAMELLA_OK;
  }

  void add_row(int64_t columns, const T* row, int64_t b, int64_t h, int64_t i, int64_t j) const {
    auto in = [&](int d, int64_t place) { return size[d] == 1 ? 0 : place; };
    T* sum = to + ((in(0, b) * size[1] + in(1, h)) * size[2] + in(2, i)) * size[3] + in(3, j);
    if (size[3] != 1) {
      for (int64_t c = 0; c < columns; c++) sum[c] += row[c];
    } else {
      T all = 0;
      for (int64_t c = 0; c < columns; c++) all += row[c];
      *sum += all;
    }
  }
};

template <class T>
lamella_status mask_backward(const Tensor& grad, const Tensor& grad_logsumexp, const Tensor& query, const Tensor& key,
                             const Tensor& value, const Tensor& attn_mask, const Tensor& out, const Tensor& logsumexp,
                             bool causal, double scale, const Tensor& words, double dropout_p, lamella_tensor* result) {
  const int dtype = attention_dtype(query);
  const AttentionSizes n = sizes_of(query.get(), key.get(), value.get(), scale, causal);
  const Result target(result, dtype);
  MaskBackward<T> f{
      {{n, attention_loops_for(dtype), {}, {}, {}, {}, {}}, {}, {}, {}, {}}, {1, 1, 1, 1}, target.data<T>()};
  for (int d = 0; d < result->dl.ndim; d++) f.size[4 - result->dl.ndim + d] = result->dl.shape[d];
  if (result->numel > 0) std::fill(f.to, f.to + result->numel, T(0));
  f.open(grad, grad_logsumexp, query, key, value, attn_mask, out, logsumexp, dtype);
  f.dropped.read(words.get(), dropout_p);
  if (n.batch * n.heads * n.queries * n.keys > 0 && result->numel > 0)
    if (lamella_status st =
            parallel_for(0, f.units(), 1, [&](int64_t first, int64_t last) { return f.run(first, last); }))
      return st;
  return target.finish();
}

Status attention_mask_backward(const Tensor& grad_out, const Tensor& grad_logsumexp, const Tensor& query,
                               const Tensor& key, const Tensor& value, const Tensor& attn_mask, const Tensor& out,
                               const Tensor& logsumexp, bool is_causal, double scale, const Tensor& words,
                               double dropout_p, const Tensor& result) {
  const auto run = attention_dtype(query) == LAMELLA_FLOAT64 ? mask_backward<double> : mask_backward<float>;
  return run(grad_out, grad_logsumexp, query, key, value, attn_mask, out, logsumexp, is_causal, scale, words, dropout_p,
             result.get());
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<attention_backward>(m, "_attention_backward");
  add<attention_mask_backward>(m, "_attention_mask_backward");
}

}  // namespace lamella::cpu
