// The words of pointwise operators' expressions, which <lamella/pointwise/prelude.h> has in C, by overloads.
#ifndef LAMELLA_CUDA_WORDS
#define LAMELLA_CUDA_WORDS
#include "common.cuh"

namespace words {

// ---- integers ----

template <class I>
DEVICE bool negative(I x) {
  return x < static_cast<I>(1) && x != 0;
}
template <class I>
DEVICE bool is_minus_one(I x) {
  return negative(x) && x == static_cast<I>(-1);
}
template <class I>
DEVICE I quotient(I x, I y) {
  return static_cast<I>(y == 0 ? 0 : is_minus_one(y) ? -x : x / y);
}
template <class T>
struct Integer {
  static DEVICE T abs(T x) { return static_cast<T>(negative(x) ? -x : x); }
  static DEVICE T fmod(T x, T y) { return static_cast<T>(y == 0 || is_minus_one(y) ? 0 : x % y); }
  static DEVICE T floor_quotient(T x, T y) {
    const T rest = fmod(x, y);
    return static_cast<T>(quotient(x, y) - (rest != 0 && negative(rest) != negative(y)));
  }
  static DEVICE T pow(T x, T n) {
    T r = 1;
    if (negative(n)) return static_cast<T>(x == 1 ? 1 : x == static_cast<T>(-1) ? (n % 2 ? -1 : 1) : 0);
    for (; n; n = static_cast<T>(n >> 1)) {
      if (n & 1) r = static_cast<T>(r * x);
      x = static_cast<T>(x * x);
    }
    return r;
  }
};
template <class I>
DEVICE bool shifts_all(I y) {
  return negative(y) || static_cast<uint64_t>(y) >= 8 * sizeof(I);
}
template <class I>
DEVICE I shift_left(I x, I y) {
  return shifts_all(y) ? static_cast<I>(0) : static_cast<I>(static_cast<uint64_t>(x) << y);
}
template <class I>
DEVICE I shift_right(I x, I y) {
  return shifts_all(y) ? static_cast<I>(-static_cast<I>(negative(x))) : static_cast<I>(x >> y);
}

// ---- real numbers ----

#define LAMELLA_WORD(name)                                \
  DEVICE float name(float x) { return ::name##f(x); }     \
  DEVICE double name(double x) { return ::name(x); }
#define LAMELLA_WORD_2(name)                                          \
  DEVICE float name(float x, float y) { return ::name##f(x, y); }     \
  DEVICE double name(double x, double y) { return ::name(x, y); }
LAMELLA_WORD(exp)
LAMELLA_WORD(exp2)
LAMELLA_WORD(expm1)
LAMELLA_WORD(log)
LAMELLA_WORD(log2)
LAMELLA_WORD(log10)
LAMELLA_WORD(log1p)
LAMELLA_WORD(sin)
LAMELLA_WORD(cos)
LAMELLA_WORD(tan)
LAMELLA_WORD(asin)
LAMELLA_WORD(acos)
LAMELLA_WORD(atan)
LAMELLA_WORD(sinh)
LAMELLA_WORD(cosh)
LAMELLA_WORD(tanh)
LAMELLA_WORD(asinh)
LAMELLA_WORD(acosh)
LAMELLA_WORD(atanh)
LAMELLA_WORD(erf)
LAMELLA_WORD(erfc)
LAMELLA_WORD(lgamma)
LAMELLA_WORD(sqrt)
LAMELLA_WORD(floor)
LAMELLA_WORD(ceil)
LAMELLA_WORD(trunc)
LAMELLA_WORD(rint)
LAMELLA_WORD_2(atan2)
LAMELLA_WORD_2(hypot)
LAMELLA_WORD_2(copysign)
#undef LAMELLA_WORD
#undef LAMELLA_WORD_2
template <class T>
struct Real {
  static DEVICE T abs(T x) {
    if constexpr (sizeof(T) == 4)
      return ::fabsf(x);
    else
      return ::fabs(x);
  }
  static DEVICE T fmod(T x, T y) {
    if constexpr (sizeof(T) == 4)
      return ::fmodf(x, y);
    else
      return ::fmod(x, y);
  }
  static DEVICE T pow(T x, T y) {
    if constexpr (sizeof(T) == 4)
      return ::powf(x, y);
    else
      return ::pow(x, y);
  }
  // Rounded toward minus infinity, by Python's algorithm: exact also where x / y rounds up to an integer.
  static DEVICE T floor_quotient(T x, T y) {
    if (y == 0) return x / y;
    const T rest = fmod(x, y);
    T q = (x - rest) / y;
    if (rest != 0 && (rest < 0) != (y < 0)) q -= 1;
    if (q == 0) return copysign(static_cast<T>(0), x / y);
    const T f = floor(q);
    return q - f > static_cast<T>(0.5) ? f + 1 : f;
  }
};
DEVICE bool signbit(float x) { return bits_as<int32_t>(x) < 0; }
DEVICE bool signbit(double x) { return bits_as<int64_t>(x) < 0; }
// A rational approximation and two of Newton's steps; erfc where erf is too near to 1.
DEVICE double erfinv(double y) {
  const double a = ::fabs(y), slope = 1.1283791670955126;  // 2 / sqrt(pi)
  double x, z;
  if (!(a < 1)) return a == 1 ? copysign(static_cast<double>(INFINITY), y) : static_cast<double>(NAN);
  if (a <= 0.7) {
    z = y * y;
    x = y * (((-0.140543331 * z + 0.914624893) * z - 1.645349621) * z + 0.886226899) /
        ((((0.012229801 * z - 0.329097515) * z + 1.442710462) * z - 2.118377725) * z + 1);
    for (int i = 0; i < 2; i++) x -= (erf(x) - y) / (slope * exp(-x * x));
    return x;
  }
  z = sqrt(-log((1 - a) / 2));
  x = (((1.641345311 * z + 3.429567803) * z - 1.624906493) * z - 1.970840454) /
      ((1.637067800 * z + 3.543889200) * z + 1);
  for (int i = 0; i < 2; i++) x += (erfc(x) - (1 - a)) / (slope * exp(-x * x));
  return copysign(x, y);
}
DEVICE float erfinv(float y) { return static_cast<float>(erfinv(static_cast<double>(y))); }
DEVICE double normal_cdf(double x) { return 0.5 * erfc(x * -0.70710678118654752); }
// With y = |x| / sqrt(2) and t = 1 / (1 + y / 2), erfc(y) = t e^(-y y + p(u)) for u = 1 - t, where p is smooth: here a
// polynomial fitted at Chebyshev's nodes, p(0) = 0, so that nothing is lost near 0. y y is kept in two floats, and the
// whole part of its exponent of 2 on its own: the error stays below 5e-7 of the value, also where that is tiny.
DEVICE float normal_cdf(float x) {
  float a = ::fabsf(x);
  if (a > 20) a = 20;  // beyond, all is 0 or 1; a NaN stays
  const float t = __fdividef(1.0f, fmaf(a, 0.353553391f, 1.0f)), u = 1 - t;
  float p = -0.147541627f;
  p = fmaf(p, u, 0.474812925f);
  p = fmaf(p, u, -0.482016474f);
  p = fmaf(p, u, 0.163296163f);
  p = fmaf(p, u, -0.137915626f);
  p = fmaf(p, u, 0.0707237571f);
  p = fmaf(p, u, 0.191533759f);
  p = fmaf(p, u, 0.161543086f);
  p = fmaf(p, u, -0.303240061f);
  p = fmaf(p, u, -1.25675833f);
  const float by = -0.721347511f, rest = -9.62981517e-9f;  // -log2(e) / 2 in two floats
  const float square = a * a, less = fmaf(a, a, -square), large = 12582912.0f;  // adding 1.5 * 2^23 rounds
  const float whole = fmaf(square, by, large) - large;
  float part = fmaf(square, rest, fmaf(square, by, -whole));
  part = fmaf(fmaf(p, u, -0.5f * less), 1.44269504f, part);
  const float half = 0.5f * t * power_of_two(part) * power_of_two(whole);
  return x < 0 ? half : 1 - half;
}

// ---- of integers and real numbers ----

template <bool Integral, class T>
struct Arithmetic_ {
  typedef Real<T> type;
};
template <class T>
struct Arithmetic_<true, T> {
  typedef Integer<T> type;
};
template <class T>
using Arithmetic = typename Arithmetic_<Is<T>::integral, T>::type;
DEVICE bool abs(bool x) { return x; }
template <class T>
DEVICE T abs(T x) {
  return Arithmetic<T>::abs(x);
}
template <class T>
DEVICE T fmod(T x, T y) {
  return Arithmetic<T>::fmod(x, y);
}
template <class T>
DEVICE T pow(T x, T y) {
  return Arithmetic<T>::pow(x, y);
}
template <class T>
DEVICE T floor_quotient(T x, T y) {
  return Arithmetic<T>::floor_quotient(x, y);
}

// ---- of numbers that become short floats ----

// An Op that computes in float what becomes a short float stands in this namespace, and finds here first what is cheaper
// than float's own word: its error need only be small beside half a unit of 16 bits.
namespace brief {

// 1 / x by the device's instruction, to one unit in the last place.
DEVICE float reciprocal(float x) {
#ifdef __CUDA_ARCH__
  asm("rcp.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
#else
  return 1 / x;
#endif
}
// e^(-x x / 2) times a polynomial of degree 7 in t = 1 / (1 + 0.362 |x|), whose relative error is fitted for |x| up to
// 14.5 and stays below 9e-7. 2^24 in the exponent, and 2^-24 in the coefficients, keep the power from 0 where its product
// with x is still a bfloat16. Of all numbers of 16 bits x normal_cdf(x) is within 0.503 units in the last place.
DEVICE float normal_cdf(float x) {
  const float t = reciprocal(fmaf(::fabsf(x), 0.362f, 1.0f));
  float p = 2.84090484e-09f;
  p = fmaf(p, t, -1.06739977e-08f);
  p = fmaf(p, t, 1.04529878e-08f);
  p = fmaf(p, t, 1.76874837e-09f);
  p = fmaf(p, t, 8.29262703e-09f);
  p = fmaf(p, t, 8.5081755e-09f);
  p = fmaf(p, t, 8.6128793e-09f);
  const float half = t * p * power_of_two(fmaf(x * x, -0.721347511f, 24.0f));  // -log2(e) / 2
  return x < 0 ? half : 1 - half;
}

}  // namespace brief

}  // namespace words
#endif
