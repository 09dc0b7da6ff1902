// Variances, and logarithms of sums of exponentials, of runs and columns. Note [Instruction sets]: isa.h.
#include <cmath>

#include "backends/cpu/isa/exp.h"
#include "backends/cpu/isa/extrema.h"
#include "backends/cpu/isa/moments.h"

namespace lamella::cpu {
namespace {

// ---- mean and sum of squared deviations, as in moments.h -----------

template <class T, bool Root>
struct Variance {
  static void start(int64_t n, void* acc) {
    for (int64_t i = 0; i < n; i++) static_cast<Moments*>(acc)[i] = {};
  }

  static void run(int64_t n, const void* data, int64_t, double, void* acc) {
    add_run(*static_cast<Moments*>(acc), n, static_cast<const T*>(data));
  }

  static void columns(int64_t rows, const void* data, int64_t stride, int64_t width, int64_t, double, void* acc) {
    if (rows == 0) return;
    auto* x = static_cast<const T*>(data);
    if constexpr (std::is_same_v<T, float>)
      if (rows >= 16 && columns_around(rows, x, stride, width, static_cast<Moments*>(acc))) return;
    double shift[fold_width], sum[fold_width], squares[fold_width];
    for (int64_t k = 0; k < width; k++) {
      shift[k] = finite_or_zero(static_cast<double>(x[k]));
      sum[k] = squares[k] = 0;
    }
    int64_t r = 0;
    for (; r + 2 <= rows; r += 2) {
      const T *at = x + r * stride, *next = at + stride;
#pragma omp simd
      for (int64_t k = 0; k < width; k++) {
        const double d = static_cast<double>(at[k]) - shift[k], e = static_cast<double>(next[k]) - shift[k];
        sum[k] += d + e;
        squares[k] += d * d + e * e;
      }
    }
    for (; r < rows; r++) {
#pragma omp simd
      for (int64_t k = 0; k < width; k++) {
        const double d = static_cast<double>(x[r * stride + k]) - shift[k];
        sum[k] += d;
        squares[k] += d * d;
      }
    }
    for (int64_t k = 0; k < width; k++)
      add_block(static_cast<Moments*>(acc)[k], static_cast<double>(rows), shift[k], sum[k], squares[k]);
  }

  // Sums deviations from the means in short chains of floats, in a second pass, which reads the cache. Returns false
  // and changes nothing if squares leave the range of floats.
  static bool columns_around(int64_t rows, const float* x, int64_t stride, int64_t width, Moments* acc) {
    using Chain = FloatChain<false>;
    const double count = static_cast<double>(rows);
    double sum[fold_width], squares[fold_width];
    float near[fold_width];
    for (int64_t k = 0; k < width; k++) sum[k] = 0;
    int64_t r = 0;
    for (; r + 8 <= rows; r += 8) Chain::eight_rows(x + r * stride, stride, width, sum);
    for (; r < rows; r++)
      for (int64_t k = 0; k < width; k++) sum[k] += static_cast<double>(x[r * stride + k]);
    for (int64_t k = 0; k < width; k++) {
      near[k] = static_cast<float>(sum[k] / count);
      sum[k] = squares[k] = 0;
    }
    for (r = 0; r + 8 <= rows; r += 8) {
      const float* at = x + r * stride;
#pragma omp simd
      for (int64_t k = 0; k < width; k++) {
        const float m = near[k];
        const float a = at[k] - m, b = at[stride + k] - m, c = at[2 * stride + k] - m, d = at[3 * stride + k] - m;
        const float e = at[4 * stride + k] - m, f = at[5 * stride + k] - m, g = at[6 * stride + k] - m,
                    h = at[7 * stride + k] - m;
        sum[k] += static_cast<double>(((a + b) + (c + d)) + ((e + f) + (g + h)));
        squares[k] += static_cast<double>(((a * a + b * b) + (c * c + d * d)) + ((e * e + f * f) + (g * g + h * h)));
      }
    }
    for (; r < rows; r++) {
#pragma omp simd
      for (int64_t k = 0; k < width; k++) {
        const double d = static_cast<double>(x[r * stride + k] - near[k]);
        sum[k] += d;
        squares[k] += d * d;
      }
    }
    bool held = true;
    for (int64_t k = 0; k < width; k++) held &= squares[k] > 1e-20 && squares[k] < 1e38;
    for (int64_t k = 0; k < width && held; k++)
      add_block(acc[k], count, static_cast<double>(near[k]), sum[k], squares[k]);
    return held;
  }

