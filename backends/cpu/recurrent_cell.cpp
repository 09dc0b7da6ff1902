// One step of an LSTM, with the products of its input and its state, and the step's gradient.
#include <type_traits>

#include "backends/cpu/matmul.h"
#include "backends/cpu/multiply.h"
#include "backends/cpu/recurrent_rows.h"

namespace lamella::cpu {
namespace {

template <class T>
char* bytes(const T* data) {
  return const_cast<char*>(reinterpret_cast<const char*>(data));
}

// Computes the sums of the gates of many rows; the threads share both products.
template <class T>
lamella_status large_sums(const Operand& x, const Operand& h, const T* wi, const T* wh, const T* bias, T* gates,
                          int64_t count) {
  const int64_t batch = x->dl.shape[0], features = x->dl.shape[1], n = h->dl.shape[1];
  Space space;
  if (lamella_status st = space.take(batch * count * static_cast<int64_t>(sizeof(T)))) return st;
  if (lamella_status st =
          multiply(dtype_of<T>, {bytes(x.data<T>()), batch, features, features, 1},
                   {bytes(wi), features, count, 1, features}, {bytes(gates), batch, count, count, 1}, bytes(bias)))
    return st;
  if (lamella_status st = multiply(dtype_of<T>, {bytes(h.data<T>()), batch, n, n, 1}, {bytes(wh), n, count, 1, n},
                                   {space.data(), batch, count, count, 1}))
    return st;
  const T* of_state = reinterpret_cast<const T*>(space.data());
  const RecurrentLoops& loops = loops_for(dtype_of<T>);
  return each_row(batch, n, [&](int64_t i) { loops.add(count, of_state + i * count, gates + i * count); });
}

template <class T>
lamella_status lstm_cell(const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_ih,
                         const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh, const Tensor& hy, const Tensor& cy,
                         const Tensor& kept) {
  const Operand x(input), h(hx), c(cx), wi(w_ih), wh(w_hh), bi(b_ih), bh(b_hh);
  const int64_t batch = x->dl.shape[0], features = x->dl.shape[1], n = h->dl.shape[1];
  const RecurrentLoops& loops = loops_for(dtype_of<T>);
  T *g = written<T>(kept), *y = written<T>(hy), *cell = written<T>(cy);
  Space space;
  if (lamella_status st = space.take(4 * n * static_cast<int64_t>(sizeof(T)))) return st;
  T* bias = reinterpret_cast<T*>(space.data());
  copy_rows(4 * n, bi.data<T>() ? bi.data<T>() : bh.data<T>(), bias);
  if (bi.data<T>() && bh.data<T>()) loops.add(4 * n, bh.data<T>(), bias);
  constexpr double large = 4e6;  // a thread must have 20 µs of work
  if (static_cast<double>(batch) * static_cast<double>(4 * n) * static_cast<double>(features + n) < large) {
    Multiplier<T> multiply;
    if (lamella_status st = multiply.open(batch, 4 * n, std::max(features, n))) return st;
    multiply(batch, 4 * n, features, {x.data<T>(), features}, {wi.data<T>(), 1, features}, {g, 4 * n}, false, bias);
    multiply(batch, 4 * n, n, {h.data<T>(), n}, {wh.data<T>(), 1, n}, {g, 4 * n}, true);
  } else if (lamella_status st = large_sums(x, h, wi.data<T>(), wh.data<T>(), bias, g, 4 * n)) {
    return st;
  }
  return each_row(batch, n,
                  [&](int64_t i) { loops.lstm(n, g + i * 4 * n, c.data<T>() + i * n, cell + i * n, y + i * n); });
}

template <class T>
lamella_status lstm_cell_backward(const Tensor& grad_hy, const Tensor& grad_cy, const Tensor& grad_kept,
                                  const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_ih,
                                  const Tensor& w_hh, const Tensor& cy, const Tensor& kept,
                                  const std::optional<Tensor>* const* results) {
  const Operand of_h(grad_hy), of_c(grad_cy), of_kept(grad_kept), x(input), h(hx), c(cx), wi(w_ih), wh(w_hh), cell(cy),
      g(kept);
  const int64_t batch = x->dl.shape[0], features = x->dl.shape[1], n = h->dl.shape[1], count = 4 * n;
  const RecurrentLoops& loops = loops_for(dtype_of<T>);
  Space space;
  if (lamella_status st = space.take((6 * n * batch) * static_cast<int64_t>(sizeof(T)))) return st;
  T *sums = reinterpret_cast<T*>(space.data()), *dh = sums + batch * count, *dc = dh + batch * n;
  auto asked = [&](int i) { return *results[i] ? written<T>(**results[i]) : nullptr; };
  copy_rows(batch * n, of_h.data<T>(), dh);
  if (T* to = asked(2)) dc = to;
  copy_rows(batch * n, of_c.data<T>(), dc);
  if (lamella_status st = each_row(batch, n, [&](int64_t i) {
        loops.lstm_backward(n, g.data<T>() + i * count, c.data<T>() + i * n, cell.data<T>() + i * n, dh + i * n,
                            of_kept ? of_kept.data<T>() + i * count : nullptr, dc + i * n, sums + i * count);
      }))
    return st;
  const Matrix d{bytes(sums), batch, count, count, 1};
  auto product = [&](const Matrix& a, const T* b, int64_t columns, T* to) -> lamella_status {
    if (!to) return LAMELLA_OK;
    return multiply(dtype_of<T>, a, {bytes(b), a.columns, columns, columns, 1},
                    {bytes(to), a.rows, columns, columns, 1});
  };
  if (lamella_status st = product(d, wi.data<T>(), features, asked(0))) return st;
  if (lamella_status st = product(d, wh.data<T>(), n, asked(1))) return st;
  if (lamella_status st = product(d.transposed(), x.data<T>(), features, asked(3))) return st;
  if (lamella_status st = product(d.transposed(), h.data<T>(), n, asked(4))) return st;
  for (int k : {5, 6})
    if (T* to = asked(k)) {
      copy_rows<T>(count, nullptr, to);
      constexpr int64_t block = 64;  // columns
      const int64_t least = grain / (block * batch + 1) + 1, blocks = (count + block - 1) / block;
      lamella_status st = parallel_for(0, blocks, least, [&](int64_t begin, int64_t end) -> lamella_status {
        const int64_t j = begin * block, columns = std::min(end * block, count) - j;
        for (int64_t i = 0; i < batch; i++) loops.add(columns, sums + i * count + j, to + j);
        return LAMELLA_OK;
      });
      if (st) return st;
    }
  return LAMELLA_OK;
}

Status cell(const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_ih, const Tensor& w_hh,
            const Tensor& b_ih, const Tensor& b_hh, const Tensor& hy, const Tensor& cy, const Tensor& kept) {
  const auto run = hx.get()->dtype == LAMELLA_FLOAT64 ? lstm_cell<double> : lstm_cell<float>;
  return run(input, hx, cx, w_ih, w_hh, b_ih, b_hh, hy, cy, kept);
}

using Asked = const std::optional<Tensor>&;
Status cell_backward(const Tensor& grad_hy, const Tensor& grad_cy, const Tensor& grad_kept, const Tensor& input,
                     const Tensor& hx, const Tensor& cx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& cy,
                     const Tensor& kept, ArrayRef<bool> /*output_mask*/, Asked dinput, Asked dhx, Asked dcx,
                     Asked dw_ih, Asked dw_hh, Asked db_ih, Asked db_hh) {
  const std::optional<Tensor>* const results[] = {&dinput, &dhx, &dcx, &dw_ih, &dw_hh, &db_ih, &db_hh};
  const auto run = hx.get()->dtype == LAMELLA_FLOAT64 ? lstm_cell_backward<double> : lstm_cell_backward<float>;
  return run(grad_hy, grad_cy, grad_kept, input, hx, cx, w_ih, w_hh, cy, kept, results);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<cell>(m, "_lstm_cell");
  add<cell_backward>(m, "_lstm_cell_backward");
}

}  // namespace lamella::cpu
