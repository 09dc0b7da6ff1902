// Attention block by block: the scores of some queries with some keys at a time, so that the matrix of all scores never
// exists; its gradient computes the blocks again.
//
// Note [Online softmax]  A block of queries meets the keys block by block. `top` and `sum` are the largest score so far
//   and the sum of e^(score - top); where a block raises `top`, what was added up before it is scaled down (Milakov and
//   Gimelshein, 2018; Dao et al., 2022). At the end logsumexp = top + log(sum), from which the gradient has each
//   softmax as e^(score - logsumexp). A query without any key to attend to gets zeros, and 0 for its logsumexp.
#include "backends/cpu/attention.h"

#include <cmath>
#include <limits>

#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/multiply.h"

namespace lamella::cpu {
namespace {

constexpr int64_t query_block = 128, key_block = 256;

const AttentionLoops& loops_for(int dtype) {
  static const auto chosen = LAMELLA_BY_ISA(attention_loops);
  return *chosen(dtype);
}

// An operand of four dimensions in the dtype of the computation, the last without gaps.
struct Operand {
  const lamella_tensor* t = nullptr;
  TensorRef owner;

  lamella_status read(const lamella_tensor* from, int dtype) {
    t = from;
    const bool rows = t->dl.ndim < 4 || t->dl.shape[3] <= 1 || t->dl.strides[3] == 1;
    return t->dtype == dtype && rows ? LAMELLA_OK : copy_as(t, dtype, &owner);
  }
  template <class T>
  Block<const T> head(int64_t b, int64_t h) const {
    return {static_cast<const T*>(t->dl.data) + b * t->dl.strides[0] + h * t->dl.strides[1], t->dl.strides[2]};
  }
};

// The mask, whose dimensions broadcast to (batch, heads, queries, keys).
struct Mask {
  const lamella_tensor* t = nullptr;
  TensorRef owner;
  bool bools = false;
  int64_t item = 1, strides[4] = {0, 0, 0, 0};

  lamella_status read(const lamella_tensor* from, int dtype) {
    if (!from) return LAMELLA_OK;
    t = from;
    bools = t->dtype == LAMELLA_BOOL;
    if (!bools)
      if (lamella_status st = converted(t, dtype, &owner)) return st;
    item = itemsize(t);
    const int n = t->dl.ndim;
    for (int d = 0; d < n; d++) strides[4 - n + d] = t->dl.shape[d] == 1 ? 0 : t->dl.strides[d];
    return LAMELLA_OK;
  }
  const char* at(int64_t b, int64_t h, int64_t i, int64_t j) const {
    if (!t) return nullptr;
    return static_cast<const char*>(t->dl.data) +
           item * (b * strides[0] + h * strides[1] + i * strides[2] + j * strides[3]);
  }
};

struct Sizes {
  int64_t batch, heads, key_heads, queries, keys, width, value_width;
  double scale;
  bool causal;

  int64_t group() const { return key_heads ? heads / key_heads : 1; }
  // How many of the keys the query i sees.
  int64_t seen(int64_t i) const { return causal ? std::min(i + 1, keys) : keys; }
};

Sizes sizes_of(const lamella_tensor* q, const lamella_tensor* k, const lamella_tensor* v, double scale, bool causal) {
  return {q->dl.shape[0], q->dl.shape[1], k->dl.shape[1], q->dl.shape[2], k->dl.shape[2],
          q->dl.shape[3], v->dl.shape[3], scale,          causal};
}

// Rows of keys as columns.
template <class T>
void turn(int64_t rows, int64_t columns, const Block<const T>& from, T* to) {
  constexpr auto item = static_cast<int64_t>(sizeof(T));
  pack_of(item)(columns, rows, reinterpret_cast<char*>(to), rows * item, reinterpret_cast<const char*>(from.data), item,
                from.row * item);
}

template <class T>
struct Attention {
  Sizes n;
  const AttentionLoops& loops;
  Operand q, k, v;
  Mask mask;

  lamella_status open(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask, int dtype) {
    if (lamella_status st = q.read(query.get(), dtype)) return st;
    if (lamella_status st = k.read(key.get(), dtype)) return st;
    if (lamella_status st = v.read(value.get(), dtype)) return st;
    return mask.read(attn_mask.get(), dtype);
  }

