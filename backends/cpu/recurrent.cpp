// Recurrent layers step by step, in memory that is laid out once: the weights in panels that products read in order.
//
// Note [Panels]  A step multiplies few rows by a large matrix, so that copying the matrix for each product would cost
//   as much as the product. Its columns are copied once, in panels of `panel` columns; the rows of a panel follow each
//   other.
#include "backends/cpu/recurrent.h"

#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/matmul.h"
#include "backends/cpu/multiply.h"
#include "backends/cpu/recurrent_rows.h"

namespace lamella::cpu {
namespace {

constexpr int64_t panel = 64;

// The right factor (k, n) of many products whose left factors have few rows, stored in panels.
template <class T>
class Panels {
 public:
  // Packs the factor. `rows` is the largest number of rows of a left factor.
  lamella_status open(int64_t rows, int64_t k, int64_t n, const T* from, int64_t row, int64_t column) {
    k_ = k;
    n_ = n;
    rows_ = rows;
    constexpr auto item = static_cast<int64_t>(sizeof(T));
    if (lamella_status st = space_.take(k * n * item)) return st;
    if (lamella_status st = multiply_.open(rows, std::min(panel, n), k)) return st;
    for (int64_t j = 0; j < n; j += panel) {
      const int64_t columns = std::min(panel, n - j);
      pack_of(item)(k, columns, reinterpret_cast<char*>(data() + j * k), columns * item,
                    reinterpret_cast<const char*>(from + j * column), row * item, column * item);
    }
    return LAMELLA_OK;
  }
  // Computes to (rows, n) = left (rows, k) times this factor, or adds the product to `to`.
  lamella_status operator()(int64_t rows, const T* left, T* to, bool adds) const {
    const int64_t count = (n_ + panel - 1) / panel;
    // A thread must have 20 µs of work.
    const double work = static_cast<double>(rows) * static_cast<double>(k_) * panel;
    if (work * static_cast<double>(count) < 4e6) {
      some(multiply_, 0, count, 0, rows, left, to, adds);
      return LAMELLA_OK;
    }
    // The rows are cut into blocks of at most `most` rows, with a check for Ctrl-C between two blocks.
    const int64_t most = std::max<int64_t>(block_work / (k_ * panel + 1), least_rows);
    for (int64_t i = 0; i < rows; i += most)
      if (lamella_status st = shared(i, std::min(rows, i + most), left, to, adds)) return st;
    return LAMELLA_OK;
  }

 private:
  static constexpr int64_t block_work = 1 << 28, least_rows = 64;

  T* data() const { return reinterpret_cast<T*>(space_.data()); }
  lamella_status shared(int64_t i, int64_t last, const T* left, T* to, bool adds) const {
    const int64_t count = (n_ + panel - 1) / panel;
    const double work = static_cast<double>(last - i) * static_cast<double>(k_) * panel;
    return parallel_for(0, count, static_cast<int64_t>(2e6 / work) + 1, [&](int64_t b, int64_t e) -> lamella_status {
      if (b == 0 && e == count) {
        some(multiply_, b, e, i, last, left, to, adds);
        return LAMELLA_OK;
      }
      Multiplier<T> own;
      if (lamella_status st = own.open(rows_, std::min(panel, n_), k_)) return st;
      some(own, b, e, i, last, left, to, adds);
      return LAMELLA_OK;
    });
  }
  // Computes panels [first, last) of rows [i, end).
  void some(const Multiplier<T>& multiply, int64_t first, int64_t last, int64_t i, int64_t end, const T* left, T* to,
            bool adds) const {
    for (int64_t j = first * panel; j < std::min(last * panel, n_); j += panel) {
      const int64_t columns = std::min(panel, n_ - j);
      multiply(end - i, columns, k_, {left + i * k_, k_}, {data() + j * k_, columns}, {to + i * n_ + j, n_}, adds);
    }
  }

