/* Orthogonal polynomials of one degree an element, in C (DLMF chapter 18). */
#ifndef LAMELLA_POINTWISE_SPECIAL_ORTHOGONAL_H
#define LAMELLA_POINTWISE_SPECIAL_ORTHOGONAL_H

#include <lamella/pointwise/special/base.h>

enum lamella_orthogonal {
  LAMELLA_CHEBYSHEV_T,
  LAMELLA_CHEBYSHEV_U,
  LAMELLA_CHEBYSHEV_V,
  LAMELLA_CHEBYSHEV_W,
  LAMELLA_HERMITE_H,
  LAMELLA_HERMITE_HE,
  LAMELLA_LAGUERRE,
  LAMELLA_LEGENDRE
};
#define LAMELLA_MANY 1024      /* Chebyshev's polynomials of higher degrees are computed from the angle */
#define LAMELLA_STEPS 131072.0 /* the others are NaN beyond this degree, so that a call ends */

/* A polynomial of Chebyshev by trigonometric or hyperbolic functions (DLMF 18.5.1 to 18.5.4). */
static inline double lamella_chebyshev_by_angle(int kind, double x, double n) {
  const double a = fabs(x), sign = floor(0.5 * n) * 2 == n || x > 0 ? 1 : -1;
  const double t = a > 1 ? acosh(a) : acos(x), half = 0.5 * t;
  /* for x < -1: T and U have their parity, and V(-x) is W(x) with it */
  const int flipped = a > 1 && x < 0, v = (kind == LAMELLA_CHEBYSHEV_V) != flipped;
  if (a == 1) {
    if (kind == LAMELLA_CHEBYSHEV_T) return sign;
    if (kind == LAMELLA_CHEBYSHEV_U) return sign * (n + 1);
    return sign * ((kind == LAMELLA_CHEBYSHEV_V) == (x > 0) ? 1 : 2 * n + 1);
  }
  if (a > 1) {
    if (kind == LAMELLA_CHEBYSHEV_T) return sign * cosh(n * t);
    if (kind == LAMELLA_CHEBYSHEV_U) return sign * (sinh((n + 1) * t) / sinh(t));
    return sign * (v ? cosh((n + 0.5) * t) / cosh(half) : sinh((n + 0.5) * t) / sinh(half));
  }
  if (kind == LAMELLA_CHEBYSHEV_T) return cos(n * t);
  if (kind == LAMELLA_CHEBYSHEV_U) return sin((n + 1) * t) / sin(t);
  return kind == LAMELLA_CHEBYSHEV_V ? cos((n + 0.5) * t) / cos(half) : sin((n + 0.5) * t) / sin(half);
}

/* Computes polynomials by the recurrence in the degree, for all lanes up to the highest degree. */
LAMELLA_SPECIAL void lamella_orthogonal_lanes(int kind, int shifted, int n, double* o, const double* xs,
                                              const double* degrees) {
  double x[LAMELLA_LANES], m[LAMELLA_LANES], p[LAMELLA_LANES], q[LAMELLA_LANES], most = 0, k;
  int i;
  for (i = 0; i < n; i++) {
    double whole = trunc(degrees[i]);
    x[i] = shifted ? 2 * xs[i] - 1 : xs[i];
    if (kind <= LAMELLA_CHEBYSHEV_W && whole > LAMELLA_MANY) whole = 0;
    if (kind > LAMELLA_CHEBYSHEV_W && whole > LAMELLA_STEPS) whole = 0;
    m[i] = whole;
    most = whole > most ? whole : most;
  }
  LAMELLA_EACH_LANE {
    p[i] = 1;
    q[i] = kind == LAMELLA_CHEBYSHEV_T || kind == LAMELLA_HERMITE_HE || kind == LAMELLA_LEGENDRE ? x[i]
           : kind == LAMELLA_CHEBYSHEV_U || kind == LAMELLA_HERMITE_H                            ? 2 * x[i]
           : kind == LAMELLA_CHEBYSHEV_V                                                         ? 2 * x[i] - 1
           : kind == LAMELLA_CHEBYSHEV_W                                                         ? 2 * x[i] + 1
                                                                                                 : 1 - x[i];
    q[i] = m[i] >= 1 ? q[i] : p[i];
  }
  for (k = 1; k < most; k++) {
    double alive = 0;
    const double inverse = 1 / (k + 1);
    LAMELLA_EACH_LANE {
      const double next = kind <= LAMELLA_CHEBYSHEV_W  ? 2 * x[i] * q[i] - p[i]
                          : kind == LAMELLA_HERMITE_H  ? 2 * (x[i] * q[i] - k * p[i])
                          : kind == LAMELLA_HERMITE_HE ? x[i] * q[i] - k * p[i]
                          : kind == LAMELLA_LAGUERRE   ? q[i] + ((k - x[i]) * q[i] - k * p[i]) * inverse
                                                       : x[i] * q[i] + (x[i] * q[i] - p[i]) * (k * inverse);
      p[i] = k < m[i] ? q[i] : p[i];
      q[i] = k < m[i] ? next : q[i];
    }
    if (k >= 64) { /* a lane whose value is infinite or NaN stays so */
      for (i = 0; i < n; i++) alive += k < m[i] && q[i] - q[i] == 0;
      if (alive == 0) break;
    }
  }
  for (i = 0; i < n; i++) {
    const double whole = trunc(degrees[i]);
    double r = q[i];
    if (kind <= LAMELLA_CHEBYSHEV_W && whole > LAMELLA_MANY) r = lamella_chebyshev_by_angle(kind, x[i], whole);
    if (kind > LAMELLA_CHEBYSHEV_W && whole > LAMELLA_STEPS) r = (double)NAN;
    o[i] = degrees[i] != degrees[i] ? degrees[i] : whole < 0 ? 0 : whole == 0 ? 1 : r;
  }
}

#define LAMELLA_ORTHOGONAL(name, kind, shifted)                                                         \
  static inline void lamella_##name##_lanes(int n, double* o, const double* x, const double* degrees) { \
    lamella_orthogonal_lanes(kind, shifted, n, o, x, degrees);                                          \
  }
LAMELLA_ORTHOGONAL(chebyshev_t, LAMELLA_CHEBYSHEV_T, 0)
LAMELLA_ORTHOGONAL(chebyshev_u, LAMELLA_CHEBYSHEV_U, 0)
LAMELLA_ORTHOGONAL(chebyshev_v, LAMELLA_CHEBYSHEV_V, 0)
LAMELLA_ORTHOGONAL(chebyshev_w, LAMELLA_CHEBYSHEV_W, 0)
LAMELLA_ORTHOGONAL(shifted_chebyshev_t, LAMELLA_CHEBYSHEV_T, 1)
LAMELLA_ORTHOGONAL(shifted_chebyshev_u, LAMELLA_CHEBYSHEV_U, 1)
LAMELLA_ORTHOGONAL(shifted_chebyshev_v, LAMELLA_CHEBYSHEV_V, 1)
LAMELLA_ORTHOGONAL(shifted_chebyshev_w, LAMELLA_CHEBYSHEV_W, 1)
LAMELLA_ORTHOGONAL(hermite_h, LAMELLA_HERMITE_H, 0)
LAMELLA_ORTHOGONAL(hermite_he, LAMELLA_HERMITE_HE, 0)
LAMELLA_ORTHOGONAL(laguerre_l, LAMELLA_LAGUERRE, 0)
LAMELLA_ORTHOGONAL(legendre_p, LAMELLA_LEGENDRE, 0)
#undef LAMELLA_ORTHOGONAL

#endif
