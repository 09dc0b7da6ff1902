/* The special functions that pointwise operators may use, in C: lamella_NAME of one double or two, for
 * the words NAME of <lamella/pointwise/vocabulary.h> and <lamella/pointwise/prelude.h>. float is computed in double and
 * rounded once. */
#ifndef LAMELLA_POINTWISE_SPECIAL_WORDS_H
#define LAMELLA_POINTWISE_SPECIAL_WORDS_H

#include <lamella/pointwise/special/bessel.h>
#include <lamella/pointwise/special/gamma.h>
#include <lamella/pointwise/special/orthogonal.h>

/* X(name): functions of one number, and of two. */
/* clang-format off */
#define LAMELLA_SPECIAL_FUNCTIONS(X) \
  X(bessel_j0) X(bessel_j1) X(bessel_y0) X(bessel_y1) X(bessel_i0) X(bessel_i0e) X(bessel_i1) X(bessel_i1e) \
  X(bessel_k0) X(bessel_k0e) X(bessel_k1) X(bessel_k1e) X(airy_ai) X(scaled_erfc) X(ndtr) X(log_ndtr) X(ndtri) \
  X(digamma) X(trigamma)
#define LAMELLA_SPECIAL_FUNCTIONS_2(X) \
  X(zeta) X(polygamma) X(gamma_lower) X(gamma_upper) LAMELLA_ORTHOGONAL_FUNCTIONS(X)
#define LAMELLA_ORTHOGONAL_FUNCTIONS(X) \
  X(chebyshev_t) X(chebyshev_u) X(chebyshev_v) X(chebyshev_w) X(shifted_chebyshev_t) X(shifted_chebyshev_u) \
  X(shifted_chebyshev_v) X(shifted_chebyshev_w) X(hermite_h) X(hermite_he) X(laguerre_l) X(legendre_p)
/* clang-format on */

/* The functions that iterate, of one element. */
#define LAMELLA_ONE_LANE(name)                              \
  static inline double lamella_##name(double x, double y) { \
    double o;                                               \
    lamella_##name##_lanes(1, &o, &x, &y);                  \
    return o;                                               \
  }
LAMELLA_SPECIAL_FUNCTIONS_2(LAMELLA_ONE_LANE)
#undef LAMELLA_ONE_LANE

/* x * 2^y. */
static inline double lamella_scaled_by(double x, double y) {
  const double n = floor(lamella_within(y, -4096, 4096)), part = y - n;
  return y - y != 0 ? x * exp2(y) : ldexp(x, (int)n) * (part == 0 ? 1 : exp2(part));
}

#endif
