/* The words of pointwise operators' expressions (lamella_pointwise.expressions), in C. A generator of C includes this
 * file; one of another language translates it. Define one of these before the include, once a file:
 *
 *   #define LAMELLA_T_BOOL               T is bool
 *   #define LAMELLA_T_INTEGRAL int32_t   T is int32_t
 *   #define LAMELLA_T_FLOATING float     T is float, also for float16 and bfloat16
 *   #define LAMELLA_T_COMPLEX float      T is a struct of two floats, re and im
 *
 * A compiler for a device may define these, too:
 *
 *   LAMELLA_WITHOUT_HEADERS              C's headers are absent; their types and functions are declared without them
 *   LAMELLA_OWN_NORMAL_CDF name          the function `name` replaces normal_cdf
 *   LAMELLA_OWN_COMPLEX type             T of complex numbers; its functions, exp_of_complex(T) to atanh_of_complex(T)
 *                                        and power_of_complex(T, T), are declared before the include
 *
 * T is the type of the computation, R that of constants: T's part if T is complex, else T. x, y, z and p, q, r are of
 * type T, except a condition, which is x as a bool. The value of an expression is converted to the result's type.
 * Integers wrap: compile with -fwrapv. Products are not fused with sums: compile with -ffp-contract=off. */
#ifndef LAMELLA_POINTWISE_PRELUDE_H
#define LAMELLA_POINTWISE_PRELUDE_H

#ifndef LAMELLA_WITHOUT_HEADERS
#ifndef LAMELLA_OWN_COMPLEX
#include <complex.h>
#endif
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#endif
#if defined(LAMELLA_T_FLOATING)
#include <lamella/pointwise/special/draws.h>
#include <lamella/pointwise/special/implicit_gradients.h>
#include <lamella/pointwise/special/words.h>
#endif

#if defined(LAMELLA_T_BOOL)
typedef bool T;
typedef T R;

static inline T abs_of(T x) { return x; }

#elif defined(LAMELLA_T_INTEGRAL)
typedef LAMELLA_T_INTEGRAL T;
typedef T R;

static inline bool negative(T x) { return x < (T)1 && x != 0; }
static inline bool is_minus_one(T x) { return negative(x) && x == (T)-1; }
static inline T abs_of(T x) { return (T)(negative(x) ? -x : x); }
/* x / y rounded toward zero; 0 if y is 0. */
static inline T quotient(T x, T y) { return (T)(y == 0 ? 0 : is_minus_one(y) ? -x : x / y); }
/* The remainder of quotient(x, y), with x's sign; 0 if y is 0. */
static inline T fmod_of(T x, T y) { return (T)(y == 0 || is_minus_one(y) ? 0 : x % y); }
/* x / y rounded toward minus infinity; 0 if y is 0. */
static inline T floor_quotient(T x, T y) {
  const T rest = fmod_of(x, y);
  return (T)(quotient(x, y) - (rest != 0 && negative(rest) != negative(y)));
}
/* The greatest common divisor, and the least common multiple of the absolute values, which wraps. */
static inline T gcd(T x, T y) {
  uint64_t a = (uint64_t)abs_of(x), b = (uint64_t)abs_of(y), rest;
  if (sizeof(T) < 8) a &= ~(uint64_t)0 >> (64 - 8 * sizeof(T)), b &= ~(uint64_t)0 >> (64 - 8 * sizeof(T));
  while (b != 0) {
    rest = a % b;
    a = b;
    b = rest;
  }
  return (T)a;
}
static inline T lcm(T x, T y) {
  const T g = gcd(x, y);
  return g == 0 ? (T)0 : (T)(abs_of(quotient(x, g)) * abs_of(y));
}
/* x^n in T's arithmetic; for a negative n the power rounded toward zero, and 0 if x is 0. */
static inline T pow_of(T x, T n) {
  T r = 1;
  if (negative(n)) return (T)(x == 1 ? 1 : x == (T)-1 ? (n % 2 ? -1 : 1) : 0);
  for (; n; n = (T)(n >> 1)) {
    if (n & 1) r = (T)(r * x);
    x = (T)(x * x);
  }
  return r;
}
/* A shift by a negative number, or by at least as many bits as T has, gives 0, or -1 if a negative x is shifted
 * right. */
