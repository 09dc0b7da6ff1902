/* Bessel functions and Airy's function, in C. Definitions and expansions: NIST Digital Library of Mathematical
 * Functions, chapters 9 and 10. */
#ifndef LAMELLA_POINTWISE_SPECIAL_BESSEL_H
#define LAMELLA_POINTWISE_SPECIAL_BESSEL_H

#include <lamella/pointwise/special/bessel_polynomials.h>

#define LAMELLA_TWO_OVER_PI 0.63661977236758134
#define LAMELLA_HALF_ROOT 0.70710678118654752

/* J and Y for 0 <= x <= 5, z = x^2. Near a zero r of J the factor x - r is computed from r in two parts. */
LAMELLA_SPECIAL double lamella_j0_near(double x, double z) {
  const double first = (x - 2.4048255576957729) + 1.176691651530894e-16, second = z - 30.471262343662087;
  return first * (x + 2.4048255576957729) * second * lamella_j0_small(z * 0.08 - 1);
}
LAMELLA_SPECIAL double lamella_j1_near(double x, double z) {
  const double first = (x - 3.8317059702075125) + 1.5269184090088067e-16;
  return x * (first * (x + 3.8317059702075125)) * lamella_j1_small(z * 0.08 - 1);
}
/* sqrt(2 / (pi x)) times the cosine, or the sine, of x - pi / 4 plus the phase (DLMF 10.17.3). */
LAMELLA_SPECIAL double lamella_bessel_far(double x, double p, double q, double cosine, double sine) {
  return sqrt(LAMELLA_TWO_OVER_PI / x) * (p * cosine - q * sine);
}

LAMELLA_SPECIAL double lamella_bessel_j0(double x) {
  const double a = fabs(x), near = a < 5 ? a : 5, far = a > 5 ? a : 5, u = 5 / far, t = 2 * (u * u) - 1;
  const double s = sin(far), c = cos(LAMELLA_APART(far));
  const double y = lamella_bessel_far(far, lamella_p0(t), u * lamella_q0(t), (c + s) * LAMELLA_HALF_ROOT,
                                      (s - c) * LAMELLA_HALF_ROOT);
  const double r = a <= 5 ? lamella_j0_near(near, near * near) : y;
  return a == (double)INFINITY ? 0 : a == 0 ? 1 : a != a ? x : r;
}
LAMELLA_SPECIAL double lamella_bessel_j1(double x) {
  const double a = fabs(x), near = a < 5 ? a : 5, far = a > 5 ? a : 5, u = 5 / far, t = 2 * (u * u) - 1;
  const double s = sin(far), c = cos(LAMELLA_APART(far));
  const double y = lamella_bessel_far(far, lamella_p1(t), u * lamella_q1(t), (s - c) * LAMELLA_HALF_ROOT,
                                      -((s + c) * LAMELLA_HALF_ROOT));
  const double r = a <= 5 ? lamella_j1_near(near, near * near) : y;
  return copysign(1.0, x) * (a == (double)INFINITY ? 0 : a != a ? x : r);
}
/* Y is -infinity at 0 and NaN below. */
LAMELLA_SPECIAL double lamella_bessel_y0(double x) {
  const double near = x < 5 ? x : 5, far = x > 5 ? x : 5, u = 5 / far, t = 2 * (u * u) - 1, z = near * near;
  const double s = sin(far), c = cos(LAMELLA_APART(far));
  const double y = lamella_bessel_far(far, lamella_p0(t), -(u * lamella_q0(t)), (s - c) * LAMELLA_HALF_ROOT,
                                      (c + s) * LAMELLA_HALF_ROOT);
  const double w = LAMELLA_TWO_OVER_PI * log(near) * lamella_j0_near(near, z) + lamella_y0_small(z * 0.08 - 1);
  const double r = x <= 5 ? w : y;
  return x == (double)INFINITY ? 0 : x == 0 ? -(double)INFINITY : x != x ? x : r;
}
LAMELLA_SPECIAL double lamella_bessel_y1(double x) {
  const double near = x < 5 ? x : 5, far = x > 5 ? x : 5, u = 5 / far, t = 2 * (u * u) - 1, z = near * near;
  const double s = sin(far), c = cos(LAMELLA_APART(far));
  const double y = lamella_bessel_far(far, lamella_p1(t), -(u * lamella_q1(t)), -((s + c) * LAMELLA_HALF_ROOT),
                                      (s - c) * LAMELLA_HALF_ROOT);
  const double w = LAMELLA_TWO_OVER_PI * (log(near) * lamella_j1_near(near, z) - 1 / near);
  const double r = x <= 5 ? near * lamella_y1_small(z * 0.08 - 1) + w : y;
  return x == (double)INFINITY ? 0 : x == 0 ? -(double)INFINITY : x != x ? x : r;
}