  // The scores of `rows` queries from i0 with `columns` keys from j0, scaled and masked; -inf where a key is not seen.
  void scores(const Multiplier<T>& multiply, int64_t b, int64_t h, int64_t i0, int64_t rows, int64_t j0,
              int64_t columns, const T* turned, const Block<T>& to) const {
    multiply(rows, columns, n.width, q.template head<T>(b, h).from(i0), {turned + j0, n.keys}, to);
    for (int64_t i = 0; i < rows; i++) {
      T* row = to.data + i * to.row;
      const int64_t seen = std::clamp<int64_t>(n.seen(i0 + i) - j0, 0, columns);
      loops.masked(seen, row, n.scale, mask.at(b, h, i0 + i, j0), mask.strides[3], mask.bools);
      std::fill(row + seen, row + columns, -std::numeric_limits<T>::infinity());
    }
  }
};

// ---- forward --------------------------------------------------------------------------------------------------------

template <class T>
struct Forward : Attention<T> {
  using Attention<T>::n, Attention<T>::loops;
  lamella_tensor *out, *logsumexp;

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
    std::fill(top, top + rows, -std::numeric_limits<double>::infinity());
    std::fill(sum, sum + rows, 0);
    std::fill(o.data, o.data + rows * o.row, T(0));
    const int64_t end = n.seen(i0 + rows - 1);
    for (int64_t j0 = 0; j0 < end; j0 += key_block) {
      const int64_t columns = std::min(key_block, end - j0);
      this->scores(multiply, b, h, i0, rows, j0, columns, turned, s);
      for (int64_t i = 0; i < rows; i++) {
        const double factor = loops.take(columns, s.data + i * s.row, top + i, sum + i);
        T* row = o.data + i * o.row;
        if (factor != 1 && j0 > 0) loops.scale(n.value_width, row, row, factor);
      }
      multiply(rows, n.value_width, columns, constant(s), values.from(j0), o, true);
    }
    auto* to = static_cast<T*>(out->dl.data) + b * out->dl.strides[0] + h * out->dl.strides[1];
    auto* sums = static_cast<T*>(logsumexp->dl.data) + (b * n.heads + h) * n.queries;
    for (int64_t i = 0; i < rows; i++) {
      const bool none = sum[i] == 0;
      loops.scale(n.value_width, o.data + i * o.row, to + (i0 + i) * out->dl.strides[2], none ? 0 : 1 / sum[i]);
      sums[i0 + i] = none ? T(0) : static_cast<T>(top[i] + std::log(sum[i]));
    }
  }
};

int work_of(const Tensor& query) { return query.get()->dtype == LAMELLA_FLOAT64 ? LAMELLA_FLOAT64 : LAMELLA_FLOAT32; }

// A result in the dtype of the computation with rows without gaps: the tensor itself, or one that is copied to it.
struct Target {
  lamella_tensor *to, *t;
  TensorRef owner;

  lamella_status open(lamella_tensor* result, int dtype) {
    to = t = result;
    const int last = result->dl.ndim - 1;
    if (t->dtype == dtype && (t->dl.shape[last] <= 1 || t->dl.strides[last] == 1)) return LAMELLA_OK;
    lamella_status st =
        api().tensor_empty(to->dl.ndim, to->dl.shape, nullptr, static_cast<uint8_t>(dtype), device_of(to), &t);
    if (!st) owner = TensorRef::steal(t);
    return st;
  }
  lamella_status close() const { return t == to ? LAMELLA_OK : copy_into(to, t); }
};

template <class T>
lamella_status forward(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask,
                       bool causal, double scale, lamella_tensor* out, lamella_tensor* logsumexp) {
  const int dtype = work_of(query);
  const Sizes n = sizes_of(query.get(), key.get(), value.get(), scale, causal);
  Target result;
  if (lamella_status st = result.open(out, dtype)) return st;
  Forward<T> f{{n, loops_for(dtype), {}, {}, {}, {}}, result.t, logsumexp};
  if (lamella_status st = f.open(query, key, value, attn_mask, dtype)) return st;
  const double work =
      static_cast<double>(n.queries) * static_cast<double>(n.keys) * static_cast<double>(n.width + n.value_width + 8);
  const auto few = static_cast<int64_t>(1e6 / std::max(work, 1.0)) + 1;
  if (n.queries > 0)
    if (lamella_status st =
            parallel_for(0, n.batch * n.heads, few, [&](int64_t first, int64_t last) { return f.heads(first, last); }))
      return st;
  return result.close();
}

Status attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask, bool is_causal,
                 double scale, const Tensor& out, const Tensor& logsumexp) {
  const auto run = work_of(query) == LAMELLA_FLOAT64 ? forward<double> : forward<float>;
  return run(query, key, value, attn_mask, is_causal, scale, out.get(), logsumexp.get());
}

// ---- backward -------------------------------------------------------------------------------------------------------

