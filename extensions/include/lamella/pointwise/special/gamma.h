/* The gamma function's relatives, in C. Definitions and expansions: NIST Digital Library of Mathematical Functions,
 * chapters 5 (gamma, digamma), 8 (incomplete gamma functions) and 25 (Hurwitz's zeta function). */
#ifndef LAMELLA_POINTWISE_SPECIAL_GAMMA_H
#define LAMELLA_POINTWISE_SPECIAL_GAMMA_H

#include <lamella/pointwise/special/error.h>

#define LAMELLA_PI 3.1415926535897932

/* The distance of x to the nearest integer, signed. */
LAMELLA_SPECIAL double lamella_from_integer(double x) { return x - rint(x); }

/* log(|gamma(x)|): by a polynomial on [1, 3], from [0, 1] by one step of the recurrence, beyond by Stirling's formula,
 * and for negative x by reflection. */
LAMELLA_SPECIAL double lamella_lgamma(double x) {
  const double y = fabs(x), inner = lamella_within(y, 0, 3), outer = y > 3 ? y : 3;
  const double m = inner < 1 ? inner + 1 : inner, logarithm = log(y);
  const double first = inner < 1 ? inner : inner - 1, second = inner < 1 ? inner - 1 : inner - 2;
  const double middle = first * second * lamella_lgamma_middle(m - 2);
  const double inverse = 1 / outer, rest = lamella_stirling(inverse * inverse * 18 - 1) * inverse;
  const double far = ((outer - 0.5) * logarithm - outer) + (0.91893853320467274 + rest);
  const double right = y >= 3 ? far : y < 1 ? middle - logarithm : middle;
  const double sine = fabs(sin(LAMELLA_PI * lamella_from_integer(y))), whole = y < 1 ? 1 : y;
  const double left = (x < 0 ? log(LAMELLA_PI / (whole * sine)) : 0) - (y < 1 ? middle : right);
  const double r = x < 0 ? left : right + 0.0;
  return y == (double)INFINITY || (x < 0 && sine == 0) ? (double)INFINITY : x != x ? x : r;
}

LAMELLA_SPECIAL float lamella_lgamma_float(float x) {
  const float y = fabsf(x), inner = y < 3 ? y : 3, outer = y > 3 ? y : 3;
  const float m = inner < 1 ? inner + 1 : inner, logarithm = logf(y);
  const float first = inner < 1 ? inner : inner - 1, second = inner < 1 ? inner - 1 : inner - 2;
  const float middle = first * second * lamella_lgamma_middle_float(m - 2);
  const float inverse = 1 / outer, rest = lamella_stirling_float(inverse * inverse * 18 - 1) * inverse;
  const float far = ((outer - 0.5f) * logarithm - outer) + (0.918938533f + rest);
  const float right = y >= 3 ? far : y < 1 ? middle - logarithm : middle;
  const float sine = fabsf(sinf(3.14159265f * (y - rintf(y)))), whole = y < 1 ? 1 : y;
  const float left = (x < 0 ? logf(3.14159265f / (whole * sine)) : 0) - (y < 1 ? middle : right);
  const float r = x < 0 ? left : right + 0.0f;
  return y == (float)INFINITY || (x < 0 && sine == 0) ? (float)INFINITY : x != x ? x : r;
}

/* The derivative of log(gamma(x)): near its zero by a polynomial, else by 8 steps of the recurrence at once and the
 * asymptotic series, and for negative x by reflection. */
LAMELLA_SPECIAL double lamella_digamma(double x) {
  const double m = x < 0 ? 1 - x : x, low = m < 8 ? m : 8, y = m < 8 ? m + 8 : m, inverse = 1 / y;
  const double w = inverse * inverse;
  const double series = log(y) - 0.5 * inverse + w * lamella_digamma_far(w * 128 - 1);
  const double sum = lamella_digamma_sum(low) / (low * lamella_shift_product(low));
  const double inner = lamella_within(m, 1, 3);
  const double middle = ((inner - 1.4616321449683622) - 9.549995429965697e-17) * lamella_digamma_root(inner - 2);
  const double right = m >= 1 && m <= 3 ? middle : m < 8 ? series - sum : series;
  const double apart = lamella_from_integer(x);
  const double left = apart == 0 ? (double)NAN : right - LAMELLA_PI / tan(LAMELLA_PI * apart);
  const double r = x < 0 ? left : right;
  return x == 0 ? -1 / x : x == -(double)INFINITY ? (double)NAN : x != x ? x : r;
}
/* The derivative of digamma. */
LAMELLA_SPECIAL double lamella_trigamma(double x) {
  const double m = x < 0 ? 1 - x : x, low = m < 8 ? m : 8, y = m < 8 ? m + 8 : m, inverse = 1 / y;
  const double w = inverse * inverse, product = low * lamella_shift_product(low);
  const double series = inverse + (0.5 * w + w * inverse * lamella_trigamma_far(w * 128 - 1));
  const double right = m < 8 ? series + lamella_trigamma_sum(low) / (product * product) : series;
  const double sine = sin(LAMELLA_PI * lamella_from_integer(x)), turn = LAMELLA_PI / sine;
  const double r = x < 0 ? turn * turn - right : right;
  return x == 0 ? (double)INFINITY : x == -(double)INFINITY ? (double)NAN : x != x ? x : r;
}