static inline bool shifts_all(T y) { return negative(y) || (uint64_t)y >= 8 * sizeof(T); }
static inline T shift_left(T x, T y) { return shifts_all(y) ? (T)0 : (T)((uint64_t)x << y); }
static inline T shift_right(T x, T y) { return shifts_all(y) ? (T)-negative(x) : (T)(x >> y); }

#else /* floating or complex: functions of R */
#if defined(LAMELLA_T_FLOATING)
typedef LAMELLA_T_FLOATING R;
#else
typedef LAMELLA_T_COMPLEX R;
#endif

#define LAMELLA_OF_REAL(name) \
  static inline R name##_of(R x) { return sizeof(R) == 4 ? (R)name##f((float)x) : (R)name((double)x); }
#define LAMELLA_OF_REALS(name) \
  static inline R name##_of(R x, R y) { return sizeof(R) == 4 ? (R)name##f((float)x, (float)y) : (R)name(x, y); }
/* clang-format off */
LAMELLA_OF_REAL(exp) LAMELLA_OF_REAL(exp2) LAMELLA_OF_REAL(expm1)
LAMELLA_OF_REAL(log) LAMELLA_OF_REAL(log2) LAMELLA_OF_REAL(log10) LAMELLA_OF_REAL(log1p)
LAMELLA_OF_REAL(sin) LAMELLA_OF_REAL(cos) LAMELLA_OF_REAL(tan)
LAMELLA_OF_REAL(asin) LAMELLA_OF_REAL(acos) LAMELLA_OF_REAL(atan)
LAMELLA_OF_REAL(sinh) LAMELLA_OF_REAL(cosh) LAMELLA_OF_REAL(tanh)
LAMELLA_OF_REAL(asinh) LAMELLA_OF_REAL(acosh) LAMELLA_OF_REAL(atanh)
LAMELLA_OF_REAL(erf) LAMELLA_OF_REAL(erfc) LAMELLA_OF_REAL(lgamma)
LAMELLA_OF_REAL(sqrt) LAMELLA_OF_REAL(floor) LAMELLA_OF_REAL(ceil) LAMELLA_OF_REAL(trunc) LAMELLA_OF_REAL(rint)
LAMELLA_OF_REALS(pow) LAMELLA_OF_REALS(atan2) LAMELLA_OF_REALS(hypot) LAMELLA_OF_REALS(copysign) LAMELLA_OF_REALS(fmod)
LAMELLA_OF_REALS(nextafter)
    /* clang-format on */
    static inline R abs_of(R x) {
  return sizeof(R) == 4 ? (R)fabsf((float)x) : (R)fabs((double)x);
}

#if defined(LAMELLA_T_FLOATING)
typedef R T;

