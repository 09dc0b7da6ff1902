// The words of pointwise operators' expressions: those of <lamella/pointwise/prelude.h>, but for functions that the
// device computes in another way. The options of a program define the macros that the prelude needs.
#ifndef LAMELLA_CUDA_WORDS
#define LAMELLA_CUDA_WORDS
#include "common.cuh"

#define LAMELLA_WITHOUT_HEADERS

// With y = |x| / sqrt(2) and t = 1 / (1 + y / 2), erfc(y) = t e^(-y y + p(u)) for u = 1 - t, where p is smooth. Here p
// is a polynomial fitted at Chebyshev's nodes with p(0) = 0, so that nothing is lost near 0. y y is kept in two floats,
// and the whole part of its exponent of 2 on its own, so that the error stays below 5e-7 of the value, even of a tiny
// one.
DEVICE float float_normal_cdf(float x) {
  float a = ::fabsf(x);
  if (a > 20) a = 20;  // beyond 20 the result is 0 or 1; a NaN stays
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
  const float square = a * a, less = fmaf(a, a, -square), large = 12582912.0f;  // adding `large`, 1.5 * 2^23, rounds
  const float whole = fmaf(square, by, large) - large;
  float part = fmaf(square, rest, fmaf(square, by, -whole));
  part = fmaf(fmaf(p, u, -0.5f * less), 1.44269504f, part);
  const float half = 0.5f * t * power_of_two(part) * power_of_two(whole);
  return x < 0 ? half : 1 - half;
}

// Returns 1 / x by the device's instruction, to one unit in the last place.
DEVICE float reciprocal(float x) {
#ifdef __CUDA_ARCH__
  asm("rcp.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
#else
  return 1 / x;
#endif
}
// The function for numbers that become a short float, where an error need only be small beside half a unit of 16 bits:
// e^(-x x / 2) times a polynomial of degree 7 in t = 1 / (1 + 0.362 |x|), whose relative error is fitted for |x| up to
// 14.5 and stays below 9e-7. A factor of 2^24 in the power, and of 2^-24 in the coefficients, keeps the power above 0
// while its product with x is still a bfloat16. For all numbers of 16 bits x normal_cdf(x) has an error of at most
// 0.503 units.
DEVICE float brief_normal_cdf(float x) {
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

#ifdef LAMELLA_T_COMPLEX
#include "words_complex.cuh"
#endif
#include <lamella/pointwise/prelude.h>
#endif