/* ---- Hurwitz's zeta function ---- */

/* The sum of (q + k)^-s over k >= 0, for s > 1 and q > 0, by nine terms and the formula of Euler and Maclaurin (DLMF
 * 25.11.5), whose factors are B(2j) / (2j)!. */
LAMELLA_SPECIAL double lamella_zeta_right(double order, double q) {
  const double s = lamella_within(order, 1, 1e15), e = -s, a = q + 9, inverse = 1 / a, w = inverse * inverse;
  const double last = pow(a, 1 - s), p = last * inverse;
  double sum = ((pow(q + 8, e) + pow(q + 7, e)) + (pow(q + 6, e) + pow(q + 5, e))) +
               ((pow(q + 4, e) + pow(q + 3, e)) + (pow(q + 2, e) + pow(q + 1, e)));
  double t = s * p * inverse, tail;
#define LAMELLA_NEXT_TERM(j, b)             \
  t *= (s + (2 * j - 1)) * (s + 2 * j) * w; \
  tail += t * (b);
  tail = t * 0.083333333333333333;
  LAMELLA_NEXT_TERM(1, -0.0013888888888888889)
  LAMELLA_NEXT_TERM(2, 3.3068783068783069e-5)
  LAMELLA_NEXT_TERM(3, -8.2671957671957672e-7)
  LAMELLA_NEXT_TERM(4, 2.0876756987868099e-8)
  LAMELLA_NEXT_TERM(5, -5.2841901386874932e-10)
  LAMELLA_NEXT_TERM(6, 1.3382536530684679e-11)
  LAMELLA_NEXT_TERM(7, -3.3896802963225829e-13)
  LAMELLA_NEXT_TERM(8, 8.5860620562778446e-15)
  LAMELLA_NEXT_TERM(9, -2.1748686985580619e-16)
  LAMELLA_NEXT_TERM(10, 5.5090028283602295e-18)
#undef LAMELLA_NEXT_TERM
  sum += last / (s - 1) + (0.5 * p + tail);
  return sum + pow(q, e);
}
/* For negative q and whole s the terms on both sides of 0 are two more sums. */
static inline double lamella_zeta_left(double s, double q) {
  const double f = q - floor(q), sign = floor(0.5 * s) * 2 == s ? 1 : -1;
  if (f == 0) return (double)INFINITY;
  if (s != floor(s)) return (double)NAN;
  return lamella_zeta_right(s, f) + sign * (lamella_zeta_right(s, 1 - f) - lamella_zeta_right(s, 1 - q));
}
static inline void lamella_zeta_lanes(int n, double* o, const double* orders, const double* qs) {
  double r[LAMELLA_LANES];
  int i;
  LAMELLA_EACH_LANE r[i] = lamella_zeta_right(orders[i], qs[i] > 0 ? qs[i] : 1);
  for (i = 0; i < n; i++) {
    const double s = orders[i], q = qs[i];
    o[i] = s != s || q != q || s < 1 ? (double)NAN : s == 1 ? (double)INFINITY : q > 0 ? r[i] : lamella_zeta_left(s, q);
  }
}

