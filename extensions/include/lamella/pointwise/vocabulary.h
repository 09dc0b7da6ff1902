/* The scalar vocabulary in which pointwise operators are written. Each word works on real numbers (where compilers turn
 * it into vector code, glibc's libmvec for the functions), many on Complex, and all on Symbol, where the result is the
 * text of the word of <lamella/pointwise/prelude.h> with the same name and meaning.
 * Include this before <cmath>: the declarations below tell the compiler which functions have vector forms. */
#ifndef LAMELLA_POINTWISE_VOCABULARY_H
#define LAMELLA_POINTWISE_VOCABULARY_H

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc99-extensions" /* _Complex */
#endif
#if defined(__x86_64__) && defined(__linux__) && !defined(__clang__)
#define LAMELLA_SIMD __attribute__((simd("notinbranch")))
#else
#define LAMELLA_SIMD
#endif

/* The functions that libmvec has, X(name): of one argument, and of two. */
/* clang-format off */
#define LAMELLA_VECTOR_FUNCTIONS(X) X(exp) LAMELLA_VECTOR_FUNCTIONS_BUT_EXP(X)
#define LAMELLA_VECTOR_FUNCTIONS_BUT_EXP(X) \
  X(log) X(sin) X(cos) X(tanh) X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atanh) X(sinh) X(cosh) X(tan) X(exp2) \
  X(expm1) X(log10) X(log1p) X(log2) X(erf) X(erfc)
/* clang-format on */
#define LAMELLA_VECTOR_FUNCTIONS_2(X) X(pow) X(atan2) X(hypot)

extern "C" {
#define LAMELLA_DECLARE_1(name)                     \
  LAMELLA_SIMD float name##f(float) noexcept(true); \
  LAMELLA_SIMD double name(double) noexcept(true);
LAMELLA_VECTOR_FUNCTIONS(LAMELLA_DECLARE_1)
#undef LAMELLA_DECLARE_1
#define LAMELLA_DECLARE_2(name)                            \
  LAMELLA_SIMD float name##f(float, float) noexcept(true); \
  LAMELLA_SIMD double name(double, double) noexcept(true);
LAMELLA_VECTOR_FUNCTIONS_2(LAMELLA_DECLARE_2)
#undef LAMELLA_DECLARE_2
}

#define LAMELLA_VECTOR_LANES
#include <lamella/pointwise/special/words.h>

#include <lamella/pointwise/special/draws.h>
#include <lamella/pointwise/special/implicit_gradients.h>
#include <lamella/types.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <type_traits>

namespace lamella::pointwise {

namespace { /* objects of several instruction sets must not share these */

/* A product that is rounded before it is added to another: g++ 12 and later make fused instructions of sums and
 * differences of products side by side, also where -ffp-contract=off forbids it. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define LAMELLA_ROUNDED(x) __builtin_assoc_barrier(x)
#else
#define LAMELLA_ROUNDED(x) (x)
#endif

/* A complex number as it lies in memory. Products and quotients are numpy's: plain, and by Smith's algorithm. */
template <class F>
struct Complex {
  using part = F;
  F re, im;
  Complex() = default;
  constexpr Complex(F r, F i = 0) : re(r), im(i) {}

