/* Words of the special functions, in C, for the vocabulary and for the prelude of its expressions. They have no
 * branches, so that compilers turn a loop over elements into vector code. */
#ifndef LAMELLA_POINTWISE_SPECIAL_BASE_H
#define LAMELLA_POINTWISE_SPECIAL_BASE_H

#if defined(LAMELLA_WITHOUT_HEADERS)
#elif defined(__cplusplus)
#include <cmath>
#include <cstdint>
#else
#include <math.h>
#include <stdint.h>
#endif

/* A loop is vectorized only if all its calls but those of libmvec are inlined. */
#if defined(__GNUC__) && !defined(LAMELLA_WITHOUT_HEADERS)
#define LAMELLA_SPECIAL static inline __attribute__((always_inline))
#else
#define LAMELLA_SPECIAL static inline
#endif

/* x * y + z, rounded once where that is one instruction. */
#if defined(LAMELLA_WITHOUT_HEADERS)
#define LAMELLA_FUSED(x, y, z) fma(x, y, z)
#define LAMELLA_FUSED_FLOAT(x, y, z) fmaf(x, y, z)
#define LAMELLA_HAS_FUSED
#elif defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define LAMELLA_FUSED(x, y, z) __builtin_fma(x, y, z)
#define LAMELLA_FUSED_FLOAT(x, y, z) __builtin_fmaf(x, y, z)
#define LAMELLA_HAS_FUSED
#else
#define LAMELLA_FUSED(x, y, z) ((x) * (y) + (z))
#define LAMELLA_FUSED_FLOAT(x, y, z) ((x) * (y) + (z))
#endif

/* x as another value to the compiler: GCC joins sin(x) and cos(x) into one call that has no vector form. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && !defined(LAMELLA_WITHOUT_HEADERS)
#define LAMELLA_APART(x) __builtin_assoc_barrier(x)
#else
#define LAMELLA_APART(x) (x)
#endif

/* Steps of Horner's rule. */
#define LAMELLA_HORNER1(p, t, a) LAMELLA_FUSED(p, t, a)
#define LAMELLA_HORNER2(p, t, a, b) LAMELLA_FUSED(LAMELLA_FUSED(p, t, a), t, b)
#define LAMELLA_HORNER3(p, t, a, b, c) LAMELLA_FUSED(LAMELLA_HORNER2(p, t, a, b), t, c)
#define LAMELLA_HORNER4(p, t, a, b, c, d) LAMELLA_FUSED(LAMELLA_HORNER3(p, t, a, b, c), t, d)

/* a * b - p exactly, where p is the rounded product a * b (Dekker, 1971, where there is no fused instruction). */
LAMELLA_SPECIAL double lamella_product_rest(double a, double b, double p) {
#ifdef LAMELLA_HAS_FUSED
  return LAMELLA_FUSED(a, b, -p);
#else
  const double s = 134217729.0 * a, t = 134217729.0 * b;
  const double ah = s - (s - a), bh = t - (t - b), al = a - ah, bl = b - bh;
  return ((ah * bh - p) + ah * bl + al * bh) + al * bl;
#endif
}

/* x limited to [low, high]; NaN stays NaN. */
LAMELLA_SPECIAL double lamella_within(double x, double low, double high) {
  const double y = x < low ? low : x;
  return y > high ? high : y;
}

/* Functions that iterate compute up to LAMELLA_LANES elements side by side: each of their loops over lanes is vector
 * code, and the outer loop ends when all lanes are done. A lane that is done keeps its value. */
#define LAMELLA_LANES 8
#ifdef LAMELLA_VECTOR_LANES /* defined by vocabulary.h, whose loops have such pragmas, too */
#define LAMELLA_PRAGMA(text) _Pragma(#text)
#define LAMELLA_EACH_LANE _Pragma("omp simd") for (i = 0; i < n; i++)
#define LAMELLA_EACH_LANE_OR(flag) LAMELLA_PRAGMA(omp simd reduction(| : flag)) for (i = 0; i < n; i++)
#else
#define LAMELLA_EACH_LANE for (i = 0; i < n; i++)
#define LAMELLA_EACH_LANE_OR(flag) for (i = 0; i < n; i++)
#endif

#endif