  static void join(int64_t n, void* acc, const void* later) {
    auto* a = static_cast<Moments*>(acc);
    auto* b = static_cast<const Moments*>(later);
    for (int64_t k = 0; k < n; k++) {
      if (b[k].count == 0) continue;
      const double before = b[k].squares;
      add_block(a[k], b[k].count, b[k].mean, 0, before);
    }
  }

  static void finish(int64_t n, const void* acc, int64_t length, double correction, void* out, void* second) {
    auto* a = static_cast<const Moments*>(acc);
    const double left = static_cast<double>(length) - correction;
    for (int64_t k = 0; k < n; k++) {
      const double var = length == 0 ? std::numeric_limits<double>::quiet_NaN() : a[k].squares / (left > 0 ? left : 0);
      static_cast<double*>(out)[k] = Root ? __builtin_sqrt(var) : var;
      if (second) static_cast<double*>(second)[k] = length == 0 ? std::numeric_limits<double>::quiet_NaN() : a[k].mean;
    }
  }

  static constexpr Fold table = {
      dtype_of<T>, {LAMELLA_FLOAT64, LAMELLA_FLOAT64}, sizeof(Moments), false, start, run, columns, join, finish};
};

// The variance of complex numbers is the sum of the variances of the real and of the imaginary parts.
template <class T, bool Root>
struct ComplexVariance {
  using Part = Variance<double, false>;
  struct Acc {
    Moments re, im;
  };

  static void start(int64_t n, void* acc) { Part::start(2 * n, acc); }

  static void part(int64_t n, const T* x, int64_t stride, Acc& a) {
    double re[256], im[256];
    for (int64_t from = 0; from < n; from += 256) {
      const int64_t m = n - from < 256 ? n - from : 256;
      for (int64_t i = 0; i < m; i++) {
        re[i] = x[(from + i) * stride].re;
        im[i] = x[(from + i) * stride].im;
      }
      Part::run(m, re, 0, 0, &a.re);
      Part::run(m, im, 0, 0, &a.im);
    }
  }
  static void run(int64_t n, const void* data, int64_t, double, void* acc) {
    part(n, static_cast<const T*>(data), 1, *static_cast<Acc*>(acc));
  }
  static void columns(int64_t rows, const void* data, int64_t stride, int64_t width, int64_t, double, void* acc) {
    for (int64_t k = 0; k < width; k++) part(rows, static_cast<const T*>(data) + k, stride, static_cast<Acc*>(acc)[k]);
  }
  static void join(int64_t n, void* acc, const void* later) { Part::join(2 * n, acc, later); }
  static void finish(int64_t n, const void* acc, int64_t length, double correction, void* out, void* second) {
    for (int64_t k = 0; k < n; k++) {
      double var[2], mean[2];
      Part::finish(2, static_cast<const Acc*>(acc) + k, length, correction, var, mean);
      static_cast<double*>(out)[k] = Root ? __builtin_sqrt(var[0] + var[1]) : var[0] + var[1];
      if (second) static_cast<Complex*>(second)[k] = {mean[0], mean[1]};
    }
  }

  static constexpr Fold table = {
      dtype_of<T>, {LAMELLA_FLOAT64, LAMELLA_COMPLEX128}, sizeof(Acc), false, start, run, columns, join, finish};
};

// ---- log of a sum of exponentials, each relative to the largest so far ----------------------------------------------

template <class T>
struct LogSumExp {
  struct Acc {
    double largest, sum;
  };
  static constexpr double none = -std::numeric_limits<double>::infinity();

