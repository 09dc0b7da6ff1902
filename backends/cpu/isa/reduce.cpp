// Folds over runs and columns. Floats are added in double, doubles pairwise over short blocks; each sum goes through
// a fixed number of lanes, so that values do not depend on the instruction set. Note [Instruction sets]: isa.h.
#include <cmath>
#include <limits>

#include "backends/cpu/folds.h"
#include "backends/cpu/isa/exp.h"
#include "backends/cpu/isa/moments.h"

namespace lattis::cpu {
namespace {

struct Complex {
  double re, im;
};
struct SmallComplex {
  float re, im;
};

template <class T>
constexpr bool floating = false;
template <>
constexpr bool floating<float> = true;
template <>
constexpr bool floating<double> = true;

template <class T>
constexpr int dtype_of = LATTIS_UINT8;
template <>
constexpr int dtype_of<bool> = LATTIS_BOOL;
template <>
constexpr int dtype_of<int32_t> = LATTIS_INT32;
template <>
constexpr int dtype_of<int64_t> = LATTIS_INT64;
template <>
constexpr int dtype_of<uint64_t> = LATTIS_UINT64;
template <>
constexpr int dtype_of<float> = LATTIS_FLOAT32;
template <>
constexpr int dtype_of<double> = LATTIS_FLOAT64;
template <>
constexpr int dtype_of<SmallComplex> = LATTIS_COMPLEX64;
template <>
constexpr int dtype_of<Complex> = LATTIS_COMPLEX128;

template <class T>
constexpr bool is_complex = false;
template <>
constexpr bool is_complex<SmallComplex> = true;
template <>
constexpr bool is_complex<Complex> = true;

template <class A, class B>
constexpr bool same = false;
template <class A>
constexpr bool same<A, A> = true;

template <bool C, class A, class B>
struct Pick {
  using type = A;
};
template <class A, class B>
struct Pick<false, A, B> {
  using type = B;
};
template <class T>
using SumOf = typename Pick<is_complex<T>, Complex, typename Pick<floating<T>, double, int64_t>::type>::type;

// ---- simple folds: a value per element, joined ----------------------------------------------------------------------

template <class Result>
inline Result divided(Result s, int64_t n) {
  if constexpr (same<Result, Complex>)
    return {s.re / static_cast<double>(n), s.im / static_cast<double>(n)};
  else
    return static_cast<Result>(s / static_cast<Result>(n));
}

struct Nothing {};

template <class T, bool SkipNan = false>
struct Sum : Pick<same<T, float> && !SkipNan, FloatChain<false>, Nothing>::type {
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
struct Mean : Sum<T> {
  static SumOf<T> finish(SumOf<T> a, int64_t n, double) { return divided(a, n); }
};

template <class T>
struct Prod : Pick<same<T, float>, FloatChain<true>, Nothing>::type {
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
constexpr T lowest() {
  if constexpr (floating<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::min();
}
template <class T>
constexpr T highest() {
  if constexpr (floating<T>)
    return std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::max();
}

template <bool Max, class T>
inline T better(T a, T b) {  // NaN wins
  if constexpr (Max)
    return ((b > a) | (b != b)) != 0 ? b : a;
  else
    return ((b < a) | (b != b)) != 0 ? b : a;
}

// Extrema of floats: NaN is looked for beside, so that one vector instruction finds the larger.
template <class T, bool Max>
struct FloatExtremum {
  using V = typename Pick<same<T, float>, Floats, Doubles>::type;
  using Mask = typename Pick<same<T, float>, Ints, Longs>::type;
  static constexpr int64_t size = sizeof(V) / sizeof(T);
  static constexpr T worst = Max ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();

  static LATTIS_INLINE void take(V& best, Mask& nan, const V& v) {
    best = Max ? (v > best ? v : best) : (v < best ? v : best);
    nan |= v != v;
  }

  static T run(int64_t n, const T* x) {
    V best[4], v;
    Mask nan[4] = {};
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) best[k] = V{} + worst;
    int64_t i = 0;
    for (; i + 4 * size <= n; i += 4 * size)
#pragma GCC unroll 4
      for (int k = 0; k < 4; k++) {
        load(v, x + i + size * k);
        take(best[k], nan[k], v);
      }
    for (; i + size <= n; i += size) {
      load(v, x + i);
      take(best[0], nan[0], v);
    }
    if (i < n) {  // some are seen twice
      load(v, x + n - size);
      take(best[0], nan[0], v);
    }
    for (int k = 1; k < 4; k++) {
      take(best[0], nan[0], best[k]);
      nan[0] |= nan[k];
    }
    T result = best[0][0];
    auto found = nan[0][0];
    for (int k = 1; k < size; k++) {
      result = Max ? (best[0][k] > result ? best[0][k] : result) : (best[0][k] < result ? best[0][k] : result);
      found |= nan[0][k];
    }
    return found ? std::numeric_limits<T>::quiet_NaN() : result;
  }

  static void few_rows(int64_t rows, const T* x, int64_t stride, int64_t width, T* a) {
    int64_t k = 0;
    for (; k + size <= width; k += size) {
      V best, v;
      load(best, a + k);
      Mask nan = best != best;
      for (int64_t r = 0; r < rows; r++) {
        load(v, x + r * stride + k);
        take(best, nan, v);
      }
      best = nan ? V{} + std::numeric_limits<T>::quiet_NaN() : best;
      __builtin_memcpy(a + k, &best, sizeof best);
    }
    for (; k < width; k++)
      for (int64_t r = 0; r < rows; r++) a[k] = better<Max>(a[k], x[r * stride + k]);
  }
};

template <class T, bool Max>
struct Extremum : Pick<floating<T>, FloatExtremum<T, Max>, Nothing>::type {
  using In = T;
  using Acc = T;
  using Out = T;
  static Acc identity() { return Max ? lowest<T>() : highest<T>(); }
  static inline Acc lift(T x, double) { return x; }
  static inline Acc join(Acc a, Acc b) { return better<Max>(a, b); }
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
// Sums of what Op makes of doubles, in four vectors.
template <class Op, class T>
LATTIS_INLINE double run_wide(int64_t n, const T* x) {
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
  if (i < n) {  // the last eight again, without what was counted
    load_wide(v, x + n - 8);
    Op::apply(v);
    const Longs at = {0, 1, 2, 3, 4, 5, 6, 7};
    a[0] += at >= 8 - (n - i) ? v : Doubles{};
  }
  return add_up((a[0] + a[1]) + (a[2] + a[3]));
}
struct Absolute {
  static LATTIS_INLINE void apply(Doubles& v) { v = (Doubles)((Longs)v & 0x7fffffffffffffff); }
};
struct Squared {
  static LATTIS_INLINE void apply(Doubles& v) { v *= v; }
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
// Squares of floats leave their range early: where the sum did, or comes near the lower end, it is done in double.
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

template <class Op>
constexpr bool quick_run = requires(const typename Op::In* x) {
  Op::run(16, x);
};
template <class Op>
constexpr bool eight_at_once = requires(const typename Op::In* x, typename Op::Acc* a) {
  Op::eight_rows(x, 1, 1, a);
};
template <class Op>
constexpr bool few_at_once = requires(const typename Op::In* x, typename Op::Acc* a) {
  Op::few_rows(1, x, 1, 1, a);
};

template <class Op>
struct Simple {
  using T = typename Op::In;
  using A = typename Op::Acc;
  static constexpr int64_t lanes = 256 / sizeof(A);

