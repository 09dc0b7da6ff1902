// e^x in plain arithmetic, which compilers vectorize and which gives the same bits in a vector and alone; at most
// one unit in the last place beside the exact value. For the files of this folder.
#pragma once

#include <cstdint>

namespace lattis::cpu {
namespace {

// x = n ln 2 + r; a polynomial for e^r, and 2^n as a product of two, so that results below the normal range round once.
inline __attribute__((always_inline)) float exp_of(float x) {
  x = x < -104.f ? -104.f : x;
  x = x > 90.f ? 90.f : x;
  const float shifted = x * 1.44269504088896341f + 12582912.f, n = shifted - 12582912.f;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  const float e = (p * (r * r) + r) + 1.f;
  const int32_t k = __builtin_bit_cast(int32_t, shifted) - 0x4b400000, half = k >> 1;
  return e * __builtin_bit_cast(float, (half + 127) << 23) * __builtin_bit_cast(float, (k - half + 127) << 23);
}

inline __attribute__((always_inline)) double exp_of(double x) {
  x = x < -746. ? -746. : x;
  x = x > 710. ? 710. : x;
  const double shifted = x * 1.4426950408889634074 + 6755399441055744., n = shifted - 6755399441055744.;
  const double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  double p = 1. / 6227020800.;
  p = p * r + 1. / 479001600.;
  p = p * r + 1. / 39916800.;
  p = p * r + 1. / 3628800.;
  p = p * r + 1. / 362880.;
  p = p * r + 1. / 40320.;
  p = p * r + 1. / 5040.;
  p = p * r + 1. / 720.;
  p = p * r + 1. / 120.;
  p = p * r + 1. / 24.;
  p = p * r + 1. / 6.;
  p = p * r + .5;
  const double e = (p * (r * r) + r) + 1.;
  const int64_t k = __builtin_bit_cast(int64_t, shifted) - 0x4338000000000000, half = k >> 1;
  return e * __builtin_bit_cast(double, (half + 1023) << 52) * __builtin_bit_cast(double, (k - half + 1023) << 52);
}

}  // namespace
}  // namespace lattis::cpu
