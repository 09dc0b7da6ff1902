// Softmax and log_softmax. Sums of exponentials are in double: along rows they add the sums of short chains of floats.
// Note [Instruction sets]: isa.h.
#include <cmath>
#include <limits>

#include "backends/cpu/isa/chain.h"
#include "backends/cpu/isa/exp.h"
#include "backends/cpu/isa/extrema.h"
#include "backends/cpu/isa/sums.h"
#include "backends/cpu/norms.h"

namespace lamella::cpu {
namespace {

template <class V>
LAMELLA_INLINE void take(V& best, const V& v) {  // a NaN that is not taken here reaches the sum
  best = v > best ? v : best;
}

template <class T, class V>
LAMELLA_INLINE T largest(int64_t n, const T* x) {
  constexpr int64_t size = sizeof(V) / sizeof(T);
  if (n < size) {
    T best = x[0];
    for (int64_t i = 1; i < n; i++) best = x[i] > best ? x[i] : best;
    return best;
  }
  V best[4], v;
#pragma GCC unroll 4
  for (int k = 0; k < 4; k++) load(best[k], x);
  int64_t i = 0;
  for (; i + 4 * size <= n; i += 4 * size)
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
      load(v, x + i + size * k);
      take(best[k], v);
    }
  for (; i + size <= n; i += size) {
    load(v, x + i);
    take(best[0], v);
  }
  load(v, x + n - size);
  take(best[0], v);
  take(best[0], best[1]);
  take(best[2], best[3]);
  take(best[0], best[2]);
  return FloatExtremum<T, true>::across(best[0]);
}
float largest(int64_t n, const float* x) { return largest<float, Floats>(n, x); }
double largest(int64_t n, const double* x) { return largest<double, Doubles>(n, x); }

constexpr int64_t piece = 512;

// Computes softmax times a factor.
template <class T>
void softmax_row(int64_t n, const T* x, T* y, double factor = 1) {
  const ExpBeside<T> exp(largest(n, x));
  double sum = 0;
  for (int64_t i = 0; i < n; i += piece) {
    const int64_t m = n - i < piece ? n - i : piece;
#pragma omp simd
    for (int64_t k = i; k < i + m; k++) y[k] = exp(x[k]);
    sum += add_all(m, y + i);
  }
  const double scale = factor / sum;
  const T high = static_cast<T>(scale), low = static_cast<T>(scale - static_cast<double>(high));
#pragma omp simd
  for (int64_t i = 0; i < n; i++) y[i] = multiply_add(y[i], high, y[i] * low);
}

// Returns the logarithm of the sum of e^(x - top).
template <class T>
double log_of_sum(int64_t n, const T* x, T top) {
  double sum = 0;
  alignas(64) T made[piece];
  for (int64_t i = 0; i < n; i += piece) {
    const int64_t m = n - i < piece ? n - i : piece;
    for (int64_t k = 0; k < m; k++) made[k] = exp_below(x[i + k] - top);
    sum += add_all(m, made);
  }
  return ::log(sum);
}

template <class T>
void row(int64_t n, const void* in, void* out, bool log) {
  auto* x = static_cast<const T*>(in);
  auto* y = static_cast<T*>(out);
  if (!log) return softmax_row(n, x, y);
  const T top = largest(n, x), shift = static_cast<T>(log_of_sum(n, x, top));
#pragma omp simd
  for (int64_t i = 0; i < n; i++) y[i] = (x[i] - top) - shift;
}

template <class T>
double logsumexp(int64_t n, const void* in) {
  auto* x = static_cast<const T*>(in);
  const T top = largest(n, x);
  return static_cast<double>(top) + log_of_sum(n, x, top);
}

template <class T>
void largest_of_columns(int64_t n, int64_t width, const T* x, int64_t stride, T* top) {
  for (int64_t k = 0; k < width; k++) top[k] = x[k];
  for (int64_t r = 1; r < n; r++) {
    const T* at = x + r * stride;
#pragma omp simd
    for (int64_t k = 0; k < width; k++) top[k] = at[k] > top[k] ? at[k] : top[k];
  }
}

template <class T>
void softmax_columns(int64_t n, int64_t width, const T* x, int64_t xs, T* y, int64_t ys,
                     const double* factors = nullptr) {
  T shift[softmax_width], least[softmax_width], large[softmax_width];
  double sum[softmax_width];
  largest_of_columns(n, width, x, xs, shift);
  for (int64_t k = 0; k < width; k++) {
    const ExpBeside<T> exp(shift[k]);
    shift[k] = exp.shift;
    least[k] = exp.least;
    large[k] = exp.large;
    sum[k] = 0;
  }
  for (int64_t r = 0; r < n; r++) {
    const T* at = x + r * xs;
    T* to = y + r * ys;
#pragma omp simd
    for (int64_t k = 0; k < width; k++) {
      const T d = at[k] - shift[k], e = exp_scaled(d < least[k] ? least[k] : d, large[k]);
      to[k] = e;
      sum[k] += static_cast<double>(e);
    }
  }
  T *high = shift, *low = least;
  for (int64_t k = 0; k < width; k++) {
    const double scale = (factors ? factors[k] : 1) / sum[k];
    high[k] = static_cast<T>(scale);
    low[k] = static_cast<T>(scale - static_cast<double>(high[k]));
  }
  for (int64_t r = 0; r < n; r++) {
    T* to = y + r * ys;
#pragma omp simd
    for (int64_t k = 0; k < width; k++) to[k] = multiply_add(to[k], high[k], to[k] * low[k]);
  }
}

// Computes the largest element of each column, and the sums of e^(x - top).
template <class T>
void sums_of_columns(int64_t n, int64_t width, const T* x, int64_t stride, T* top, double* sum) {
  largest_of_columns(n, width, x, stride, top);
  for (int64_t k = 0; k < width; k++) sum[k] = 0;
  for (int64_t r = 0; r < n; r++) {
    const T* at = x + r * stride;
#pragma omp simd
    for (int64_t k = 0; k < width; k++) sum[k] += static_cast<double>(exp_below(at[k] - top[k]));
  }
}

template <class T>
void columns(int64_t n, int64_t width, const void* in, int64_t xs, void* out, int64_t ys, bool log) {
  auto* x = static_cast<const T*>(in);
  auto* y = static_cast<T*>(out);
  if (!log) return softmax_columns(n, width, x, xs, y, ys);
  T top[softmax_width], shift[softmax_width];
  double sum[softmax_width];
  sums_of_columns(n, width, x, xs, top, sum);
  for (int64_t k = 0; k < width; k++) shift[k] = static_cast<T>(::log(sum[k]));
  for (int64_t r = 0; r < n; r++) {
    const T* at = x + r * xs;
    T* to = y + r * ys;
#pragma omp simd
    for (int64_t k = 0; k < width; k++) to[k] = (at[k] - top[k]) - shift[k];
  }
}

template <class T>
void logsumexp_columns(int64_t n, int64_t width, const void* in, int64_t xs, double* to) {
  auto* x = static_cast<const T*>(in);
  T top[softmax_width];
  sums_of_columns(n, width, x, xs, top, to);
  for (int64_t k = 0; k < width; k++) to[k] = static_cast<double>(top[k]) + ::log(to[k]);
}

template <class T>
void scaled_row(int64_t n, const void* x, void* y, double factor) {
  softmax_row(n, static_cast<const T*>(x), static_cast<T*>(y), factor);
}

template <class T>
void scaled_columns(int64_t n, int64_t width, const void* x, void* y, int64_t stride, const double* factors) {
  softmax_columns(n, width, static_cast<const T*>(x), stride, static_cast<T*>(y), stride, factors);
}

template <class T>
double add_products(int64_t n, const T* x, const T* y) {
  double sum[1];
  auto product = [=](int64_t i, auto(&to)[1]) __attribute__((always_inline)) {
    auto other = to[0];
    load(to[0], x + i);
    load(other, y + i);
    to[0] *= other;
  };
  add_all_made<T>(n, product, sum);
  return sum[0];
}

// Computes y * (g - sum of g * y) or, for log_softmax, g - e^y * sum of g.
template <class T>
void row_backward(int64_t n, const void* gradient, const void* output, void* to, bool log) {
  auto *g = static_cast<const T*>(gradient), *y = static_cast<const T*>(output);
  auto* x = static_cast<T*>(to);
  if (log) {
    const T sum = static_cast<T>(add_all(n, g));
#pragma omp simd
    for (int64_t i = 0; i < n; i++) x[i] = g[i] - exp_below(y[i]) * sum;
  } else {
    const T sum = static_cast<T>(add_products(n, g, y));
#pragma omp simd
    for (int64_t i = 0; i < n; i++) x[i] = y[i] * (g[i] - sum);
  }
}

template <class T>
void columns_backward(int64_t n, int64_t width, const void* gradient, const void* output, void* to, int64_t stride,
                      bool log) {
  auto *g = static_cast<const T*>(gradient), *y = static_cast<const T*>(output);
  auto* x = static_cast<T*>(to);
  double sum[softmax_width];
  T s[softmax_width];
  for (int64_t k = 0; k < width; k++) sum[k] = 0;
  for (int64_t r = 0; r < n; r++) {
    const T *gr = g + r * stride, *yr = y + r * stride;
    if (log) {
#pragma omp simd
      for (int64_t k = 0; k < width; k++) sum[k] += static_cast<double>(gr[k]);
    } else {
#pragma omp simd
      for (int64_t k = 0; k < width; k++) sum[k] += static_cast<double>(gr[k] * yr[k]);
    }
  }
  for (int64_t k = 0; k < width; k++) s[k] = static_cast<T>(sum[k]);
  for (int64_t r = 0; r < n; r++) {
    const T *gr = g + r * stride, *yr = y + r * stride;
    T* xr = x + r * stride;
    if (log) {
#pragma omp simd
      for (int64_t k = 0; k < width; k++) xr[k] = gr[k] - exp_below(yr[k]) * s[k];
    } else {
#pragma omp simd
      for (int64_t k = 0; k < width; k++) xr[k] = yr[k] * (gr[k] - s[k]);
    }
  }
}

template <class T>
constexpr Softmax table = {row<T>,        logsumexp<T>,      columns<T>,      logsumexp_columns<T>,
                           scaled_row<T>, scaled_columns<T>, row_backward<T>, columns_backward<T>};

}  // namespace

namespace LAMELLA_ISA {

const Softmax* softmax(int dtype) { return dtype == LAMELLA_FLOAT64 ? &table<double> : &table<float>; }

}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