  static void start(int64_t n, void* acc) {
    for (int64_t i = 0; i < n; i++) static_cast<A*>(acc)[i] = Op::identity();
  }

  static void run(int64_t n, const void* data, int64_t, double param, void* acc) {
    auto* x = static_cast<const T*>(data);
    A& total = *static_cast<A*>(acc);
    if constexpr (quick_run<Op>) {
      if (n >= 16) {
        total = Op::join(total, Op::run(n, x));
        return;
      }
    }
    if (n < lanes / 2) {
      A few = Op::identity();
      for (int64_t i = 0; i < n; i++) few = Op::join(few, Op::lift(x[i], param));
      total = Op::join(total, few);
      return;
    }
    A lane[lanes];
    for (int64_t k = 0; k < lanes; k++) lane[k] = Op::identity();
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes)
      for (int64_t k = 0; k < lanes; k++) lane[k] = Op::join(lane[k], Op::lift(x[i + k], param));
    for (int64_t k = 0; k < n - i; k++) lane[k] = Op::join(lane[k], Op::lift(x[i + k], param));
    for (int64_t w = lanes / 2; w > 0; w /= 2)
      for (int64_t k = 0; k < w; k++) lane[k] = Op::join(lane[k], lane[k + w]);
    total = Op::join(total, lane[0]);
  }

