// e^x for x of at most 0, or at most a given number, in arithmetic that gives the same bits in a vector and alone;
// at most one unit in the last place from the exact value, down to the smallest subnormal. For the files of this
// folder.
#pragma once

#include <cstdint>

namespace lamella::cpu {
namespace {

template <class T>
inline __attribute__((always_inline)) T multiply_add(T a, T b, T c) {
#ifdef __FMA__
  if constexpr (sizeof(T) == sizeof(float))
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

// Constants that differ between float and double. `nearest` added to a number leaves its nearest integer, with the
// exponent's bias, in the low bits; the bias is larger by 24 (54), taken back at the end, so that results below the
// normal range are rounded once. For x below `least`, e^x is 0.
template <class T>
struct ExpRange;
template <>
struct ExpRange<float> {
  static constexpr float nearest = 12582912.f + 127 + 24, per_unit = 1.44269504088896341f, least = -104.5f, near = 256;
};
template <>
struct ExpRange<double> {
  static constexpr double nearest = 6755399441055744. + 1023 + 54, per_unit = 1.4426950408889634074, least = -746,
                          near = 2048;
};

// Returns e^x / 2^m, where `large` is `nearest` - m, by x = n ln 2 + r.
inline __attribute__((always_inline)) float exp_scaled(float x, float large) {
  const float shifted = multiply_add(x, ExpRange<float>::per_unit, large), n = shifted - large;
  const float r = multiply_add(n, 2.12194440e-4f, multiply_add(n, -0.693359375f, x));
  float p = 1.9875691500e-4f;
  p = multiply_add(p, r, 1.3981999507e-3f);
  p = multiply_add(p, r, 8.3334519073e-3f);
  p = multiply_add(p, r, 4.1665795894e-2f);
  p = multiply_add(p, r, 1.6666665459e-1f);
  p = multiply_add(p, r, 5.0000001201e-1f);
  const float e = multiply_add(p, r * r, r) + 1.f;
  return e * __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, shifted) << 23) * 0x1p-24f;
}

inline __attribute__((always_inline)) double exp_scaled(double x, double large) {
  const double shifted = multiply_add(x, ExpRange<double>::per_unit, large), n = shifted - large;
  const double r = multiply_add(n, -1.90821492927058770002e-10, multiply_add(n, -6.93147180369123816490e-01, x));
  double p = 1. / 6227020800.;
  p = multiply_add(p, r, 1. / 479001600.);
  p = multiply_add(p, r, 1. / 39916800.);
  p = multiply_add(p, r, 1. / 3628800.);
  p = multiply_add(p, r, 1. / 362880.);
  p = multiply_add(p, r, 1. / 40320.);
  p = multiply_add(p, r, 1. / 5040.);
  p = multiply_add(p, r, 1. / 720.);
  p = multiply_add(p, r, 1. / 120.);
  p = multiply_add(p, r, 1. / 24.);
  p = multiply_add(p, r, 1. / 6.);
  p = multiply_add(p, r, .5);
  const double e = multiply_add(p, r * r, r) + 1.;
  return e * __builtin_bit_cast(double, __builtin_bit_cast(uint64_t, shifted) << 52) * 0x1p-54;
}

template <class T>
inline __attribute__((always_inline)) T exp_below(T x) {
  return exp_scaled(x < ExpRange<T>::least ? ExpRange<T>::least : x, ExpRange<T>::nearest);
}

// Computes e^x for x at most `top`, divided by a power of two near e^top. x itself is reduced, since x - top would be
// rounded: dozens of units in the last place of the result if the two are far apart. `top` is subtracted first only if
// it is so large that x - top is exact for all x whose result is not 0.
template <class T>
struct ExpBeside {
  T shift, least, large;

  explicit ExpBeside(T top) {
    using R = ExpRange<T>;
    shift = top > -R::near && top < R::near ? 0 : top;
    const T rest = top - shift;
    least = rest + R::least;
    large = R::nearest - (multiply_add(rest, R::per_unit, R::nearest) - R::nearest);
  }
  inline __attribute__((always_inline)) T operator()(T x) const {
    x -= shift;
    return exp_scaled(x < least ? least : x, large);
  }
};

}  // namespace
}  // namespace lamella::cpu