static inline bool signbit_of(T x) { return signbit(x) != 0; }
/* The inverse of erf. */
static inline T erfinv(T x) { return (T)lamella_erfinv((double)x); }
/* Random numbers from a seed, and the derivatives of gamma and beta draws by their shapes. */
static inline T gamma_draw(T x, T seed) { return (T)lamella_gamma_draw((double)x, (double)seed); }
static inline T poisson_draw(T x, T seed) { return (T)lamella_poisson_draw((double)x, (double)seed); }
static inline T binomial_draw(T n, T p, T seed) { return (T)lamella_binomial_draw((double)n, (double)p, (double)seed); }
static inline T gamma_gradient(T a, T x) { return (T)lamella_gamma_gradient((double)a, (double)x); }
static inline T beta_gradient(T x, T a, T sum) { return (T)lamella_beta_gradient((double)x, (double)a, (double)sum); }
#define LAMELLA_OF_SPECIAL(name) \
  static inline T name(T x) { return (T)lamella_##name((double)x); }
#define LAMELLA_OF_SPECIALS(name) \
  static inline T name(T x, T y) { return (T)lamella_##name((double)x, (double)y); }
LAMELLA_SPECIAL_FUNCTIONS(LAMELLA_OF_SPECIAL)
LAMELLA_SPECIAL_FUNCTIONS_2(LAMELLA_OF_SPECIALS)
/* x * 2^y, and x as mantissa * 2^exponent with 0.5 <= |mantissa| < 1. */
static inline T scaled_by(T x, T y) { return (T)lamella_scaled_by((double)x, (double)y); }
static inline T mantissa(T x) {
  int e;
  return (T)frexp((double)x, &e);
}
static inline T exponent(T x) {
  int e = 0;
  frexp((double)x, &e);
  return x - x == 0 ? (T)e : (T)0;
}
/* The probability that a normal variable is below x. */
#ifdef LAMELLA_OWN_NORMAL_CDF
static inline T normal_cdf(T x) { return LAMELLA_OWN_NORMAL_CDF(x); }
#else
static inline T normal_cdf(T x) { return (T)(0.5 * erfc((double)x * -0.70710678118654752)); }
#endif
/* x / y rounded toward minus infinity, by Python's algorithm: exact also where x / y rounds up to an integer. */
static inline T floor_quotient(T x, T y) {
  T rest, q, f;
  if (y == 0) return x / y;
  rest = fmod_of(x, y);
  q = (x - rest) / y;
  if (rest != 0 && (rest < 0) != (y < 0)) q -= 1;
  if (q == 0) return copysign_of(0, x / y);
  f = floor_of(q);
  return q - f > (T)0.5 ? f + 1 : f;
}

#else /* complex */
#ifdef LAMELLA_OWN_COMPLEX
typedef LAMELLA_OWN_COMPLEX T;
#else
typedef struct {
  R re, im;
} T;
#endif

static inline T make(R re, R im) {
  T x;
  x.re = re;
  x.im = im;
  return x;
}
static inline T add(T x, T y) { return make(x.re + y.re, x.im + y.im); }
static inline T sub(T x, T y) { return make(x.re - y.re, x.im - y.im); }
static inline T neg(T x) { return make(-x.re, -x.im); }
/* g++ 12 and later fuse sums of products that lie side by side, also where -ffp-contract=off forbids it. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define LAMELLA_ROUNDED(x) __builtin_assoc_barrier(x)
#else
#define LAMELLA_ROUNDED(x) (x)
#endif
static inline T mul(T x, T y) {
  return make(LAMELLA_ROUNDED(x.re * y.re) - LAMELLA_ROUNDED(x.im * y.im),
              LAMELLA_ROUNDED(x.re * y.im) + LAMELLA_ROUNDED(x.im * y.re));
}
static inline bool equal(T x, T y) { return x.re == y.re && x.im == y.im; }
/* The quotient by Smith's algorithm. */
static inline T div_of(T x, T y) {
  const bool wide = abs_of(y.re) >= abs_of(y.im);
  const R big = wide ? y.re : y.im, small = wide ? y.im : y.re;
  R ratio, scale;
  if (big == 0 && small == 0) return make(x.re / (R)0, x.im / (R)0);
  ratio = small / big;
  scale = 1 / (big + small * ratio);
  if (wide) return make((x.re + LAMELLA_ROUNDED(x.im * ratio)) * scale, (x.im - LAMELLA_ROUNDED(x.re * ratio)) * scale);
  return make((LAMELLA_ROUNDED(x.re * ratio) + x.im) * scale, (LAMELLA_ROUNDED(x.im * ratio) - x.re) * scale);
}
/* modulus() is the absolute value of a complex number, arg() its angle. */
static inline R modulus(T x) { return hypot_of(x.re, x.im); }
static inline R arg(T x) { return atan2_of(x.im, x.re); }

#ifndef LAMELLA_OWN_COMPLEX
typedef LAMELLA_T_COMPLEX _Complex native_complex;
static inline native_complex to_native(T x) {
  native_complex c;
  ((R*)&c)[0] = x.re;
  ((R*)&c)[1] = x.im;
  return c;
}
static inline T from_native(native_complex c) { return make(((R*)&c)[0], ((R*)&c)[1]); }
#define LAMELLA_OF_COMPLEX(name)                                                                 \
  static inline T name##_of_complex(T x) {                                                       \
    return from_native(sizeof(R) == 4 ? (native_complex)c##name##f((float _Complex)to_native(x)) \
                                      : (native_complex)c##name((double _Complex)to_native(x))); \
  }
/* clang-format off */
LAMELLA_OF_COMPLEX(exp) LAMELLA_OF_COMPLEX(log) LAMELLA_OF_COMPLEX(sqrt)
LAMELLA_OF_COMPLEX(sin) LAMELLA_OF_COMPLEX(cos) LAMELLA_OF_COMPLEX(tan)
LAMELLA_OF_COMPLEX(asin) LAMELLA_OF_COMPLEX(acos) LAMELLA_OF_COMPLEX(atan)
LAMELLA_OF_COMPLEX(sinh) LAMELLA_OF_COMPLEX(cosh) LAMELLA_OF_COMPLEX(tanh)
LAMELLA_OF_COMPLEX(asinh) LAMELLA_OF_COMPLEX(acosh) LAMELLA_OF_COMPLEX(atanh)
    /* clang-format on */
    static inline T power_of_complex(T x, T y) {
  return from_native(sizeof(R) == 4
                         ? (native_complex)cpowf((float _Complex)to_native(x), (float _Complex)to_native(y))
                         : (native_complex)cpow((double _Complex)to_native(x), (double _Complex)to_native(y)));
}
#endif
static inline T scaled(T x, R k) { return make(x.re * k, x.im * k); }
static inline T exp2_of_complex(T x) { return exp_of_complex(scaled(x, (R)0.6931471805599453)); }
static inline T log2_of_complex(T x) { return scaled(log_of_complex(x), (R)1.4426950408889634); }
static inline T log10_of_complex(T x) { return scaled(log_of_complex(x), (R)0.4342944819032518); }
static inline T log1p_of_complex(T x) { return make(log_of(hypot_of(x.re + 1, x.im)), atan2_of(x.im, x.re + 1)); }
static inline T expm1_of_complex(T x) {
  const R half = sin_of(x.im / 2);
  return make(expm1_of(x.re) * cos_of(x.im) - 2 * half * half, exp_of(x.re) * sin_of(x.im));
}
/* Whole exponents between -100 and 100 by squaring, which is exact if every product is. */
static inline T pow_of_complex(T x, T y) {
  T r = make(1, 0);
  int n;
  if (y.re == 0 && y.im == 0) return r;
  if (x.re == 0 && x.im == 0) return y.re > 0 && y.im == 0 ? make(0, 0) : make((R)NAN, (R)NAN);
  if (y.im != 0 || y.re != trunc_of(y.re) || abs_of(y.re) >= 100) return power_of_complex(x, y);
  for (n = (int)abs_of(y.re); n; n >>= 1) {
    if (n & 1) r = mul(r, x);
    x = mul(x, x);
  }
  return y.re < 0 ? div_of(make(1, 0), r) : r;
}
#endif
#endif

/* The words whose names C has for other functions. */
#if defined(LAMELLA_T_COMPLEX)
#define LAMELLA_WORD(name, x) name##_of_complex(x)
#define pow(x, y) pow_of_complex(x, y)
#define div(x, y) div_of(x, y)
#else
#define LAMELLA_WORD(name, x) name##_of(x)
#define pow(x, y) pow_of(x, y)
#endif
#define exp(x) LAMELLA_WORD(exp, x)
#define exp2(x) LAMELLA_WORD(exp2, x)
#define expm1(x) LAMELLA_WORD(expm1, x)
#define log(x) LAMELLA_WORD(log, x)
#define log2(x) LAMELLA_WORD(log2, x)
#define log10(x) LAMELLA_WORD(log10, x)
#define log1p(x) LAMELLA_WORD(log1p, x)
#define sin(x) LAMELLA_WORD(sin, x)
#define cos(x) LAMELLA_WORD(cos, x)
#define tan(x) LAMELLA_WORD(tan, x)
#define asin(x) LAMELLA_WORD(asin, x)
#define acos(x) LAMELLA_WORD(acos, x)
#define atan(x) LAMELLA_WORD(atan, x)
#define sinh(x) LAMELLA_WORD(sinh, x)
#define cosh(x) LAMELLA_WORD(cosh, x)
#define tanh(x) LAMELLA_WORD(tanh, x)
#define asinh(x) LAMELLA_WORD(asinh, x)
#define acosh(x) LAMELLA_WORD(acosh, x)
#define atanh(x) LAMELLA_WORD(atanh, x)
#define sqrt(x) LAMELLA_WORD(sqrt, x)
#define erf(x) erf_of(x)
#define erfc(x) erfc_of(x)
#define lgamma(x) lgamma_of(x)
#define floor(x) floor_of(x)
#define ceil(x) ceil_of(x)
#define trunc(x) trunc_of(x)
#define rint(x) rint_of(x) /* to the nearest, halves to the even one */
#define abs(x) abs_of(x)
#define atan2(y, x) atan2_of(y, x)
#define hypot(x, y) hypot_of(x, y)
#define copysign(x, y) copysign_of(x, y)
#define nextafter(x, y) nextafter_of(x, y)
#define fmod(x, y) fmod_of(x, y) /* C's: the rest has the sign of x */
#undef signbit
#define signbit(x) signbit_of(x)

#endif
