/* Gradients of gamma and beta draws by their shapes, in C, for the vocabulary and for the prelude of its expressions.
 *
 * A draw x with the distribution function F(x; a) and the density p moves with the shape a by dx/da = -(dF/da) / p(x)
 * (Figurnov, Mohamed, Mnih: "Implicit reparameterization gradients", 2018, equation 5). As d(log p(t))/da =
 * log t - m with m = E[log t], both of -dF/da = integral from 0 to x of (m - log t) p(t) dt, and = integral from x of
 * (log t - m) p(t) dt, hold. The first integrand is positive for log x < m, the second for log x > m: the one that is
 * positive is computed, so that nothing cancels, over the logarithm (gamma) or the log-odds (beta) of t, by the
 * formula of Gauss and Legendre with 32 nodes. */
#ifndef LAMELLA_POINTWISE_IMPLICIT_GRADIENTS_H
#define LAMELLA_POINTWISE_IMPLICIT_GRADIENTS_H

#include <lamella/pointwise/special/gamma.h>

/* The nodes in [0, 1], which lie symmetrically about 1/2, and their weights: first those below 1/2. */
#define LAMELLA_NODES                                                                                          \
  0.001368069075259215, 0.007194244227365809, 0.017618872206246805, 0.03254696203113017, 0.051839422116973954, \
      0.07531619313371501, 0.10275810201602881, 0.13390894062985514, 0.16847786653489238, 0.20614212137961885, \
      0.24655004553388532, 0.28932436193468236, 0.33406569885893617, 0.38035631887393145, 0.42776401920860174, \
      0.4758461671561308
#define LAMELLA_WEIGHTS                                                                                           \
  0.003509305004735253, 0.008137197365452872, 0.012696032654631012, 0.017136931456510882, 0.021417949011113418,   \
      0.025499029631188046, 0.029342046739267783, 0.03291111138818084, 0.03617289705442417, 0.039096947893535114, \
      0.041655962113473353, 0.04382604650220189, 0.04558693934788189, 0.046922199540402255, 0.047819360039637354, \
      0.04827004425736383

#define LAMELLA_FAR_NODES                                                                                 \
  0.5241538328438692, 0.5722359807913983, 0.6196436811260685, 0.6659343011410639, 0.7106756380653176,     \
      0.7534499544661146, 0.7938578786203812, 0.8315221334651076, 0.8660910593701449, 0.8972418979839711, \
      0.924683806866285, 0.948160577883026, 0.9674530379688698, 0.9823811277937532, 0.9928057557726342,   \
      0.9986319309247408
#define LAMELLA_FAR_WEIGHTS                                                                                         \
  0.04827004425736383, 0.047819360039637354, 0.046922199540402255, 0.04558693934788189, 0.04382604650220189,        \
      0.041655962113473353, 0.039096947893535114, 0.03617289705442417, 0.03291111138818084, 0.029342046739267783,   \
      0.025499029631188046, 0.021417949011113418, 0.017136931456510882, 0.012696032654631012, 0.008137197365452872, \
      0.003509305004735253

/* The gradient for x up to 2, by the power series of F: with t(n) = x^n / (a (a + 1) ... (a + n)) it is
 * -x times the sum over n of t(n) (log x - digamma(a + n + 1)). */
static inline double lamella_small_gamma_gradient(double a, double x) {
  double term = 1 / a, terms = term, harmonic = 0, weighted = 0;
  int n;
  for (n = 1; n < 100 && term > 1e-17 * terms; n++) {
    const double part = 1 / (a + n);
    term *= x * part;
    harmonic += part;
    terms += term;
    weighted += term * harmonic;
  }
  return x * (weighted - (log(x) - lamella_digamma(a + 1)) * terms);
}