  static void columns(int64_t rows, const void* data, int64_t stride, int64_t width, int64_t, double param, void* acc) {
    auto* x = static_cast<const T*>(data);
    auto* a = static_cast<A*>(acc);
    int64_t r = 0;
    if constexpr (eight_at_once<Op>)
      for (; r + 8 <= rows; r += 8, x += 8 * stride) Op::eight_rows(x, stride, width, a);
    if constexpr (few_at_once<Op>) {
      for (; r < rows; r += 8, x += 8 * stride) Op::few_rows(rows - r < 8 ? rows - r : 8, x, stride, width, a);
      return;
    }
    for (; r + 4 <= rows; r += 4, x += 4 * stride) {
      const T *x1 = x + stride, *x2 = x1 + stride, *x3 = x2 + stride;
#pragma omp simd
      for (int64_t k = 0; k < width; k++)
        a[k] = Op::join(a[k], Op::join(Op::join(Op::lift(x[k], param), Op::lift(x1[k], param)),
                                       Op::join(Op::lift(x2[k], param), Op::lift(x3[k], param))));
    }
    for (; r < rows; r++, x += stride) {
#pragma omp simd
      for (int64_t k = 0; k < width; k++) a[k] = Op::join(a[k], Op::lift(x[k], param));
    }
  }

  static void join(int64_t n, void* acc, const void* later) {
    auto* a = static_cast<A*>(acc);
    auto* b = static_cast<const A*>(later);
    for (int64_t k = 0; k < n; k++) a[k] = Op::join(a[k], b[k]);
  }

  static void finish(int64_t n, const void* acc, int64_t length, double param, void* out, void*) {
    for (int64_t k = 0; k < n; k++)
      static_cast<typename Op::Out*>(out)[k] = Op::finish(static_cast<const A*>(acc)[k], length, param);
  }

  static constexpr Fold table = {
      dtype_of<T>, {dtype_of<typename Op::Out>, 0}, sizeof(A), false, start, run, columns, join, finish};
};

// ---- positions of extrema: the first of equals, the first NaN -------------------------------------------------------

template <class T, bool Max>
struct Position {
  struct Best {
    T value;
    int64_t index;
  };
  using Index = typename Pick<sizeof(T) == 8, int64_t, int32_t>::type;

  static inline bool beats(T x, T best) {
    return Max ? (x > best) | ((x != x) & (best == best)) : (x < best) | ((x != x) & (best == best));
  }
  static inline void offer(Best& best, T value, int64_t index) {
    if (best.index < 0 || beats(value, best.value)) best = {value, index};
  }

  static void start(int64_t n, void* acc) {
    for (int64_t i = 0; i < n; i++) static_cast<Best*>(acc)[i] = {Max ? lowest<T>() : highest<T>(), -1};
  }

  // A chunk's extremum first; its position only where the chunk has something better.
  static void run(int64_t n, const void* data, int64_t first, double, void* acc) {
    auto* x = static_cast<const T*>(data);
    Best& best = *static_cast<Best*>(acc);
    if (n < 32) {
      for (int64_t i = 0; i < n; i++) offer(best, x[i], first + i);
      return;
    }
    constexpr int64_t chunk = 1024;
    for (int64_t from = 0; from < n; from += chunk) {
      const int64_t m = n - from < chunk ? n - from : chunk;
      T found = Max ? lowest<T>() : highest<T>();
      Simple<Extremum<T, Max>>::run(m, x + from, 0, 0, &found);
      if (best.index >= 0 && !beats(found, best.value)) continue;
      int64_t i = from;
      if (found == found)
        while (x[i] != found) i++;
      else
        while (x[i] == x[i]) i++;
      best = {found, first + i};
    }
  }

  static void columns(int64_t rows, const void* data, int64_t stride, int64_t width, int64_t first, double, void* acc) {
    auto* x = static_cast<const T*>(data);
    T value[fold_width];
    Index row[fold_width];
    for (int64_t k = 0; k < width; k++) value[k] = x[k];
    for (int64_t k = 0; k < width; k++) row[k] = 0;
    for (Index r = 1; r < rows; r++) {
      const T* at = x + r * stride;
#pragma omp simd
      for (int64_t k = 0; k < width; k++) {
        const bool wins = beats(at[k], value[k]);
        value[k] = wins ? at[k] : value[k];
        row[k] = wins ? r : row[k];
      }
    }
    if (rows > 0)
      for (int64_t k = 0; k < width; k++) offer(static_cast<Best*>(acc)[k], value[k], first + row[k]);
  }

