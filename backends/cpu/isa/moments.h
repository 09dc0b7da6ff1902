// The mean of a run and its sum of squared deviations, in double, for the files of this folder. Each block is shifted
// by its first element or, a longer run of floats, by its mean; blocks are joined by Chan's formula.
#pragma once

#include "backends/cpu/isa/chain.h"

namespace lamella::cpu {
namespace {

struct Moments {
  double count, mean, squares;
};

inline double finite_or_zero(double x) { return x - x == 0 ? x : 0; }

inline void add_block(Moments& a, double count, double shift, double sum, double squares) {
  const double mean = shift + sum / count;
  squares -= sum * (sum / count);
  if (squares < 0) squares = 0;
  if (a.count == 0) {
    a = {count, mean, squares};
    return;
  }
  const double total = a.count + count, delta = mean - a.mean;
  a.squares += squares + delta * delta * (a.count / total * count);
  a.mean = delta - delta == 0 ? a.mean + delta * (count / total) : (a.mean * a.count + mean * count) / total;
  a.count = total;
}

// Adds one block of at most a few thousand elements.
template <class T>
inline void add_run(Moments& a, int64_t n, const T* x) {
  if (n == 0) return;
  const double shift = finite_or_zero(static_cast<double>(x[0]));
  Doubles sum[2] = {}, squares[2] = {}, v;
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
#pragma GCC unroll 2
    for (int k = 0; k < 2; k++) {
      load_wide(v, x + i + 8 * k);
      v -= shift;
      sum[k] += v;
      squares[k] += v * v;
    }
  double s = add_up(sum[0] + sum[1]), q = add_up(squares[0] + squares[1]);
  for (; i < n; i++) {
    const double d = static_cast<double>(x[i]) - shift;
    s += d;
    q += d * d;
  }
  add_block(a, static_cast<double>(n), shift, s, q);
}

// Computes the sums of x - near and of its squares, in short chains of floats.
inline void add_around(int64_t n, const float* x, float near, double* sum, double* squares) {
  using Chain = FloatChain<false>;
  Doubles s = {}, q = {};
  Floats a[4], b[4], v;
  int64_t i = 0;
  while (i + 64 <= n) {
    const int64_t steps = (n - i) / 64 < 8 ? (n - i) / 64 : 8;
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) a[k] = b[k] = Floats{};
    for (int64_t step = 0; step < steps; step++, i += 64)
#pragma GCC unroll 4
      for (int k = 0; k < 4; k++) {
        load(v, x + i + 16 * k);
        v -= near;
        a[k] += v;
        b[k] += v * v;
      }
    Chain::into(s, (a[0] + a[1]) + (a[2] + a[3]));
    Chain::into(q, (b[0] + b[1]) + (b[2] + b[3]));
  }
  for (; i < n; i += 16) {
    if (i + 16 <= n)
      load(v, x + i);
    else
      load_rest(v, x + n, n - i, near);
    v -= near;
    Chain::into(s, v);
    Chain::into(q, v * v);
  }
  *sum = add_up(s);
  *squares = add_up(q);
}

// Adds a run of floats in two passes, the second of which reads the cache; in double if the run is short or squares
// leave the range of floats.
inline void add_run(Moments& a, int64_t n, const float* x) {
  if (n < 64) return add_run<float>(a, n, x);
  const double count = static_cast<double>(n);
  const float near = static_cast<float>(FloatChain<false>::run(n, x) / count);
  double sum, squares;
  add_around(n, x, near, &sum, &squares);
  if (!(squares > 1e-20 && squares < 1e38)) return add_run<float>(a, n, x);
  add_block(a, count, static_cast<double>(near), sum, squares);
}

}  // namespace
}  // namespace lamella::cpu