  static inline void add(Acc& a, double largest, double sum) {
    if (largest == none) return;
    const double m = better<true>(a.largest, largest);
    a.sum = (a.largest == m ? a.sum : a.sum * ::exp(a.largest - m)) + (largest == m ? sum : sum * ::exp(largest - m));
    a.largest = m;
  }

  static void start(int64_t n, void* acc) {
    for (int64_t i = 0; i < n; i++) static_cast<Acc*>(acc)[i] = {none, 0};
  }

  static void run(int64_t n, const void* data, int64_t, double, void* acc) {
    auto* x = static_cast<const T*>(data);
    T largest = lowest<T>();
    Simple<Extremum<T, true>>::run(n, x, 0, 0, &largest);
    Acc& a = *static_cast<Acc*>(acc);
    if (largest - largest != 0) return add(a, largest, 1);  // an infinite or NaN largest element is the result
    constexpr int64_t lanes = 16;
    double sum[lanes] = {};
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
      for (int64_t k = 0; k < lanes; k++) sum[k] += exp_below(x[i + k] - largest);
    for (int64_t k = 0; k < n - i; k++) sum[k] += exp_below(x[i + k] - largest);
    for (int64_t w = lanes / 2; w > 0; w /= 2)
      for (int64_t k = 0; k < w; k++) sum[k] += sum[k + w];
    add(a, largest, sum[0]);
  }

  static void columns(int64_t rows, const void* data, int64_t stride, int64_t width, int64_t, double, void* acc) {
    auto* x = static_cast<const T*>(data);
    constexpr int64_t few = 32;  // rows that stay in the cache between the two passes
    T largest[fold_width];
    double sum[fold_width];
    for (int64_t from = 0; from < rows; from += few) {
      const int64_t m = rows - from < few ? rows - from : few;
      Simple<Extremum<T, true>>::start(width, largest);
      Simple<Extremum<T, true>>::columns(m, x + from * stride, stride, width, 0, 0, largest);
      for (int64_t k = 0; k < width; k++) sum[k] = 0;
      for (int64_t r = from; r < from + m; r++) {
        const T* at = x + r * stride;
#pragma omp simd
        for (int64_t k = 0; k < width; k++) sum[k] += exp_below(at[k] - largest[k]);
      }
      for (int64_t k = 0; k < width; k++)
        add(static_cast<Acc*>(acc)[k], largest[k], largest[k] - largest[k] != 0 ? 1 : sum[k]);
    }
  }

  static void join(int64_t n, void* acc, const void* later) {
    for (int64_t k = 0; k < n; k++) {
      const Acc& b = static_cast<const Acc*>(later)[k];
      add(static_cast<Acc*>(acc)[k], b.largest, b.sum);
    }
  }

  static void finish(int64_t n, const void* acc, int64_t, double, void* out, void*) {
    auto* a = static_cast<const Acc*>(acc);
    for (int64_t k = 0; k < n; k++)
      static_cast<double*>(out)[k] = a[k].largest == none ? none : a[k].largest + ::log(a[k].sum);
  }

  static constexpr Fold table = {dtype_of<T>, {LAMELLA_FLOAT64, 0}, sizeof(Acc), false, start, run, columns, join,
                                 finish};
};

template <class T>
using VarFold = std::conditional_t<is_complex<T>, ComplexVariance<T, false>, Variance<T, false>>;
template <class T>
using StdFold = std::conditional_t<is_complex<T>, ComplexVariance<T, true>, Variance<T, true>>;

}  // namespace

namespace LAMELLA_ISA {

const Fold* moment_fold(Reduce what, int dtype) {
  switch (what) {
    case Reduce::var:
      return inexact<VarFold>(dtype);
    case Reduce::std:
      return inexact<StdFold>(dtype);
    case Reduce::logsumexp:
      return real<LogSumExp>(dtype);
    default:
      return nullptr;
  }
}

}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