/* e^-x I(x) for x >= 0. The factor e^-x is 1 for the function itself at x <= 8, and e^x is applied beyond. */
LAMELLA_SPECIAL double lamella_i0_far(double x) {
  const double far = x > 8 ? x : 8;
  return lamella_i0_large(16 / far - 1) / sqrt(far);
}
LAMELLA_SPECIAL double lamella_i1_far(double x) {
  const double far = x > 8 ? x : 8;
  return lamella_i1_large(16 / far - 1) / sqrt(far);
}
/* y e^x, whose e^x alone may be infinite. */
LAMELLA_SPECIAL double lamella_grown(double y, double x) {
  const double e = exp(0.5 * lamella_within(x, 0, 1420));
  return y * e * e;
}
LAMELLA_SPECIAL double lamella_bessel_i0(double x) {
  const double a = fabs(x), near = a < 8 ? a : 8;
  const double r = a <= 8 ? lamella_i0_small(0.25 * (near * near)) : lamella_grown(lamella_i0_far(a), a);
  return a == (double)INFINITY ? a : x != x ? x : r;
}
LAMELLA_SPECIAL double lamella_bessel_i0e(double x) {
  const double a = fabs(x), near = a < 8 ? a : 8;
  const double r = a <= 8 ? lamella_i0_small(0.25 * (near * near)) * exp(-near) : lamella_i0_far(a);
  return x != x ? x : r;
}
LAMELLA_SPECIAL double lamella_bessel_i1(double x) {
  const double a = fabs(x), near = a < 8 ? a : 8;
  const double r = a <= 8 ? 0.5 * near * lamella_i1_small(0.25 * (near * near)) : lamella_grown(lamella_i1_far(a), a);
  return a == (double)INFINITY || x != x ? x : copysign(r, x);
}
LAMELLA_SPECIAL double lamella_bessel_i1e(double x) {
  const double a = fabs(x), near = a < 8 ? a : 8;
  const double y = 0.5 * near * lamella_i1_small(0.25 * (near * near)) * exp(-near);
  const double r = a <= 8 ? y : lamella_i1_far(a);
  return x != x ? x : copysign(r, x);
}

/* K is infinite at 0 and NaN below. At x > 2 it is e^-x times what lamella_k_far returns. */
LAMELLA_SPECIAL double lamella_k0_near(double x) {
  const double z = 0.25 * (x * x);
  return lamella_k0_small(z) - log(0.5 * x) * lamella_i0_tiny(z);
}
LAMELLA_SPECIAL double lamella_k1_near(double x) {
  const double z = 0.25 * (x * x);
  return (1 + z * lamella_k1_small(z)) / x + log(0.5 * x) * (0.5 * x * lamella_i1_tiny(z));
}
LAMELLA_SPECIAL double lamella_bessel_k0(double x) {
  const double near = x < 2 ? x : 2, far = x > 2 ? x : 2;
  const double y = lamella_k0_large(4 / far - 1) / sqrt(far) * exp(-far), r = x <= 2 ? lamella_k0_near(near) : y;
  return x == 0 ? (double)INFINITY : x != x ? x : r;
}
LAMELLA_SPECIAL double lamella_bessel_k0e(double x) {
  const double near = x < 2 ? x : 2, far = x > 2 ? x : 2;
  const double y = lamella_k0_large(4 / far - 1) / sqrt(far), r = x <= 2 ? lamella_k0_near(near) * exp(near) : y;
  return x == 0 ? (double)INFINITY : x != x ? x : r;
}
LAMELLA_SPECIAL double lamella_bessel_k1(double x) {
  const double near = x < 2 ? x : 2, far = x > 2 ? x : 2;
  const double y = lamella_k1_large(4 / far - 1) / sqrt(far) * exp(-far), r = x <= 2 ? lamella_k1_near(near) : y;
  return x == 0 ? (double)INFINITY : x != x ? x : r;
}
LAMELLA_SPECIAL double lamella_bessel_k1e(double x) {
  const double near = x < 2 ? x : 2, far = x > 2 ? x : 2;
  const double y = lamella_k1_large(4 / far - 1) / sqrt(far), r = x <= 2 ? lamella_k1_near(near) * exp(near) : y;
  return x == 0 ? (double)INFINITY : x != x ? x : r;
}

/* Ai(x). Far from 0 it is a function of zeta = (2 / 3) |x|^(3/2) (DLMF 9.7.5 and 9.7.9), computed in two parts, since
 * the rounding of zeta alone would be an error of e^-zeta, and of the phase. */
LAMELLA_SPECIAL double lamella_airy_ai(double x) {
  const double a = lamella_within(fabs(x), 2, 1e200), root = sqrt(a), rest = lamella_product_rest(root, root, a);
  const double power = a * root, power_rest = lamella_product_rest(a, root, power) - a * (0.5 * rest / root);
  const double zeta = power * 0.66666666666666663;
  const double whole_rest = lamella_product_rest(power, 0.66666666666666663, zeta) +
                            (power * 3.7007434154171886e-17 + power_rest * 0.66666666666666663);
  const double zeta_rest = fabs(whole_rest) < 1e-4 ? whole_rest : 0; /* beyond, no digit of the phase is known */
  const double v = 1.5 / power, scale = 1 / sqrt(root);
  const double right = lamella_within(x, 0, 2), left = lamella_within(x, -4, 0);
  const double decay = exp(x > 2 ? -lamella_within(zeta, 0, 800) : -right);
  const double far = lamella_ai_far(v * 3.7712361663282534 - 1) * scale * decay * (1 - zeta_rest);
  const double s = sin(zeta), c = cos(LAMELLA_APART(zeta)), t = v * 10.666666666666666 - 1;
  const double sine = LAMELLA_FUSED(zeta_rest, c, s), cosine = LAMELLA_FUSED(-zeta_rest, s, c);
  const double p = lamella_ai_p(t), q = v * lamella_ai_q(t);
  const double wave = 0.56418958354775629 * LAMELLA_HALF_ROOT * scale * (p * (sine + cosine) - q * (cosine - sine));
  const double middle = ((left + 2.3381074104597672) + 3.9122604098183050e-17) * lamella_ai_left(left * 0.5 + 1);
  const double r = x > 2 ? far : x >= 0 ? lamella_ai_right(right - 1) * decay : x >= -4 ? middle : wave;
  return fabs(x) == (double)INFINITY ? 0 : x != x ? x : r;
}

#endif