template <class T>
struct Backward : Attention<T> {
  using Attention<T>::n, Attention<T>::loops;
  Operand grad, out, logsumexp, grad_logsumexp;
  lamella_tensor *dq, *dk, *dv;

  // Pairs of a sample and a head of keys, each with all the heads of queries that share it.
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
    const Block<const T> g = grad.head<T>(b, h).from(i0), o = out.head<T>(b, h).from(i0);
    const int64_t first = (b * n.heads + h) * n.queries + i0;
    for (int64_t i = 0; i < rows; i++) {
      shift[i] = loops.dot(n.value_width, g.data + i * g.row, o.data + i * o.row);
      if (grad_logsumexp.t)
        shift[i] -= static_cast<double>(static_cast<const T*>(grad_logsumexp.t->dl.data)[first + i]);
      sums[i] = static_cast<double>(static_cast<const T*>(logsumexp.t->dl.data)[first + i]);
    }
    std::fill(query.data, query.data + rows * query.row, T(0));
    const int64_t end = n.seen(i0 + rows - 1);
    for (int64_t j0 = 0; j0 < end; j0 += key_block) {
      const int64_t columns = std::min(key_block, end - j0);
      this->scores(multiply, b, h, i0, rows, j0, columns, turned, p);
      multiply(rows, columns, n.value_width, g, {turned_values + j0, n.keys}, d);
      for (int64_t i = 0; i < rows; i++)
        loops.backward(columns, p.data + i * p.row, d.data + i * d.row, sums[i], shift[i], n.scale);
      multiply(columns, n.value_width, rows, constant(p).transposed(), g, values.from(j0), true);
      multiply(columns, n.width, rows, constant(d).transposed(), this->q.template head<T>(b, h).from(i0), keys.from(j0),
               true);
      multiply(rows, n.width, columns, constant(d), this->k.template head<T>(b, source).from(j0), query, true);
    }
    store(query, rows, n.width, dq, b, h, i0);
  }

  void store(const Block<T>& from, int64_t rows, int64_t columns, lamella_tensor* t, int64_t b, int64_t h,
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
                        bool causal, double scale, const std::optional<Tensor>* results) {
  const int dtype = work_of(query);
  const Sizes n = sizes_of(query.get(), key.get(), value.get(), scale, causal);
  Target targets[3];
  for (int i = 0; i < 3; i++) {
    targets[i].to = targets[i].t = nullptr;
    if (results[i])
      if (lamella_status st = targets[i].open(results[i]->get(), dtype)) return st;
  }
  Backward<T> f{{n, loops_for(dtype), {}, {}, {}, {}}, {}, {}, {}, {}, targets[0].t, targets[1].t, targets[2].t};
  if (lamella_status st = f.open(query, key, value, attn_mask, dtype)) return st;
  if (lamella_status st = f.grad.read(grad.get(), dtype)) return st;
  if (lamella_status st = f.out.read(out.get(), dtype)) return st;
  auto row_numbers = [&](Operand& to, const Tensor& t) {
    to.t = t.get();
    return !to.t || (to.t->dtype == dtype && is_contiguous(to.t)) ? LAMELLA_OK : copy_as(to.t, dtype, &to.owner);
  };
  if (lamella_status st = row_numbers(f.logsumexp, logsumexp)) return st;
  if (lamella_status st = row_numbers(f.grad_logsumexp, grad_logsumexp)) return st;
  if (lamella_status st =
          parallel_for(0, n.batch * n.key_heads, 1, [&](int64_t first, int64_t last) { return f.heads(first, last); }))
    return st;
  for (const Target& t : targets)
    if (t.t)
      if (lamella_status st = t.close()) return st;
  return LAMELLA_OK;
}

Status attention_backward(const Tensor& grad_out, const Tensor& grad_logsumexp, const Tensor& query, const Tensor& key,
                          const Tensor& value, const Tensor& attn_mask, const Tensor& out, const Tensor& logsumexp,
                          bool is_causal, double scale, ArrayRef<bool> /*output_mask*/, const std::optional<Tensor>& dq,
                          const std::optional<Tensor>& dk, const std::optional<Tensor>& dv) {
  const std::optional<Tensor> results[3] = {dq, dk, dv};
  const auto run = work_of(query) == LAMELLA_FLOAT64 ? backward<double> : backward<float>;
  return run(grad_out, grad_logsumexp, query, key, value, attn_mask, out, logsumexp, is_causal, scale, results);
}

}  // namespace

void register_attention(Library& m) {
  add<attention>(m, "_attention");
  add<attention_backward>(m, "_attention_backward");
}

}  // namespace lamella::cpu