  static void join(int64_t n, void* acc, const void* later) {
    auto* b = static_cast<const Best*>(later);
    for (int64_t k = 0; k < n; k++)
      if (b[k].index >= 0) offer(static_cast<Best*>(acc)[k], b[k].value, b[k].index);
  }

  static void finish(int64_t n, const void* acc, int64_t, double, void* out, void* second) {
    auto* a = static_cast<const Best*>(acc);
    for (int64_t k = 0; k < n; k++) static_cast<int64_t*>(out)[k] = a[k].index;
    if (second)
      for (int64_t k = 0; k < n; k++) static_cast<T*>(second)[k] = a[k].value;
  }

  static constexpr Fold table = {
      dtype_of<T>, {LATTIS_INT64, dtype_of<T>}, sizeof(Best), true, start, run, columns, join, finish};
};

// ---- the smallest and the largest at once
// -----------------------------------------------------------------------------

template <class T>
struct MinMax {
  struct Both {
    T low, high;
  };
  using Low = Simple<Extremum<T, false>>;
  using High = Simple<Extremum<T, true>>;

  static void start(int64_t n, void* acc) {
    for (int64_t i = 0; i < n; i++) static_cast<Both*>(acc)[i] = {highest<T>(), lowest<T>()};
  }
  static void run(int64_t n, const void* data, int64_t, double, void* acc) {
    auto* x = static_cast<const T*>(data);
    auto* both = static_cast<Both*>(acc);
    constexpr int64_t chunk = 1024;  // stays in the cache for the second look
    for (int64_t i = 0; i < n; i += chunk) {
      Low::run(n - i < chunk ? n - i : chunk, x + i, 0, 0, &both->low);
      High::run(n - i < chunk ? n - i : chunk, x + i, 0, 0, &both->high);
    }
  }
  static void columns(int64_t rows, const void* data, int64_t stride, int64_t width, int64_t, double, void* acc) {
    auto* x = static_cast<const T*>(data);
    T low[fold_width], high[fold_width];
    Low::start(width, low);
    High::start(width, high);
    for (int64_t r = 0; r < rows; r += 8) {
      const int64_t m = rows - r < 8 ? rows - r : 8;
      Low::columns(m, x + r * stride, stride, width, 0, 0, low);
      High::columns(m, x + r * stride, stride, width, 0, 0, high);
    }
    for (int64_t k = 0; k < width; k++) {
      const Both seen = {low[k], high[k]};
      join(1, static_cast<Both*>(acc) + k, &seen);
    }
  }
  static void join(int64_t n, void* acc, const void* later) {
    auto* a = static_cast<Both*>(acc);
    auto* b = static_cast<const Both*>(later);
    for (int64_t k = 0; k < n; k++) a[k] = {better<false>(a[k].low, b[k].low), better<true>(a[k].high, b[k].high)};
  }
  static void finish(int64_t n, const void* acc, int64_t, double, void* out, void* second) {
    for (int64_t k = 0; k < n; k++) {
      static_cast<T*>(out)[k] = static_cast<const Both*>(acc)[k].low;
      static_cast<T*>(second)[k] = static_cast<const Both*>(acc)[k].high;
    }
  }
  static constexpr Fold table = {
      dtype_of<T>, {dtype_of<T>, dtype_of<T>}, sizeof(Both), false, start, run, columns, join, finish};
};

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
      dtype_of<T>, {LATTIS_FLOAT64, LATTIS_FLOAT64}, sizeof(Moments), false, start, run, columns, join, finish};
};

// A complex variance is that of the real parts plus that of the imaginary ones.
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
      dtype_of<T>, {LATTIS_FLOAT64, LATTIS_COMPLEX128}, sizeof(Acc), false, start, run, columns, join, finish};
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
    if (largest - largest != 0) return add(a, largest, 1);  // infinite or NaN decides alone
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
    constexpr int64_t few = 32;  // rows that stay in the cache between the two looks at them
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