/* The derivative by the shape a of a draw x of the standard gamma distribution; 0 for x = 0, NaN outside the domain. */
static inline double lamella_gamma_gradient(double a, double x) {
  static const double nodes[16] = {LAMELLA_NODES}, weights[16] = {LAMELLA_WEIGHTS};
  double terms[16], apart, rate, length, sum = 0;
  int i;
  if (!(a > 0 && x >= 0)) return (double)NAN;
  if (x == 0) return 0;
  if (x > 1.7e308 || a > 1.7e308) return x > a ? (double)INFINITY : 1;
  if (x <= 2) return lamella_small_gamma_gradient(a, x);
  /* t = x e^s or x e^-s; the exponent reaches -40 at about s = length */
  apart = log(x) - lamella_digamma(a);
  if (apart >= 0) {
    rate = x - a;
    length = 80 / (rate + sqrt(rate * rate + 80 * x));
#pragma omp simd
    for (i = 0; i < 16; i++) {
      const double s = length * nodes[i], r = length - s;
      terms[i] = weights[i] * ((apart + s) * exp(a * s - x * expm1(s)) + (apart + r) * exp(a * r - x * expm1(r)));
    }
  } else {
    apart = -apart;
    rate = a - x;
    length = 80 / (rate + sqrt(rate * rate + 160.0 / 3 * x));
    if (length > 1) length = (40 + x) / a;
#pragma omp simd
    for (i = 0; i < 16; i++) {
      const double s = length * nodes[i], r = length - s;
      terms[i] = weights[i] * ((apart + s) * exp(-a * s - x * expm1(-s)) + (apart + r) * exp(-a * r - x * expm1(-r)));
    }
  }
  for (i = 0; i < 16; i++) sum += terms[i];
  return x * length * sum;
}

/* log(1 / (1 + e^-y)). */
static inline double lamella_log_share(double y) { return (y < 0 ? y : 0) - log1p(exp(-fabs(y))); }

/* The derivative by alpha of a draw x of the beta distribution of alpha and total - alpha, divided by 1 - x: the
 * gradient of Dirichlet draws is made of these (Figurnov et al., section 4). Beyond 37 the log-odds of t are so large
 * that 1 + e^-37 is 1, and the rest of the integral has a closed form. */
static inline double lamella_beta_gradient(double x, double alpha, double total) {
  static const double nodes[32] = {LAMELLA_NODES, LAMELLA_FAR_NODES};
  static const double weights[32] = {LAMELLA_WEIGHTS, LAMELLA_FAR_WEIGHTS};
  const double beta = total - alpha;
  double terms[32], log_x, log_rest, odds, middle, side, whole, length, exponent, sum = 0;
  int i, part, parts;
  if (!(alpha > 0 && beta > 0 && x >= 0 && x <= 1)) return (double)NAN;
  if (x < 1e-300) return 0;
  middle = lamella_digamma(alpha) - lamella_digamma(total);
  if (x == 1) return -middle / beta;
  log_x = log(x);
  log_rest = log1p(-x);
  odds = log_x - log_rest;
  side = log_x >= middle ? 1 : -1;
  whole = 37 - side * odds;
  length = whole = whole > 0 ? whole : 0;
  exponent = alpha * (lamella_log_share(odds + side * length) - log_x) +
             beta * (lamella_log_share(-odds - side * length) - log_rest);
  /* the exponent is concave: Newton's steps to -40 stay on one side */
  for (i = 0; i < 40 && exponent < -60; i++) {
    const double y = odds + side * length, slope = side * (alpha / (1 + exp(y)) - beta / (1 + exp(-y)));
    length -= (exponent + 40) / slope;
    exponent = alpha * (lamella_log_share(odds + side * length) - log_x) +
               beta * (lamella_log_share(-odds - side * length) - log_rest);
  }
  parts = (int)ceil(length / 16);
  for (part = 0; part < parts; part++) {
    const double wide = length / parts, start = odds + side * part * wide;
#pragma omp simd
    for (i = 0; i < 32; i++) {
      const double y = start + side * wide * nodes[i];
      const double above = (y < 0 ? y : 0) - log1p(exp(-fabs(y))), below = above - y; /* log t and log(1 - t) */
      terms[i] = weights[i] * fabs(above - middle) * exp(alpha * (above - log_x) + beta * (below - log_rest));
    }
    for (i = 0; i < 32; i++) sum += wide * terms[i];
  }
  if (length == whole)
    sum += exp(exponent) * (side > 0 ? -middle / beta : (middle - odds + length) / alpha + 1 / (alpha * alpha));
  return x * sum;
}

#undef LAMELLA_NODES
#undef LAMELLA_WEIGHTS
#undef LAMELLA_FAR_NODES
#undef LAMELLA_FAR_WEIGHTS
#endif
