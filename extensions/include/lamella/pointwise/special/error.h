/* The error function's relatives, in C: scaled complement, normal distribution and inverses. */
#ifndef LAMELLA_POINTWISE_SPECIAL_ERROR_H
#define LAMELLA_POINTWISE_SPECIAL_ERROR_H

#include <lamella/pointwise/special/gamma_polynomials.h>

/* e^(x^2) erfc(x) for x >= 0: one polynomial in (x - 4) / (x + 4) (Shepherd and Laframboise, 1981). */
LAMELLA_SPECIAL double lamella_erfcx_right(double x) {
  const double near = x < 1e17 ? x : 1e17;
  return 0.5 * lamella_erfcx((near - 4) / (near + 4)) / (x + 0.5);
}
/* e^(k x^2) for k = 1 or a negative power of 2, with the rounding error of x^2 corrected. */
LAMELLA_SPECIAL double lamella_exp_square(double x, double k) {
  const double a = lamella_within(x, -1e100, 1e100), s = a * a, rest = lamella_product_rest(a, a, s);
  const double e = exp(k * s);
  return s < 2000 ? LAMELLA_FUSED(e, k * rest, e) : e;
}
/* e^(x^2) erfc(x). */
LAMELLA_SPECIAL double lamella_scaled_erfc(double x) {
  const double a = fabs(x), y = lamella_erfcx_right(a), low = lamella_within(x, -30, 0);
  const double s = low * low, rest = lamella_product_rest(low, low, s), e = exp(s);
  const double twice = s < 709 ? 2 * LAMELLA_FUSED(e, rest, e) : e * (2 + 2 * rest);
  const double r = x < 0 ? twice - y : y;
  return x != x ? x : r;
}

/* The probability that a normal variable is below -a, for a >= 0. */
LAMELLA_SPECIAL double lamella_normal_tail(double a) {
  const double b = lamella_within(a, 0, 40);
  return 0.5 * lamella_exp_square(b, -0.5) * lamella_erfcx_right(b * 0.70710678118654752);
}
LAMELLA_SPECIAL double lamella_ndtr(double x) {
  const double tail = lamella_normal_tail(fabs(x)), r = x < 0 ? tail : 1 - tail;
  return x != x ? x : r;
}
LAMELLA_SPECIAL double lamella_log_ndtr(double x) {
  const double a = fabs(x), y = lamella_erfcx_right(a * 0.70710678118654752);
  const double b = lamella_within(a, 0, 40), tail = 0.5 * lamella_exp_square(b, -0.5) * y;
  const double right = log1p(-(x > 0 ? tail : 0)), left = log(0.5 * y) - 0.5 * (a * a);
  const double r = x > 0 ? right : left;
  return x == -(double)INFINITY || x != x ? x : r;
}

/* x with erfc(x) = q, for 0 < q <= 1, where y = 1 - q is given too, exact for q > 0.25. */
LAMELLA_SPECIAL double lamella_inverse_erfc(double q, double y) {
  const double middle = y < 0.75 ? y : 0.75, low = q < 0.25 ? q : 0.25, r = sqrt(-log(low));
  const double tail_r = r < 6.1 ? r : 6.1;
  const double x = middle * lamella_erfinv_middle(middle * middle * 3.5555555555555554 - 1);
  const double tail = lamella_erfinv_tail(((tail_r - 4) / (tail_r + 4)) * 2.6557077405687033 + 0.44782314305007154);
  const double far = r * lamella_erfinv_far(((r - 8) / (r + 8)) * 2.8948598130841123 - 0.5864485981308412);
  return y <= 0.75 ? x : r < 6.1 ? tail : far;
}
LAMELLA_SPECIAL double lamella_erfinv(double y) {
  const double a = fabs(y), x = lamella_inverse_erfc(1 - a, a);
  const double r = a < 1 ? x : a == 1 ? (double)INFINITY : (double)NAN;
  return copysign(r, y);
}
LAMELLA_SPECIAL float lamella_erfinv_float(float y) {
  const float a = fabsf(y), middle = a < 0.75f ? a : 0.75f, q = 1 - a, low = q < 0.25f ? q : 0.25f;
  const float r = sqrtf(-logf(low > 5e-8f ? low : 5e-8f));
  const float x = middle * lamella_erfinv_middle_float(middle * middle * 3.55555556f - 1);
  const float tail = lamella_erfinv_tail_float((r - 2.63870501f) * 0.684324526f);
  const float inside = a <= 0.75f ? x : tail, edge = a == 1 ? (float)INFINITY : (float)NAN;
  return copysignf(a < 1 ? inside : edge, y);
}
/* x with ndtr(x) = p. */
LAMELLA_SPECIAL double lamella_ndtri(double p) {
  const double low = p < 0.5 ? p : 1 - p, x = 1.4142135623730951 * lamella_inverse_erfc(2 * low, 1 - 2 * low);
  const double r = low > 0    ? (p < 0.5 ? -x : x)
                   : low == 0 ? (p == 0 ? -(double)INFINITY : (double)INFINITY)
                              : (double)NAN;
  return r;
}

#endif
