/* Random numbers by rejection, in C, for the vocabulary and for the prelude of its expressions. A draw takes a seed, a
 * whole number from 0 to 2^53 - 1 in a double, and may need any number of random words: try number j uses block j of
 * a stream of its own, Philox-4x32-10 with the seed as its key. The last word of that stream's counter is 1, which
 * keeps it apart from the streams of generators. */
#ifndef LAMELLA_POINTWISE_SPECIAL_DRAWS_H
#define LAMELLA_POINTWISE_SPECIAL_DRAWS_H

#if defined(LAMELLA_WITHOUT_HEADERS)
#elif defined(__cplusplus)
#include <cmath>
#include <cstdint>
#else
#include <math.h>
#include <stdint.h>
#endif

typedef struct {
  uint32_t w[4];
} lamella_words;

/* Returns the words of block `block` of a draw's stream. */
static inline lamella_words lamella_words_of(double seed, uint32_t block) {
  const uint64_t key = (uint64_t)seed;
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  uint32_t c0 = block, c1 = 0, c2 = 0, c3 = 1;
  lamella_words made;
  int round;
  for (round = 0; round < 10; round++) {
    const uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c1 = (uint32_t)p1;
    c3 = (uint32_t)p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  made.w[0] = c0;
  made.w[1] = c1;
  made.w[2] = c2;
  made.w[3] = c3;
  return made;
}

/* Returns a uniform number between 0 and 1, neither of which it reaches, from the upper 31 bits of a word. */
static inline double lamella_inner_unit(uint32_t word) {
  return ((double)(int32_t)(word >> 1) + 0.5) * 4.656612873077393e-10;
}
/* Returns a uniform number of 53 bits, at least 0 and below 1. */
static inline double lamella_unit(uint32_t high, uint32_t low) {
  return (double)(int64_t)(((uint64_t)high << 32 | low) >> 11) * 1.1102230246251565e-16;
}

/* Returns the logarithm of a number with the standard gamma distribution: Marsaglia and Tsang, "A simple method for
 * generating gamma variables" (2000). For a shape below 1 the draw for shape + 1 is multiplied by u^(1 / shape). NaN
 * for a shape that is negative or NaN; the logarithm keeps numbers that are too small for a double. */
static inline double lamella_gamma_draw(double shape, double seed) {
  const double raised = shape < 1 ? shape + 1 : shape, d = raised - 0.3333333333333333, c = 1 / sqrt(9 * d);
  uint32_t block;
  if (!(shape >= 0) || shape > 1.7e308) return shape > 0 ? shape : (double)NAN;
  for (block = 0; block < 64; block++) {
    const lamella_words s = lamella_words_of(seed, block);
    const double x = sqrt(-2 * log(lamella_inner_unit(s.w[0]))) * cos(6.283185307179586 * lamella_inner_unit(s.w[1]));
    const double root = 1 + c * x;
    double v, logarithm;
    if (!(root > 0)) continue;
    v = root * root * root;
    logarithm = 3 * log(root);
    if (log(lamella_inner_unit(s.w[2])) >= 0.5 * x * x + d * (1 - v + logarithm)) continue;
    logarithm += log(d);
    return shape < 1 ? logarithm + log(lamella_inner_unit(s.w[3])) / shape : logarithm;
  }
  return log(d); /* no draw reaches this: a try fails with a probability of at most 0.05 */
}

/* Returns the logarithm of k! for a whole number k: Stirling's series, above 9 (Abramowitz and Stegun, 6.1.40). */
static inline double lamella_log_factorial(double k) {
  double y = k + 1, product = 1, square;
  for (; y < 10; y += 1) product *= y;
  square = 1 / (y * y);
  return (y - 0.5) * log(y) - y + 0.9189385332046727 - log(product) +
         ((((square / 1188 - 1.0 / 1680) * square + 1.0 / 1260) * square - 1.0 / 360) * square + 1.0 / 12) / y;
}

/* Returns a number with Poisson's distribution: below a rate of 10 by a search through the probabilities, else by
 * Hoermann, "The transformed rejection method for generating Poisson random variables" (1993), algorithm PTRS. NaN for
 * a rate that is negative or NaN. */
static inline double lamella_poisson_draw(double rate, double seed) {
  double a, b, k, log_rate, inverse, edge;
  uint32_t block;
  if (!(rate >= 0)) return (double)NAN;
  if (rate > 1.7e308) return rate;
  if (rate < 10) {
    const lamella_words s = lamella_words_of(seed, 0);
    double left = lamella_unit(s.w[0], s.w[1]), share = exp(-rate);
    for (k = 0; left > share && k < 200;) {
      left -= share;
      k += 1;
      share *= rate / k;
    }
    return k;
  }
  b = 0.931 + 2.53 * sqrt(rate);
  a = -0.059 + 0.02483 * b;
  inverse = 1.1239 + 1.1328 / (b - 3.4);
  edge = 0.9277 - 3.6224 / (b - 2);
  log_rate = log(rate);
  for (block = 0; block < 64; block++) {
    const lamella_words s = lamella_words_of(seed, block);
    int half;
    for (half = 0; half < 4; half += 2) {
      const double u = lamella_inner_unit(s.w[half]) - 0.5, v = lamella_inner_unit(s.w[half + 1]), us = 0.5 - fabs(u);
      k = floor((2 * a / us + b) * u + rate + 0.43);
      if (us >= 0.07 && v <= edge) return k;
      if (k < 0 || (us < 0.013 && v > us)) continue;
      if (log(v * inverse / (a / (us * us) + b)) <= k * log_rate - rate - lamella_log_factorial(k)) return k;
    }
  }
  return floor(rate); /* no draw reaches this: a try fails with a probability of at most 0.3 */
}

/* Returns a binomial number of `count` trials with probability p: for p above 1/2 what is left of the trials by 1 - p;
 * below a mean of 10 by a search through the probabilities, else by Hoermann, "The generation of binomial random
 * variates" (1993), algorithm BTRS. NaN where an argument is NaN, negative, or p above 1. */
static inline double lamella_binomial_draw(double count, double probability, double seed) {
  const int turned = probability > 0.5;
  const double p = turned ? 1 - probability : probability, q = 1 - p, odds = p / q, n = floor(count);
  double a, b, k, spread, alpha, edge, mode, peak;
  uint32_t block;
  if (!(count >= 0 && probability >= 0 && probability <= 1)) return (double)NAN;
  if (p == 0 || n == 0) return turned ? n : 0;
  if (n * p < 10) {
    const lamella_words s = lamella_words_of(seed, 0);
    double left = lamella_unit(s.w[0], s.w[1]), share = exp(n * log1p(-p));
    for (k = 0; left > share && k < n && k < 200;) {
      left -= share;
      share *= (n - k) / (k + 1) * odds;
      k += 1;
    }
    return turned ? n - k : k;
  }
  spread = sqrt(n * p * q);
  b = 1.15 + 2.53 * spread;
  a = -0.0873 + 0.0248 * b + 0.01 * p;
  edge = 0.92 - 4.2 / b;
  alpha = (2.83 + 5.1 / b) * spread;
  mode = floor((n + 1) * p);
  peak = lamella_log_factorial(mode) + lamella_log_factorial(n - mode);
  for (block = 0; block < 64; block++) {
    const lamella_words s = lamella_words_of(seed, block);
    int half;
    for (half = 0; half < 4; half += 2) {
      const double u = lamella_inner_unit(s.w[half]) - 0.5, v = lamella_inner_unit(s.w[half + 1]), us = 0.5 - fabs(u);
      k = floor((2 * a / us + b) * u + n * p + 0.5);
      if (k < 0 || k > n) continue;
      if ((us >= 0.07 && v <= edge) || log(v * alpha / (a / (us * us) + b)) <= peak - lamella_log_factorial(k) -
                                                                                   lamella_log_factorial(n - k) +
                                                                                   (k - mode) * log(odds))
        return turned ? n - k : k;
    }
  }
  return turned ? n - mode : mode; /* no draw reaches this: a try fails with a probability of at most 0.3 */
}

#endif