/* The n-th derivative of digamma, n >= 0: for n > 1 (-1)^(n + 1) n! zeta(n + 1, x). */
static inline void lamella_polygamma_lanes(int n, double* o, const double* orders, const double* x) {
  double s[LAMELLA_LANES], first[LAMELLA_LANES], second[LAMELLA_LANES], y[LAMELLA_LANES], factorial = 1;
  int i, any[3] = {0, 0, 0};
  for (i = 0; i < n; i++) {
    y[i] = x[i];
    s[i] = orders[i];
    any[s[i] == 0 ? 0 : s[i] == 1 ? 1 : 2] = 1;
    first[i] = s[i] + 1;
    second[i] = 0;
  }
  if (any[2]) lamella_zeta_lanes(n, second, first, y);
  LAMELLA_EACH_LANE first[i] = 0;
  if (any[1]) LAMELLA_EACH_LANE first[i] = lamella_trigamma(y[i]);
  if (any[0]) {
    LAMELLA_EACH_LANE {
      const double r = lamella_digamma(y[i]);
      first[i] = s[i] == 0 ? r : first[i];
    }
  }
  for (i = 0; i < n; i++) {
    if (any[2] && (i == 0 || s[i] != s[i - 1])) factorial = tgamma(s[i] + 1);
    o[i] = s[i] <= 1 ? first[i] : second[i] * (floor(0.5 * s[i]) * 2 == s[i] ? -factorial : factorial);
  }
}

/* ---- incomplete gamma functions ---- */

/* mu - log(1 + mu) for mu = (x - a) / a. */
LAMELLA_SPECIAL double lamella_log1p_gap(double a, double x) {
  const double mu = (x - a) / a, u = lamella_within(mu, -0.4, 0.5);
  const double near = -(u * u) * lamella_log1p_rest((u - 0.05) * 2.2222222222222223);
  return mu == u ? near : mu - log(x / a);
}
/* x^a e^-x / gamma(a + 1): directly for a < 10, beyond as e^(-a gap((x - a) / a)) by Stirling's formula. */
LAMELLA_SPECIAL double lamella_gamma_front_small(double a, double x) {
  double b = a, product = 1;
  int k;
  for (k = 0; k < 10; k++) {
    product *= b >= 1 ? b : 1;
    b = b >= 1 ? b - 1 : b;
  }
  b = lamella_within(b, 0, 1);
  x = x < 800 ? x : 800;
  return pow(x, a) * exp(-x) * lamella_reciprocal_gamma(2 * b - 1) / product;
}
LAMELLA_SPECIAL double lamella_gamma_front_large(double a, double x) {
  const double inverse = 1 / a;
  return exp(-(a * lamella_log1p_gap(a, x)) - lamella_stirling(inverse * inverse * 18 - 1) * inverse) /
         sqrt(2 * LAMELLA_PI * a);
}
/* Temme's uniform expansion for a >= 200 and |x - a| <= 0.3 a (DLMF 8.12): the smaller of the two functions, which is
 * the upper one for x > a. */
LAMELLA_SPECIAL double lamella_gamma_temme(double a, double x) {
  const double mu = (x - a) / a, gap = lamella_log1p_gap(a, x), eta = copysign(sqrt(2 * gap), mu), y = a * gap;
  const double z = 1 / a;
  double p = lamella_temme_7(eta);
  p = LAMELLA_HORNER4(p, z, lamella_temme_6(eta), lamella_temme_5(eta), lamella_temme_4(eta), lamella_temme_3(eta));
  p = LAMELLA_HORNER3(p, z, lamella_temme_2(eta), lamella_temme_1(eta), lamella_temme_0(eta));
  p /= sqrt(2 * LAMELLA_PI * a);
  return exp(-y) * (0.5 * lamella_erfcx_right(sqrt(y)) + (mu > 0 ? p : -p));
}
/* The upper function for x <= 1.1 and small a, where it is near 0 and 1 minus the lower one is not precise. */
LAMELLA_SPECIAL double lamella_gamma_upper_series(double a, double x) {
  const double u = a * log(x) - a * (a - 1) * lamella_lgamma_middle(a - 1);
  double term = 1, sum = 0;
  int k;
  for (k = 1; k < 24; k++) {
    term *= -x / k;
    sum += term / (a + k);
  }
  return -expm1(u) - exp(u) * a * sum;
}

