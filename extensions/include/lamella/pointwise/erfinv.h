/* The inverse of the error function, in C, for the vocabulary and for the prelude of its expressions. */
#ifndef LAMELLA_POINTWISE_ERFINV_H
#define LAMELLA_POINTWISE_ERFINV_H

#if defined(LAMELLA_WITHOUT_HEADERS)
#elif defined(__cplusplus)
#include <cmath>
#else
#include <math.h>
#endif

/* A rational approximation and two of Newton's steps, which use erfc for |y| > 0.7, where erf is near 1. */
static inline double lamella_erfinv(double y) {
  const double a = fabs(y), slope = 1.1283791670955126; /* 2 / sqrt(pi) */
  double x, z;
  int i;
  if (!(a < 1)) return a == 1 ? copysign((double)INFINITY, y) : (double)NAN;
  if (a <= 0.7) {
    z = y * y;
    x = y * (((-0.140543331 * z + 0.914624893) * z - 1.645349621) * z + 0.886226899) /
        ((((0.012229801 * z - 0.329097515) * z + 1.442710462) * z - 2.118377725) * z + 1);
    for (i = 0; i < 2; i++) x -= (erf(x) - y) / (slope * exp(-x * x));
    return x;
  }
  z = sqrt(-log((1 - a) / 2));
  x = (((1.641345311 * z + 3.429567803) * z - 1.624906493) * z - 1.970840454) /
      ((1.637067800 * z + 3.543889200) * z + 1);
  for (i = 0; i < 2; i++) x += (erfc(x) - (1 - a)) / (slope * exp(-x * x));
  return copysign(x, y);
}

#endif