  static constexpr Fold table = {dtype_of<T>, {LATTIS_FLOAT64, 0}, sizeof(Acc), false, start, run, columns, join,
                                 finish};
};

// ---- which fold serves a dtype --------------------------------------------------------------------------------------

template <template <class> class Make>
const Fold* number(int dtype) {  // bool as bytes, integers as int64, halves as float
  switch (dtype) {
    case LATTIS_BOOL:
    case LATTIS_UINT8:
      return &Make<uint8_t>::table;
    case LATTIS_FLOAT16:
    case LATTIS_BFLOAT16:
    case LATTIS_FLOAT32:
      return &Make<float>::table;
    case LATTIS_FLOAT64:
      return &Make<double>::table;
    case LATTIS_COMPLEX64:
      return &Make<SmallComplex>::table;
    case LATTIS_COMPLEX128:
      return &Make<Complex>::table;
    default:
      return &Make<int64_t>::table;
  }
}

template <template <class> class Make>
const Fold* ordered(int dtype) {
  switch (dtype) {
    case LATTIS_BOOL:
    case LATTIS_UINT8:
      return &Make<uint8_t>::table;
    case LATTIS_INT8:
    case LATTIS_INT16:
    case LATTIS_UINT16:
    case LATTIS_INT32:
      return &Make<int32_t>::table;
    case LATTIS_UINT64:
      return &Make<uint64_t>::table;
    case LATTIS_FLOAT16:
    case LATTIS_BFLOAT16:
    case LATTIS_FLOAT32:
      return &Make<float>::table;
    case LATTIS_FLOAT64:
      return &Make<double>::table;
    case LATTIS_COMPLEX64:
    case LATTIS_COMPLEX128:
      return nullptr;
    default:
      return &Make<int64_t>::table;
  }
}

template <template <class> class Make>
const Fold* real(int dtype) {
  switch (dtype) {
    case LATTIS_FLOAT16:
    case LATTIS_BFLOAT16:
    case LATTIS_FLOAT32:
      return &Make<float>::table;
    case LATTIS_FLOAT64:
      return &Make<double>::table;
    default:
      return nullptr;
  }
}

template <template <class> class Make>
const Fold* inexact(int dtype) {
  switch (dtype) {
    case LATTIS_COMPLEX64:
      return &Make<SmallComplex>::table;
    case LATTIS_COMPLEX128:
      return &Make<Complex>::table;
    default:
      return real<Make>(dtype);
  }
}

template <class T>
using SumFold = Simple<Sum<T>>;
template <class T>
using MeanFold = Simple<Mean<T>>;
template <class T>
using NansumFold = Simple<Sum<T, true>>;
template <class T>
using ProdFold = Simple<Prod<T>>;
template <class T>
using MaxFold = Simple<Extremum<T, true>>;
template <class T>
using MinFold = Simple<Extremum<T, false>>;
template <class T>
using ArgmaxFold = Position<T, true>;
template <class T>
using ArgminFold = Position<T, false>;
template <class T>
using Norm0Fold = Simple<Norm0<T>>;
template <class T>
using Norm1Fold = Simple<Norm1<T>>;
template <class T>
using Norm2Fold = Simple<Norm2<T>>;
template <class T>
using NormMaxFold = Simple<NormExtremum<T, true>>;
template <class T>
using NormMinFold = Simple<NormExtremum<T, false>>;
template <class T>
using NormPFold = Simple<NormP<T>>;
template <class T>
using VarFold = typename Pick<is_complex<T>, ComplexVariance<T, false>, Variance<T, false>>::type;
template <class T>
using StdFold = typename Pick<is_complex<T>, ComplexVariance<T, true>, Variance<T, true>>::type;

}  // namespace

namespace LATTIS_ISA {

const Fold* fold(Reduce what, int dtype) {
  switch (what) {
    case Reduce::sum:
      return number<SumFold>(dtype);
    case Reduce::mean:
      return inexact<MeanFold>(dtype);
    case Reduce::nansum:
      return real<NansumFold>(dtype);
    case Reduce::prod:
      return number<ProdFold>(dtype);
    case Reduce::amax:
      return ordered<MaxFold>(dtype);
    case Reduce::amin:
      return ordered<MinFold>(dtype);
    case Reduce::aminmax:
      return ordered<MinMax>(dtype);
    case Reduce::argmax:
      return ordered<ArgmaxFold>(dtype);
    case Reduce::argmin:
      return ordered<ArgminFold>(dtype);
    case Reduce::norm0:
      return inexact<Norm0Fold>(dtype);
    case Reduce::norm1:
      return inexact<Norm1Fold>(dtype);
    case Reduce::norm2:
      return inexact<Norm2Fold>(dtype);
    case Reduce::norm_max:
      return inexact<NormMaxFold>(dtype);
    case Reduce::norm_min:
      return inexact<NormMinFold>(dtype);
    case Reduce::norm_p:
      return inexact<NormPFold>(dtype);
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

}  // namespace LATTIS_ISA
}  // namespace lattis::cpu
