// Sums, products and norms of runs and columns. Floats are added in double or in short chains of floats (chain.h); each
// sum goes through a fixed number of lanes, joined pairwise, so that values do not depend on the instruction set.
// Note [Instruction sets]: isa.h.
#include <cmath>

#include "backends/cpu/isa/chain.h"
#include "backends/cpu/isa/extrema.h"

namespace lamella::cpu {
namespace {

template <class Result>
inline Result divided(Result s, int64_t n) {
  if constexpr (std::is_same_v<Result, Complex>)
    return {s.re / static_cast<double>(n), s.im / static_cast<double>(n)};
  else
    return static_cast<Result>(s / static_cast<Result>(n));
}

template <class T, bool SkipNan>
struct SumBase : std::conditional_t<std::is_same_v<T, float> && !SkipNan, FloatChain<false>, Nothing> {
  using In = T;
  using Acc = SumOf<T>;
  using Out = Acc;
  static Acc identity() { return Acc{}; }
  static inline Acc lift(T x, double) {
    if constexpr (is_complex<T>)
      return {x.re, x.im};
    else if constexpr (SkipNan)
      return x == x ? static_cast<Acc>(x) : Acc{};
    else
      return static_cast<Acc>(x);
  }
  static inline Acc join(Acc a, Acc b) {
    if constexpr (is_complex<T>)
      return {a.re + b.re, a.im + b.im};
    else
      return a + b;
  }
  static Out finish(Acc a, int64_t, double) { return a; }
};

template <class T>
using Sum = SumBase<T, false>;
template <class T>
using Nansum = SumBase<T, true>;

template <class T>
struct Mean : Sum<T> {
  static SumOf<T> finish(SumOf<T> a, int64_t n, double) { return divided(a, n); }
};

template <class T>
struct Prod : std::conditional_t<std::is_same_v<T, float>, FloatChain<true>, Nothing> {
  using In = T;
  using Acc = SumOf<T>;
  using Out = Acc;
  static Acc identity() {
    if constexpr (is_complex<T>)
      return {1, 0};
    else
      return 1;
  }
  static inline Acc lift(T x, double) { return Sum<T>::lift(x, 0); }
  static inline Acc join(Acc a, Acc b) {
    if constexpr (is_complex<T>)
      return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    else
      return a * b;
  }
  static Out finish(Acc a, int64_t, double) { return a; }
};

template <class T>
inline double magnitude(T x) {
  if constexpr (is_complex<T>)
    return __builtin_sqrt(static_cast<double>(x.re) * x.re + static_cast<double>(x.im) * x.im);
  else
    return __builtin_fabs(static_cast<double>(x));
}

struct NormBase {
  using Acc = double;
  using Out = double;
  static Acc identity() { return 0; }
  static inline Acc join(Acc a, Acc b) { return a + b; }
  static Out finish(Acc a, int64_t, double) { return a; }
};
template <class T>
struct Norm0 : NormBase {
  using In = T;
  static inline Acc lift(T x, double) { return magnitude(x) != 0 ? 1.0 : 0.0; }
};
// Returns the sum of the values that Op computes from the elements as doubles, in four vectors; n is at least 8.
template <class Op, class T>
LAMELLA_INLINE double run_wide(int64_t n, const T* x) {
  Doubles a[4] = {}, v;
  int64_t i = 0;
  for (; i + 32 <= n; i += 32)
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
      load_wide(v, x + i + 8 * k);
      Op::apply(v);
      a[k] += v;
    }
  for (; i + 8 <= n; i += 8) {
    load_wide(v, x + i);
    Op::apply(v);
    a[0] += v;
  }
  if (i < n) {  // the last eight elements, without those that were added already
    load_wide(v, x + n - 8);
    Op::apply(v);
    const Longs at = {0, 1, 2, 3, 4, 5, 6, 7};
    a[0] += at >= 8 - (n - i) ? v : Doubles{};
  }
  return add_up((a[0] + a[1]) + (a[2] + a[3]));
}
struct Absolute {
  static LAMELLA_INLINE void apply(Doubles& v) { v = (Doubles)((Longs)v & 0x7fffffffffffffff); }
};
struct Squared {
  static LAMELLA_INLINE void apply(Doubles& v) { v *= v; }
};
template <class Op>
struct WideRun {
  static double run(int64_t n, const float* x) { return run_wide<Op>(n, x); }
  static double run(int64_t n, const double* x) { return run_wide<Op>(n, x); }
};

template <class T>
struct Norm1 : NormBase, WideRun<Absolute> {
  using In = T;
  static inline Acc lift(T x, double) { return magnitude(x); }
};
// Sums squares of floats in float, and again in double if the sum has left the range of floats or is near its lower
// end.
struct SquareRun : WideRun<Squared> {
  using WideRun<Squared>::run;
  static double run(int64_t n, const float* x) {
    const double s = FloatChain<false, Square>::run(n, x);
    return s > 1e-20 && s < 1e38 ? s : run_wide<Squared>(n, x);
  }
};

template <class T>
struct Norm2 : NormBase, SquareRun {
  using In = T;
  static inline Acc lift(T x, double) {
    if constexpr (is_complex<T>)
      return static_cast<double>(x.re) * x.re + static_cast<double>(x.im) * x.im;
    else
      return static_cast<double>(x) * static_cast<double>(x);
  }
  static Out finish(Acc a, int64_t, double) { return __builtin_sqrt(a); }
};
template <class T, bool Max>
struct NormExtremum : NormBase {
  using In = T;
  static Acc identity() { return Max ? 0 : highest<double>(); }
  static inline Acc lift(T x, double) { return magnitude(x); }
  static inline Acc join(Acc a, Acc b) { return better<Max>(a, b); }
};
template <class T>
struct NormP : NormBase {
  using In = T;
  static inline Acc lift(T x, double p) { return ::pow(magnitude(x), p); }
  static Out finish(Acc a, int64_t, double p) { return ::pow(a, 1 / p); }
};

template <class T>
using NormMax = NormExtremum<T, true>;
template <class T>
using NormMin = NormExtremum<T, false>;

}  // namespace

namespace LAMELLA_ISA {

const Fold* sum_fold(Reduce what, int dtype) {
  switch (what) {
    case Reduce::sum:
      return number<Sum>(dtype);
    case Reduce::mean:
      return inexact<Mean>(dtype);
    case Reduce::nansum:
      return real<Nansum>(dtype);
    case Reduce::prod:
      return number<Prod>(dtype);
    case Reduce::norm0:
      return inexact<Norm0>(dtype);
    case Reduce::norm1:
      return inexact<Norm1>(dtype);
    case Reduce::norm2:
      return inexact<Norm2>(dtype);
    case Reduce::norm_max:
      return inexact<NormMax>(dtype);
    case Reduce::norm_min:
      return inexact<NormMin>(dtype);
    case Reduce::norm_p:
      return inexact<NormP>(dtype);
    default:
      return nullptr;
  }
}

}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