  int64_t k_ = 0, n_ = 0, rows_ = 0;
  Space space_;
  Multiplier<T> multiply_;
};

// The rows of each step, and the order of the steps.
class StepRows {
 public:
  StepRows(IntArrayRef sizes, bool reverse) : sizes_(sizes), reverse_(reverse) {
    int64_t at = 0;
    for (int64_t n : sizes) first_.push_back(at), at += n;
    rows_ = at;
  }
  template <class F>
  lamella_status each(bool against, const F& f) const {
    const auto n = static_cast<int64_t>(sizes_.size());
    for (int64_t k = 0; k < n; k++) {
      if (lamella_status st = f(reverse_ != against ? n - 1 - k : k)) return st;
      if (lamella_status st = api().check_interrupt()) return st;
    }
    return LAMELLA_OK;
  }
  int64_t rows() const { return rows_; }
  int64_t size(int64_t step) const { return sizes_[static_cast<size_t>(step)]; }
  int64_t first(int64_t step) const { return first_[static_cast<size_t>(step)]; }
  // Returns the state that a row of a step reads: the same row of the step before it or, if there is none, of `given`.
  // Rows have n numbers.
  template <class T>
  const T* before(const T* made, const T* given, int64_t step, int64_t row, int64_t n) const {
    const int64_t old = reverse_ ? step + 1 : step - 1;
    const bool there = old >= 0 && old < static_cast<int64_t>(sizes_.size()) && row < size(old);
    return there ? made + (first(old) + row) * n : given + row * n;
  }