  friend inline Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend inline Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend inline Complex operator*(Complex a, Complex b) {
    return {LAMELLA_ROUNDED(a.re * b.re) - LAMELLA_ROUNDED(a.im * b.im),
            LAMELLA_ROUNDED(a.re * b.im) + LAMELLA_ROUNDED(a.im * b.re)};
  }
  friend inline Complex operator/(Complex a, Complex b) {
    const bool wide = __builtin_fabs(b.re) >= __builtin_fabs(b.im);
    const F big = wide ? b.re : b.im, small = wide ? b.im : b.re;
    if (big == 0 && small == 0) return {a.re / F(0), a.im / F(0)};
    const F ratio = small / big, scale = 1 / (big + small * ratio);
    const F first = LAMELLA_ROUNDED((wide ? a.im : a.re) * ratio),
            second = LAMELLA_ROUNDED((wide ? a.re : a.im) * ratio);
    if (wide) return {(a.re + first) * scale, (a.im - second) * scale};
    return {(first + a.im) * scale, (second - a.re) * scale};
  }
  friend inline Complex operator-(Complex a) { return {-a.re, -a.im}; }
  friend inline bool operator==(Complex a, Complex b) { return a.re == b.re && a.im == b.im; }
  friend inline bool operator!=(Complex a, Complex b) { return !(a == b); }
};

/* A number that is a text: an operator called with symbols of a dtype class (enum lamella_dtype_class) returns what it
 * computes in that class, as an expression in C's notation. */
template <int Class>
struct Symbol {
  std::string text;
};
using RealSymbol = Symbol<LAMELLA_CLASS_FLOATING>;
using Truth = Symbol<LAMELLA_CLASS_BOOL>; /* also the result of a comparison */
template <>
struct Symbol<LAMELLA_CLASS_COMPLEX> {
  using part = RealSymbol;
  std::string text;
  part re, im;
  Symbol(const std::string& t) : text(t), re{t + ".re"}, im{t + ".im"} {}
  Symbol(const part& r, const part& i) : Symbol("make(" + r.text + ", " + i.text + ")") {}
};

template <class T>
constexpr int symbol_class = 0;
template <int Class>
constexpr int symbol_class<Symbol<Class>> = Class;
template <class T>
constexpr bool is_symbol = symbol_class<T> != 0;
template <class T>
constexpr bool is_complex =
    std::is_same_v<T, Complex<float>> || std::is_same_v<T, Complex<double>> || symbol_class<T> == LAMELLA_CLASS_COMPLEX;
template <class T>
constexpr bool is_bool = std::is_same_v<T, bool> || symbol_class<T> == LAMELLA_CLASS_BOOL;
template <class T>
constexpr bool is_integral = (std::is_integral_v<T> && !is_bool<T>) || symbol_class<T> == LAMELLA_CLASS_INTEGRAL;
template <class T>
constexpr bool is_floating = std::is_floating_point_v<T> || symbol_class<T> == LAMELLA_CLASS_FLOATING;

/* A constant of T. */
template <class T>
inline T number(double x) {
  if constexpr (symbol_class<T> == LAMELLA_CLASS_COMPLEX) {
    return T(number<typename T::part>(x), number<typename T::part>(0));
  } else if constexpr (is_symbol<T>) {
    char s[32];
    std::snprintf(s, sizeof s, "%.17g", x);
    return {std::string("((R)") + (x - x == 0 ? s : x != x ? "NAN" : x > 0 ? "INFINITY" : "-INFINITY") + ")"};
  } else if constexpr (is_complex<T>) {
    return T(static_cast<typename T::part>(x));
  } else {
    return static_cast<T>(x);
  }
}

template <class T>
inline T where(bool c, T a, T b) {
  return c ? a : b;
}
template <int Class>
inline Symbol<Class> where(const Truth& c, const Symbol<Class>& a, const Symbol<Class>& b) {
  return {"(" + c.text + " ? " + a.text + " : " + b.text + ")"};
}

/* ---- functions of real numbers ---- */

/* x * y + z, rounded once if the instruction set has an instruction for it. */
inline float fused(float x, float y, float z) {
#ifdef __FMA__
  return __builtin_fmaf(x, y, z);
#else
  return x * y + z;
#endif
}

/* Returns e^r for x = n * log(2) + r, where |r| <= log(2) / 2: e^x = 2^n * e^r. */
inline float exp_of_rest(float x, float n) {
  const float r = fused(n, -1.42860677e-6f, fused(n, -0.693145752f, x));
  float p = fused(fused(1.3814538e-3f, r, 8.3687454e-3f), r, 4.1668391e-2f);
  p = fused(fused(p, r, 1.6666520e-1f), r, 0.49999993f);
  return fused(p * r, r, r) + 1.0f;
}
inline float power_of_two(int32_t n) {
  const int32_t bits = (n + 127) << 23;
  float x;
  __builtin_memcpy(&x, &bits, 4);
  return x;
}
/* e^x for |x| <= 87, of which e^x is a normal number. */
inline float normal_exp(float x) {
  const float n = __builtin_rintf(x * 1.44269504f);
  return exp_of_rest(x, n) * power_of_two(static_cast<int32_t>(n));
}
/* e^x within one unit in the last place, shorter than a call; in two steps, since 2^n may be no normal number. */
inline float fast_exp(float x) {
  const float n = __builtin_rintf(x * 1.44269504f);
  const int32_t k = static_cast<int32_t>(n), half = k >> 1;
  const float p = exp_of_rest(x, n) * power_of_two(half) * power_of_two(k - half);
  const float y = where(x < -104.0f, 0.0f, p);
  return where(x > 88.7228394f, std::numeric_limits<float>::infinity(), y);
}

#ifdef __FMA__
inline float exp_(float x) { return fast_exp(x); }
#else
inline float exp_(float x) { return ::expf(x); }
#endif
inline double exp_(double x) { return ::exp(x); }
#define LAMELLA_WORD_1(name)                             \
  inline float name##_(float x) { return ::name##f(x); } \
  inline double name##_(double x) { return ::name(x); }
LAMELLA_VECTOR_FUNCTIONS_BUT_EXP(LAMELLA_WORD_1)
#undef LAMELLA_WORD_1
#define LAMELLA_WORD_2(name)                                         \
  inline float name##_(float x, float y) { return ::name##f(x, y); } \
  inline double name##_(double x, double y) { return ::name(x, y); }
LAMELLA_VECTOR_FUNCTIONS_2(LAMELLA_WORD_2)
#undef LAMELLA_WORD_2
/* Single instructions, or functions that are called for each element. */
#define LAMELLA_BUILTIN_1(name, builtin)                              \
  inline float name##_(float x) { return __builtin_##builtin##f(x); } \
  inline double name##_(double x) { return __builtin_##builtin(x); }
LAMELLA_BUILTIN_1(sqrt, sqrt)
LAMELLA_BUILTIN_1(abs, fabs)
LAMELLA_BUILTIN_1(floor, floor)
LAMELLA_BUILTIN_1(ceil, ceil)
LAMELLA_BUILTIN_1(trunc, trunc)
LAMELLA_BUILTIN_1(round, rint) /* half to even */
#undef LAMELLA_BUILTIN_1
inline float copysign_(float x, float y) { return __builtin_copysignf(x, y); }
inline double copysign_(double x, double y) { return __builtin_copysign(x, y); }
inline float fmod_(float x, float y) { return __builtin_fmodf(x, y); }
inline double fmod_(double x, double y) { return __builtin_fmod(x, y); }
/* Reads the sign bit from memory: GCC 12 fails on its own __builtin_signbit of a converted bfloat16. */
inline bool signbit_(float x) {
  int32_t bits;
  __builtin_memcpy(&bits, &x, 4);
  return bits < 0;
}
inline bool signbit_(double x) {
  int64_t bits;
  __builtin_memcpy(&bits, &x, 8);
  return bits < 0;
}
inline double lgamma_(double x) { return lamella_lgamma(x); }
inline float lgamma_(float x) { return lamella_lgamma_float(x); }

/* The probability that a normal variable is below x, computed from the tail, so that small results are precise. */
inline float normal_cdf_(float x) {
  const float a = abs_(x), b = where(a > 13.0f, 13.0f, a);
  const float p =
      fused(fused(fused(fused(4.11631420e-3f, b, 4.06332383e-2f), b, 0.183235100f), b, 0.438294758f), b, 0.5f);
  const float q = fused(
      fused(fused(fused(fused(1.03179498e-2f, b, 0.101858872f), b, 0.469470536f), b, 1.20250276f), b, 1.67447450f), b,
      1.0f);
  const float s = b * b, numerator = fused(p, -0.5f * fused(b, b, -s), p); /* corrects the rounding of the square */
  const float tail = where(a > 13.0f, 0.0f, normal_exp(-0.5f * s) * numerator / q);
  return where(x < 0.0f, tail, 1.0f - tail);
}
inline double normal_cdf_(double x) { return 0.5 * ::erfc(x * -0.70710678118654752); }

/* The quotient rounded toward minus infinity, by Python's algorithm: exact also where x/y rounds up to an integer. */
template <class T>
inline std::enable_if_t<std::is_floating_point_v<T>, T> floor_quotient_(T x, T y) {
  if (y == T(0)) return x / y;
  T m = fmod_(x, y), q = (x - m) / y;
  if (m != T(0) && (m < T(0)) != (y < T(0))) q -= T(1);
  if (q == T(0)) return copysign_(T(0), x / y);
  T f = floor_(q);
  return q - f > T(0.5) ? f + T(1) : f;
}

inline double erfinv_(double y) { return lamella_erfinv(y); }
inline float erfinv_(float y) { return lamella_erfinv_float(y); }
#define LAMELLA_SPECIAL_WORD(name)                              \
  inline double name##_(double x) { return lamella_##name(x); } \
  inline float name##_(float x) { return static_cast<float>(lamella_##name(x)); }
LAMELLA_SPECIAL_FUNCTIONS(LAMELLA_SPECIAL_WORD)
#undef LAMELLA_SPECIAL_WORD
#define LAMELLA_SPECIAL_WORD_2(name)                                         \
  inline double name##_(double x, double y) { return lamella_##name(x, y); } \
  inline float name##_(float x, float y) { return static_cast<float>(lamella_##name(x, y)); }
LAMELLA_SPECIAL_FUNCTIONS_2(LAMELLA_SPECIAL_WORD_2)
#undef LAMELLA_SPECIAL_WORD_2

/* Draws from a seed, and their gradients, in double. */
#define LAMELLA_DRAW_2(name)                                                 \
  inline double name##_(double x, double y) { return lamella_##name(x, y); } \
  inline float name##_(float x, float y) { return static_cast<float>(lamella_##name(x, y)); }
#define LAMELLA_DRAW_3(name)                                                              \
  inline double name##_(double x, double y, double z) { return lamella_##name(x, y, z); } \
  inline float name##_(float x, float y, float z) { return static_cast<float>(lamella_##name(x, y, z)); }
LAMELLA_DRAW_2(gamma_draw)
LAMELLA_DRAW_2(poisson_draw)
LAMELLA_DRAW_2(gamma_gradient)
LAMELLA_DRAW_3(binomial_draw)
LAMELLA_DRAW_3(beta_gradient)
#undef LAMELLA_DRAW_2
#undef LAMELLA_DRAW_3

/* ---- functions of integers and bools ---- */

template <class T>
using IfInteger = std::enable_if_t<std::is_integral_v<T>, T>;

template <class T>
inline IfInteger<T> abs_(T x) {
  if constexpr (std::is_unsigned_v<T>)
    return x;
  else
    return static_cast<T>(x < 0 ? -x : x);
}
/* The quotient rounded toward zero; 0 for a division by zero. */
template <class T>
inline IfInteger<T> quotient_(T x, T y) {
  if constexpr (std::is_signed_v<T>)
    return y == T(0) ? T(0) : y == T(-1) ? static_cast<T>(-x) : static_cast<T>(x / y);
  else
    return y == T(0) ? T(0) : static_cast<T>(x / y);
}
/* The quotient rounded toward minus infinity; 0 for a division by zero. */
template <class T>
inline IfInteger<T> floor_quotient_(T x, T y) {
  if constexpr (std::is_signed_v<T>) {
    if (y == T(0)) return T(0);
    if (y == T(-1)) return static_cast<T>(-x);
    T q = static_cast<T>(x / y);
    return static_cast<T>(q - ((x % y != 0) && ((x < 0) != (y < 0))));
  } else {
    return y == T(0) ? T(0) : static_cast<T>(x / y);
  }
}
/* The remainder of quotient_; 0 for a division by zero. */
template <class T>
inline IfInteger<T> fmod_(T x, T y) {
  if constexpr (std::is_signed_v<T>)
    return y == T(0) || y == T(-1) ? T(0) : static_cast<T>(x % y);
  else
    return y == T(0) ? T(0) : static_cast<T>(x % y);
}
/* The greatest common divisor, by Stein's algorithm, and the least common multiple of the absolute values; it wraps. */
template <class T>
inline IfInteger<T> gcd_(T x, T y) {
  using U = std::make_unsigned_t<T>;
  U a = static_cast<U>(abs_(x)), b = static_cast<U>(abs_(y));
  if (a == 0 || b == 0) return static_cast<T>(a | b);
  const uint64_t both = uint64_t{a} | uint64_t{b};
  const int shift = __builtin_ctzll(both);
  a = static_cast<U>(a >> __builtin_ctzll(uint64_t{a}));
  while (b != 0) { /* Stein, 1967 */
    b = static_cast<U>(b >> __builtin_ctzll(uint64_t{b}));
    const U low = a < b ? a : b;
    b = static_cast<U>(a < b ? b - a : a - b);
    a = low;
  }
  return static_cast<T>(a << shift);
}
template <class T>
inline IfInteger<T> lcm_(T x, T y) {
  const T g = gcd_(x, y);
  return g == T(0) ? T(0) : static_cast<T>(abs_(quotient_(x, g)) * abs_(y));
}
/* Shifts by a negative number, or by at least as many bits as T has, leave zeros, or copies of the sign. */
template <class T>
inline IfInteger<T> shift_left_(T x, T y) {
  using U = std::make_unsigned_t<T>;
  constexpr U bits = sizeof(T) * 8;
  return static_cast<U>(y) >= bits ? T(0) : static_cast<T>(static_cast<U>(x) << static_cast<U>(y));
}
template <class T>
inline IfInteger<T> shift_right_(T x, T y) {
  using U = std::make_unsigned_t<T>;
  constexpr U bits = sizeof(T) * 8;
  const bool all = static_cast<U>(y) >= bits;
  if constexpr (std::is_unsigned_v<T>)
    return all ? T(0) : static_cast<T>(x >> y);
  else
    return static_cast<T>(x >> (all ? static_cast<T>(bits - 1) : y));
}
/* x^n by squaring, which wraps; for a negative n the power rounded toward zero, and 0 if x is 0. */
template <class T>
inline IfInteger<T> pow_(T x, T n) {
  if constexpr (std::is_signed_v<T>)
    if (n < 0) return x == 1 ? T(1) : x == T(-1) ? (n % 2 ? T(-1) : T(1)) : T(0);
  T r = 1;
  for (; n; n = static_cast<T>(n >> 1)) {
    if (n & 1) r = static_cast<T>(r * x);
    x = static_cast<T>(x * x);
  }
  return r;
}

/* ---- functions of complex numbers: the C library's, which numpy uses too ---- */

inline _Complex float to_c(Complex<float> x) {
  _Complex float c;
  __real__ c = x.re;
  __imag__ c = x.im;
  return c;
}
inline _Complex double to_c(Complex<double> x) {
  _Complex double c;
  __real__ c = x.re;
  __imag__ c = x.im;
  return c;
}
inline Complex<float> from_c(_Complex float x) { return {__real__ x, __imag__ x}; }
inline Complex<double> from_c(_Complex double x) { return {__real__ x, __imag__ x}; }
#define LAMELLA_COMPLEX_WORD(name)                                                                  \
  inline Complex<float> name##_(Complex<float> x) { return from_c(__builtin_c##name##f(to_c(x))); } \
  inline Complex<double> name##_(Complex<double> x) { return from_c(__builtin_c##name(to_c(x))); }
LAMELLA_COMPLEX_WORD(exp)
LAMELLA_COMPLEX_WORD(log)
LAMELLA_COMPLEX_WORD(sin)
LAMELLA_COMPLEX_WORD(cos)
LAMELLA_COMPLEX_WORD(tan)
LAMELLA_COMPLEX_WORD(tanh)
LAMELLA_COMPLEX_WORD(sinh)
LAMELLA_COMPLEX_WORD(cosh)
LAMELLA_COMPLEX_WORD(acos)
LAMELLA_COMPLEX_WORD(acosh)
LAMELLA_COMPLEX_WORD(asin)
LAMELLA_COMPLEX_WORD(asinh)
LAMELLA_COMPLEX_WORD(atan)
LAMELLA_COMPLEX_WORD(atanh)
LAMELLA_COMPLEX_WORD(sqrt)
#undef LAMELLA_COMPLEX_WORD

inline float modulus(Complex<float> x) { return ::hypotf(x.re, x.im); }
inline double modulus(Complex<double> x) { return ::hypot(x.re, x.im); }
template <class F>
inline F arg(Complex<F> x) {
  return atan2_(x.im, x.re);
}
template <class F>
inline Complex<F> log2_(Complex<F> x) {
  const Complex<F> l = log_(x);
  const F k = F(1.4426950408889634);
  return {l.re * k, l.im * k};
}
template <class F>
inline Complex<F> log10_(Complex<F> x) {
  const Complex<F> l = log_(x);
  const F k = F(0.4342944819032518);
  return {l.re * k, l.im * k};
}
template <class F>
inline Complex<F> exp2_(Complex<F> x) {
  const F k = F(0.6931471805599453);
  return exp_(Complex<F>(x.re * k, x.im * k));
}
template <class F>
inline Complex<F> log1p_(Complex<F> x) {
  const F l = hypot_(x.re + 1, x.im);
  return {log_(l), atan2_(x.im, x.re + 1)};
}
template <class F>
inline Complex<F> expm1_(Complex<F> x) {
  const F half = sin_(x.im / 2);
  return {expm1_(x.re) * cos_(x.im) - 2 * half * half, exp_(x.re) * sin_(x.im)};
}

inline _Complex float cpow_c(_Complex float x, _Complex float y) { return __builtin_cpowf(x, y); }
inline _Complex double cpow_c(_Complex double x, _Complex double y) { return __builtin_cpow(x, y); }
/* Whole exponents between -100 and 100 by squaring, as numpy does, which is exact if every product is. */
template <class F>
inline Complex<F> pow_(Complex<F> x, Complex<F> y) {
  if (y == Complex<F>(0)) return {1, 0};
  if (x == Complex<F>(0)) {
    if (y.re > 0 && y.im == 0) return {0, 0};
    return {std::numeric_limits<F>::quiet_NaN(), std::numeric_limits<F>::quiet_NaN()};
  }
  if (y.im != 0 || y.re != trunc_(y.re) || abs_(y.re) >= 100) return from_c(cpow_c(to_c(x), to_c(y)));
  Complex<F> r{1, 0};
  for (int n = static_cast<int>(abs_(y.re)); n; n >>= 1) {
    if (n & 1) r = r * x;
    x = x * x;
  }
  return y.re < 0 ? Complex<F>(1) / r : r;
}

}  // namespace
}  // namespace lamella::pointwise
#ifdef __clang__
#pragma clang diagnostic pop
#endif

#include <lamella/pointwise/bits.h>
#include <lamella/pointwise/symbols.h>

#endif