/* The regularized incomplete gamma functions P (upper = 0) and Q = 1 - P (upper = 1). */
LAMELLA_SPECIAL void lamella_gamma_lanes(int n, double* o, const double* as, const double* xs, int upper) {
  double a[LAMELLA_LANES], x[LAMELLA_LANES], front[LAMELLA_LANES], r[LAMELLA_LANES], t[LAMELLA_LANES];
  double b[LAMELLA_LANES], c[LAMELLA_LANES], d[LAMELLA_LANES], h[LAMELLA_LANES], is[LAMELLA_LANES];
  int i, k, open, any[4] = {0, 0, 0, 0}, small = 0, large = 0;
  /* The method of each lane in `is`: 0 series of P, 1 continued fraction of Q, 2 Temme's expansion, 3 series of Q. */
  for (i = 0; i < n; i++) {
    const int plain = as[i] > 0 && xs[i] > 0 && as[i] < (double)INFINITY && xs[i] < (double)INFINITY;
    int way = 0;
    a[i] = plain ? as[i] : 1;
    x[i] = plain ? xs[i] : 1;
    if (a[i] >= 200 && fabs(x[i] - a[i]) <= 0.3 * a[i])
      way = 2;
    else if (x[i] > 1.1 && x[i] > a[i] + 1)
      way = 1;
    else if (upper && x[i] <= 1.1 && (x[i] <= 0.5 ? -0.4 < a[i] * log(x[i]) : a[i] < 1.1 * x[i]))
      way = 3;
    is[i] = way;
    any[way] = 1;
    if (way < 2) small |= a[i] < 10, large |= a[i] >= 10;
  }
  LAMELLA_EACH_LANE front[i] = r[i] = 0;
  if (small) LAMELLA_EACH_LANE front[i] = lamella_gamma_front_small(a[i] < 10 ? a[i] : 1, x[i]);
  if (large) {
    LAMELLA_EACH_LANE {
      const double y = lamella_gamma_front_large(a[i] < 10 ? 10 : a[i], x[i]);
      front[i] = a[i] < 10 ? front[i] : y;
    }
  }
  if (any[0]) {
    LAMELLA_EACH_LANE {
      t[i] = is[i] == 0 ? 1 : 0;
      h[i] = 1;
      b[i] = a[i];
    }
    for (k = 0, open = 1; k < 1000 && open; k++) {
      int more = 0;
      LAMELLA_EACH_LANE_OR(more) {
        b[i] += 1;
        t[i] *= x[i] / b[i];
        t[i] = t[i] > h[i] * 5e-17 ? t[i] : 0;
        h[i] += t[i];
        more |= t[i] != 0;
      }
      open = more;
    }
    LAMELLA_EACH_LANE {
      const double p = front[i] * h[i];
      r[i] = is[i] == 0 ? (upper ? 1 - p : p) : r[i];
    }
  }
  if (any[1]) { /* the continued fraction DLMF 8.9.2 by Lentz's method */
    LAMELLA_EACH_LANE {
      b[i] = is[i] == 1 ? x[i] + 1 - a[i] : 2;
      c[i] = 1e300;
      d[i] = 1 / b[i];
      h[i] = d[i];
      t[i] = is[i] == 1 ? 1 : 0;
    }
    for (k = 1, open = 1; k < 1000 && open; k++) {
      int more = 0;
      LAMELLA_EACH_LANE_OR(more) {
        const double f = k * (a[i] - k);
        double step;
        b[i] += 2;
        d[i] = 1 / (f * d[i] + b[i]);
        c[i] = b[i] + f / c[i];
        step = c[i] * d[i];
        h[i] *= t[i] != 0 ? step : 1;
        t[i] = fabs(step - 1) > 1.2e-16 ? t[i] : 0;
        more |= t[i] != 0;
      }
      open = more;
    }
    LAMELLA_EACH_LANE {
      const double q = front[i] * a[i] * h[i];
      r[i] = is[i] == 1 ? (upper ? q : 1 - q) : r[i];
    }
  }
  if (any[2]) {
    LAMELLA_EACH_LANE {
      const double y = lamella_gamma_temme(is[i] == 2 ? a[i] : 200, is[i] == 2 ? x[i] : 200);
      r[i] = is[i] != 2 ? r[i] : (x[i] > a[i]) == (upper != 0) ? y : 1 - y;
    }
  }
  if (any[3]) {
    LAMELLA_EACH_LANE {
      const double q = lamella_gamma_upper_series(is[i] == 3 ? a[i] : 1, x[i]);
      r[i] = is[i] == 3 ? q : r[i];
    }
  }
  for (i = 0; i < n; i++) {
    const double p = as[i], y = xs[i];
    double edge = r[i];
    if (!(p >= 0 && y >= 0) || (p == 0 && y == 0) || (p == y && p - p != 0))
      edge = (double)NAN;
    else if (p == 0 || y == (double)INFINITY)
      edge = upper ? 0 : 1;
    else if (y == 0 || p == (double)INFINITY)
      edge = upper ? 1 : 0;
    o[i] = edge;
  }
}

static inline void lamella_gamma_lower_lanes(int n, double* o, const double* a, const double* x) {
  lamella_gamma_lanes(n, o, a, x, 0);
}
static inline void lamella_gamma_upper_lanes(int n, double* o, const double* a, const double* x) {
  lamella_gamma_lanes(n, o, a, x, 1);
}

#endif