 private:
  IntArrayRef sizes_;
  bool reverse_;
  int64_t rows_;
  std::vector<int64_t> first_;
};

// Computes the gradient of the state's weights: the transposed gradients of the sums times the states that their rows
// have read.
template <class T>
lamella_status weight_gradient(const StepRows& steps, int64_t count, int64_t n, const T* sums, const T* out,
                               const T* hx, T* to) {
  Space space;
  if (lamella_status st = space.take(steps.rows() * n * static_cast<int64_t>(sizeof(T)))) return st;
  T* found = reinterpret_cast<T*>(space.data());
  lamella_status st = steps.each(false, [&](int64_t k) -> lamella_status {
    for (int64_t i = 0; i < steps.size(k); i++)
      copy_rows(n, steps.before(out, hx, k, i, n), found + (steps.first(k) + i) * n);
    return LAMELLA_OK;
  });
  if (st) return st;
  const Matrix d{reinterpret_cast<char*>(const_cast<T*>(sums)), steps.rows(), count, count, 1};
  return multiply(dtype_of<T>, d.transposed(), {space.data(), steps.rows(), n, n, 1},
                  {reinterpret_cast<char*>(to), count, n, n, 1});
}

// ---- LSTM -----------------------------------------------------------------------------------------------------------

template <class T>
lamella_status lstm_layer(const Tensor& gates, const Tensor& hx, const Tensor& cx, const Tensor& weight,
                          const Tensor& projection, IntArrayRef batch_sizes, bool reverse, const Tensor& out,
                          const Tensor& hn, const Tensor& cn, const Tensor& cells, const Tensor& kept) {
  const Operand x(gates), h0(hx), c0(cx), w(weight), p(projection);
  const int64_t batch = h0->dl.shape[0], state = h0->dl.shape[1], n = c0->dl.shape[1];
  const StepRows steps(batch_sizes, reverse);
  const RecurrentLoops& loops = loops_for(dtype_of<T>);
  Panels<T> turned, projected;
  Space space;
  if (lamella_status st = turned.open(batch, state, 4 * n, w.data<T>(), 1, state)) return st;
  if (p) {
    if (lamella_status st = projected.open(batch, n, state, p.data<T>(), 1, n)) return st;
    if (lamella_status st = space.take(batch * n * static_cast<int64_t>(sizeof(T)))) return st;
  }
  T *h = written<T>(hn), *c = written<T>(cn), *y = written<T>(out), *cell = written<T>(cells), *g = written<T>(kept);
  copy_rows(batch * state, h0.data<T>(), h);
  copy_rows(batch * n, c0.data<T>(), c);
  return steps.each(false, [&](int64_t k) -> lamella_status {
    const int64_t at = steps.first(k), rows = steps.size(k);
    copy_rows(rows * 4 * n, x.data<T>() + at * 4 * n, g + at * 4 * n);
    if (lamella_status st = turned(rows, h, g + at * 4 * n, true)) return st;
    T* result = p ? reinterpret_cast<T*>(space.data()) : y + at * n;
    lamella_status st = each_row(rows, n, [&](int64_t i) {
      loops.lstm(n, g + (at + i) * 4 * n, c + i * n, cell + (at + i) * n, result + i * n);
    });
    if (!st && p) st = projected(rows, result, y + at * state, false);
    if (st) return st;
    copy_rows(rows * state, y + at * state, h);
    copy_rows(rows * n, cell + at * n, c);
    return LAMELLA_OK;
  });
}

// Computes the gradient of a projection: the transposed gradients of the states times the results that were projected.
template <class T>
lamella_status projection_gradient(const RecurrentLoops& loops, int64_t rows, int64_t state, int64_t n, const T* grads,
                                   const T* gates, const T* cells, T* to) {
  Space space;
  if (lamella_status st = space.take(rows * n * static_cast<int64_t>(sizeof(T)))) return st;
  T* results = reinterpret_cast<T*>(space.data());
  if (lamella_status st = each_row(
          rows, n, [&](int64_t i) { loops.lstm_result(n, gates + i * 4 * n, cells + i * n, results + i * n); }))
    return st;
  const Matrix d{reinterpret_cast<char*>(const_cast<T*>(grads)), rows, state, state, 1};
  return multiply(dtype_of<T>, d.transposed(), {space.data(), rows, n, n, 1},
                  {reinterpret_cast<char*>(to), state, n, n, 1});
}

template <class T>
lamella_status lstm_layer_backward(const Tensor& grad_out, const Tensor& grad_hn, const Tensor& grad_cn,
                                   const Tensor& grad_cells, const Tensor& grad_kept, const Tensor& hx,
                                   const Tensor& cx, const Tensor& weight, const Tensor& projection, const Tensor& out,
                                   const Tensor& cells, const Tensor& kept, IntArrayRef batch_sizes, bool reverse,
                                   const Tensor& dgates, const Tensor& dhx, const Tensor& dcx, const Tensor& dweight,
                                   const std::optional<Tensor>& dprojection) {
  const Operand of_out(grad_out), of_h(grad_hn), of_c(grad_cn), of_cells(grad_cells), of_kept(grad_kept), h0(hx),
      c0(cx), w(weight), p(projection), y(out), cell(cells), g(kept);
  const int64_t batch = h0->dl.shape[0], state = h0->dl.shape[1], n = c0->dl.shape[1];
  const StepRows steps(batch_sizes, reverse);
  const RecurrentLoops& loops = loops_for(dtype_of<T>);
  Panels<T> weights, projected;
  Space space;
  if (lamella_status st = weights.open(batch, 4 * n, state, w.data<T>(), state, 1)) return st;
  if (p) {
    if (lamella_status st = projected.open(batch, state, n, p.data<T>(), n, 1)) return st;
    const int64_t count = batch * n + steps.rows() * state;
    if (lamella_status st = space.take(count * static_cast<int64_t>(sizeof(T)))) return st;
  }
  T *dh = written<T>(dhx), *dc = written<T>(dcx), *sums = written<T>(dgates);
  T *of_result = p ? reinterpret_cast<T*>(space.data()) : dh, *of_states = of_result + batch * n;
  copy_rows(batch * state, of_h.data<T>(), dh);
  copy_rows(batch * n, of_c.data<T>(), dc);
  lamella_status st = steps.each(true, [&](int64_t k) -> lamella_status {
    const int64_t at = steps.first(k), rows = steps.size(k);
    if (of_out) loops.add(rows * state, of_out.data<T>() + at * state, dh);
    if (of_cells) loops.add(rows * n, of_cells.data<T>() + at * n, dc);
    if (p) {
      copy_rows(rows * state, dh, of_states + at * state);
      if (lamella_status st = projected(rows, dh, of_result, false)) return st;
    }
    lamella_status st = each_row(rows, n, [&](int64_t i) {
      loops.lstm_backward(n, g.data<T>() + (at + i) * 4 * n, steps.before(cell.data<T>(), c0.data<T>(), k, i, n),
                          cell.data<T>() + (at + i) * n, of_result + i * n,
                          of_kept ? of_kept.data<T>() + (at + i) * 4 * n : nullptr, dc + i * n,
                          sums + (at + i) * 4 * n);
    });
    return st ? st : weights(rows, sums + at * 4 * n, dh, false);
  });
  if (st) return st;
  if (p && dprojection) {
    T* to = written<T>(*dprojection);
    if (lamella_status st =
            projection_gradient(loops, steps.rows(), state, n, of_states, g.data<T>(), cell.data<T>(), to))
      return st;
  }
  return weight_gradient(steps, 4 * n, state, sums, y.data<T>(), h0.data<T>(), written<T>(dweight));
}

// ---- GRU ------------------------------------------------------------------------------------------------------------

template <class T>
void begin_with(int64_t rows, int64_t n, const T* bias, T* to) {
  for (int64_t i = 0; i < rows; i++) copy_rows(n, bias, to + i * n);
}

template <class T>
lamella_status gru_layer(const Tensor& gates, const Tensor& hx, const Tensor& weight, const Tensor& bias,
                         IntArrayRef batch_sizes, bool reverse, const Tensor& out, const Tensor& hn,
                         const Tensor& kept) {
  const Operand x(gates), h0(hx), w(weight), b(bias);
  const int64_t batch = h0->dl.shape[0], n = h0->dl.shape[1];
  const StepRows steps(batch_sizes, reverse);
  const RecurrentLoops& loops = loops_for(dtype_of<T>);
  Panels<T> turned;
  Space space;
  if (lamella_status st = turned.open(batch, n, 3 * n, w.data<T>(), 1, n)) return st;
  if (lamella_status st = space.take(batch * 3 * n * static_cast<int64_t>(sizeof(T)))) return st;
  T *u = reinterpret_cast<T*>(space.data()), *h = written<T>(hn), *y = written<T>(out), *g = written<T>(kept);
  copy_rows(batch * n, h0.data<T>(), h);
  return steps.each(false, [&](int64_t k) -> lamella_status {
    const int64_t at = steps.first(k), rows = steps.size(k);
    begin_with(rows, 3 * n, b.data<T>(), u);
    if (lamella_status st = turned(rows, h, u, true)) return st;
    lamella_status st = each_row(rows, n, [&](int64_t i) {
      loops.gru(n, x.data<T>() + (at + i) * 3 * n, u + i * 3 * n, h + i * n, g + (at + i) * 4 * n, y + (at + i) * n);
    });
    if (st) return st;
    copy_rows(rows * n, y + at * n, h);
    return LAMELLA_OK;
  });
}

template <class T>
lamella_status gru_layer_backward(const Tensor& grad_out, const Tensor& grad_hn, const Tensor& grad_kept,
                                  const Tensor& hx, const Tensor& weight, const Tensor& out, const Tensor& kept,
                                  IntArrayRef batch_sizes, bool reverse, const Tensor& dgates, const Tensor& dhx,
                                  const Tensor& dweight, const Tensor& dbias) {
  const Operand of_out(grad_out), of_h(grad_hn), of_kept(grad_kept), h0(hx), w(weight), y(out), g(kept);
  const int64_t batch = h0->dl.shape[0], n = h0->dl.shape[1];
  const StepRows steps(batch_sizes, reverse);
  const RecurrentLoops& loops = loops_for(dtype_of<T>);
  Panels<T> weights;
  Space space;
  if (lamella_status st = weights.open(batch, 3 * n, n, w.data<T>(), n, 1)) return st;
  if (lamella_status st = space.take(steps.rows() * 3 * n * static_cast<int64_t>(sizeof(T)))) return st;
  T *of_state = reinterpret_cast<T*>(space.data()), *dh = written<T>(dhx), *of_input = written<T>(dgates);
  copy_rows(batch * n, of_h.data<T>(), dh);
  lamella_status st = steps.each(true, [&](int64_t k) -> lamella_status {
    const int64_t at = steps.first(k), rows = steps.size(k);
    if (of_out) loops.add(rows * n, of_out.data<T>() + at * n, dh);
    lamella_status st = each_row(rows, n, [&](int64_t i) {
      loops.gru_backward(n, g.data<T>() + (at + i) * 4 * n, steps.before(y.data<T>(), h0.data<T>(), k, i, n),
                         of_kept ? of_kept.data<T>() + (at + i) * 4 * n : nullptr, dh + i * n,
                         of_input + (at + i) * 3 * n, of_state + (at + i) * 3 * n);
    });
    return st ? st : weights(rows, of_state + at * 3 * n, dh, true);
  });
  if (st) return st;
  T* sum = written<T>(dbias);
  copy_rows<T>(3 * n, nullptr, sum);
  for (int64_t i = 0; i < steps.rows(); i++) loops.add(3 * n, of_state + i * 3 * n, sum);
  return weight_gradient(steps, 3 * n, n, of_state, y.data<T>(), h0.data<T>(), written<T>(dweight));
}

// ---- tanh and relu --------------------------------------------------------------------------------------------------

template <class T>
lamella_status rnn_layer(const Tensor& gates, const Tensor& hx, const Tensor& weight, IntArrayRef batch_sizes,
                         bool reverse, bool relu, const Tensor& out, const Tensor& hn) {
  const Operand x(gates), h0(hx), w(weight);
  const int64_t batch = h0->dl.shape[0], n = h0->dl.shape[1];
  const StepRows steps(batch_sizes, reverse);
  const RecurrentLoops& loops = loops_for(dtype_of<T>);
  Panels<T> turned;
  if (lamella_status st = turned.open(batch, n, n, w.data<T>(), 1, n)) return st;
  T *h = written<T>(hn), *y = written<T>(out);
  copy_rows(batch * n, h0.data<T>(), h);
  return steps.each(false, [&](int64_t k) -> lamella_status {
    const int64_t at = steps.first(k) * n, rows = steps.size(k);
    copy_rows(rows * n, x.data<T>() + at, y + at);
    if (lamella_status st = turned(rows, h, y + at, true)) return st;
    loops.curve(rows * n, y + at, relu);
    copy_rows(rows * n, y + at, h);
    return LAMELLA_OK;
  });
}

template <class T>
lamella_status rnn_layer_backward(const Tensor& grad_out, const Tensor& grad_hn, const Tensor& hx, const Tensor& weight,
                                  const Tensor& out, IntArrayRef batch_sizes, bool reverse, bool relu,
                                  const Tensor& dgates, const Tensor& dhx, const Tensor& dweight) {
  const Operand of_out(grad_out), of_h(grad_hn), h0(hx), w(weight), y(out);
  const int64_t batch = h0->dl.shape[0], n = h0->dl.shape[1];
  const StepRows steps(batch_sizes, reverse);
  const RecurrentLoops& loops = loops_for(dtype_of<T>);
  Panels<T> weights;
  if (lamella_status st = weights.open(batch, n, n, w.data<T>(), n, 1)) return st;
  T *dh = written<T>(dhx), *sums = written<T>(dgates);
  copy_rows(batch * n, of_h.data<T>(), dh);
  lamella_status st = steps.each(true, [&](int64_t k) -> lamella_status {
    const int64_t at = steps.first(k) * n, rows = steps.size(k);
    if (of_out) loops.add(rows * n, of_out.data<T>() + at, dh);
    loops.curve_backward(rows * n, y.data<T>() + at, dh, sums + at, relu);
    return weights(rows, sums + at, dh, false);
  });
  if (st) return st;
  return weight_gradient(steps, n, n, sums, y.data<T>(), h0.data<T>(), written<T>(dweight));
}

// ---- kernels --------------------------------------------------------------------------------------------------------

// Calls a function above for float or double, by the dtype of `of`, with the kernel's arguments.
#define LAMELLA_BY_DTYPE(of, function, ...) \
  return (of).get()->dtype == LAMELLA_FLOAT64 ? function<double>(__VA_ARGS__) : function<float>(__VA_ARGS__)

Status lstm_kernel(const Tensor& gates, const Tensor& hx, const Tensor& cx, const Tensor& weight,
                   const Tensor& projection, IntArrayRef batch_sizes, bool reverse, const Tensor& out, const Tensor& hn,
                   const Tensor& cn, const Tensor& cells, const Tensor& kept) {
  LAMELLA_BY_DTYPE(hx, lstm_layer, gates, hx, cx, weight, projection, batch_sizes, reverse, out, hn, cn, cells, kept);
}
Status lstm_backward_kernel(const Tensor& grad_out, const Tensor& grad_hn, const Tensor& grad_cn,
                            const Tensor& grad_cells, const Tensor& grad_kept, const Tensor& hx, const Tensor& cx,
                            const Tensor& weight, const Tensor& projection, const Tensor& out, const Tensor& cells,
                            const Tensor& kept, IntArrayRef batch_sizes, bool reverse, const Tensor& dgates,
                            const Tensor& dhx, const Tensor& dcx, const Tensor& dweight,
                            const std::optional<Tensor>& dprojection) {
  LAMELLA_BY_DTYPE(hx, lstm_layer_backward, grad_out, grad_hn, grad_cn, grad_cells, grad_kept, hx, cx, weight,
                   projection, out, cells, kept, batch_sizes, reverse, dgates, dhx, dcx, dweight, dprojection);
}
Status gru_kernel(const Tensor& gates, const Tensor& hx, const Tensor& weight, const Tensor& bias,
                  IntArrayRef batch_sizes, bool reverse, const Tensor& out, const Tensor& hn, const Tensor& kept) {
  LAMELLA_BY_DTYPE(hx, gru_layer, gates, hx, weight, bias, batch_sizes, reverse, out, hn, kept);
}
Status gru_backward_kernel(const Tensor& grad_out, const Tensor& grad_hn, const Tensor& grad_kept, const Tensor& hx,
                           const Tensor& weight, const Tensor& out, const Tensor& kept, IntArrayRef batch_sizes,
                           bool reverse, const Tensor& dgates, const Tensor& dhx, const Tensor& dweight,
                           const Tensor& dbias) {
  LAMELLA_BY_DTYPE(hx, gru_layer_backward, grad_out, grad_hn, grad_kept, hx, weight, out, kept, batch_sizes, reverse,
                   dgates, dhx, dweight, dbias);
}
Status rnn_kernel(const Tensor& gates, const Tensor& hx, const Tensor& weight, IntArrayRef batch_sizes, bool reverse,
                  bool relu, const Tensor& out, const Tensor& hn) {
  LAMELLA_BY_DTYPE(hx, rnn_layer, gates, hx, weight, batch_sizes, reverse, relu, out, hn);
}
Status rnn_backward_kernel(const Tensor& grad_out, const Tensor& grad_hn, const Tensor& hx, const Tensor& weight,
                           const Tensor& out, IntArrayRef batch_sizes, bool reverse, bool relu, const Tensor& dgates,
                           const Tensor& dhx, const Tensor& dweight) {
  LAMELLA_BY_DTYPE(hx, rnn_layer_backward, grad_out, grad_hn, hx, weight, out, batch_sizes, reverse, relu, dgates, dhx,
                   dweight);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<lstm_kernel>(m, "_lstm_layer");
  add<lstm_backward_kernel>(m, "_lstm_layer_backward");
  add<gru_kernel>(m, "_gru_layer");
  add<gru_backward_kernel>(m, "_gru_layer_backward");
  add<rnn_kernel>(m, "_rnn_layer");
  add<rnn_backward_kernel>(m, "_rnn_layer_backward");
}

}  // namespace lamella::cpu
