// Functions of complex numbers, which the device's library lacks, in double: asin and acos by Hull, Fairgrieve and Tang
// (1997), tanh by Kahan.
#ifndef LAMELLA_CUDA_WORDS_COMPLEX
#define LAMELLA_CUDA_WORDS_COMPLEX
#include "common.cuh"

#define LAMELLA_OWN_COMPLEX complex<LAMELLA_T_COMPLEX>

typedef complex<double> wide;
DEVICE wide exp(wide x) {
  const double e = exp(x.re);
  if (x.im == 0) return {e, x.im};
  if (e == 0) return {0, 0};
  return {e * cos(x.im), e * sin(x.im)};
}
DEVICE wide log(wide x) {
  const double a = fabs(x.re), b = fabs(x.im), big = a > b ? a : b, small = a > b ? b : a;
  const bool near = big > 0.5 && big < 1.5 && small < 1;  // log|x| would lose the digits of |x| - 1
  return {near ? 0.5 * log1p((big - 1) * (big + 1) + small * small) : log(hypot(a, b)), atan2(x.im, x.re)};
}
DEVICE wide sqrt(wide x) {
  if (x.re == 0 && x.im == 0) return {0, x.im};
  if (fabs(x.im) == INFINITY) return {INFINITY, x.im};
  const double k = fabs(x.re) > 1e300 || fabs(x.im) > 1e300 ? 0.25 : 1;  // k keeps hypot from overflow
  const double t = sqrt((fabs(x.re * k) + hypot(x.re * k, x.im * k)) * 0.5) / (k == 1 ? 1 : 0.5);
  if (x.re >= 0) return {t, x.im / (2 * t)};
  return {fabs(x.im) / (2 * t), copysign(t, x.im)};
}
DEVICE wide sin(wide x) { return {sin(x.re) * cosh(x.im), cos(x.re) * sinh(x.im)}; }
DEVICE wide cos(wide x) { return {cos(x.re) * cosh(x.im), -sin(x.re) * sinh(x.im)}; }
DEVICE wide sinh(wide x) { return {sinh(x.re) * cos(x.im), cosh(x.re) * sin(x.im)}; }
DEVICE wide cosh(wide x) { return {cosh(x.re) * cos(x.im), sinh(x.re) * sin(x.im)}; }
DEVICE wide tanh(wide x) {
  if (fabs(x.re) > 20) return {copysign(1.0, x.re), 4 * sin(x.im) * cos(x.im) * exp(-2 * fabs(x.re))};
  const double t = tan(x.im), beta = 1 + t * t, s = sinh(x.re), rho = sqrt(1 + s * s), below = 1 + beta * s * s;
  return {beta * rho * s / below, t / below};
}
DEVICE wide tan(wide x) {
  const wide w = tanh(wide{-x.im, x.re});
  return {w.im, -w.re};
}

// The real parts of asin and acos of |re| + i |im|, and their imaginary part, which is the same but for the sign.
struct Arcs {
  double asine, acosine, imaginary;
};
DEVICE Arcs arcs(double x, double y) {
  const double r = hypot(x + 1, y), s = hypot(x - 1, y), a = 0.5 * (r + s), b = x / a, up = r + x + 1;
  Arcs w;
  if (b <= 0.6417) {
    w.asine = asin(b);
    w.acosine = acos(b);
  } else {
    const double apx = a + x;
    const double root = x <= 1 ? sqrt(0.5 * apx * (y * y / up + (s + (1 - x)))) : y * sqrt(0.5 * (apx / up + apx / (s + (x - 1))));
    w.asine = atan2(x, root);
    w.acosine = atan2(root, x);
  }
  if (a <= 1.5) {
    const double rest = x < 1 ? 0.5 * (y * y / up + y * y / (s + (1 - x))) : 0.5 * (y * y / up + (s + (x - 1)));
    w.imaginary = log1p(rest + sqrt(rest * (a + 1)));
  } else {
    w.imaginary = a > 1e10 ? log(a) + 0.69314718055994531 : log(a + sqrt(a * a - 1));
  }
  return w;
}
DEVICE wide asin(wide x) {
  const Arcs w = arcs(fabs(x.re), fabs(x.im));
  return {copysign(w.asine, x.re), copysign(w.imaginary, x.im)};
}
DEVICE wide acos(wide x) {
  const Arcs w = arcs(fabs(x.re), fabs(x.im));
  return {bits_as<int64_t>(x.re) < 0 ? 3.14159265358979324 - w.acosine : w.acosine, -copysign(w.imaginary, x.im)};
}
DEVICE wide asinh(wide x) {
  const wide w = asin(wide{x.im, -x.re});
  return {-w.im, w.re};
}
DEVICE wide acosh(wide x) {
  const wide w = acos(x);
  return {fabs(w.im), copysign(w.re, x.im)};
}
DEVICE wide atanh(wide x) {
  const double a = fabs(x.re), y = x.im, rest = 1 - a;
  const double re = a > 1e100 || fabs(y) > 1e100 ? 0 : 0.25 * log1p(4 * a / (rest * rest + y * y));
  const double im = a > 1e100 || fabs(y) > 1e100 ? copysign(1.5707963267948966, y) : 0.5 * atan2(2 * y, rest * (1 + a) - y * y);
  return {copysign(re, x.re), im};
}
DEVICE wide atan(wide x) {
  const wide w = atanh(wide{-x.im, x.re});
  return {w.im, -w.re};
}

#define LAMELLA_OF_WIDE(name)                                         \
  template <class F>                                                  \
  DEVICE complex<F> name##_of_complex(complex<F> x) {                 \
    return convert<complex<F>>(name(convert<complex<double>>(x)));    \
  }
LAMELLA_OF_WIDE(exp)
LAMELLA_OF_WIDE(log)
LAMELLA_OF_WIDE(sqrt)
LAMELLA_OF_WIDE(sin)
LAMELLA_OF_WIDE(cos)
LAMELLA_OF_WIDE(tan)
LAMELLA_OF_WIDE(asin)
LAMELLA_OF_WIDE(acos)
LAMELLA_OF_WIDE(atan)
LAMELLA_OF_WIDE(sinh)
LAMELLA_OF_WIDE(cosh)
LAMELLA_OF_WIDE(tanh)
LAMELLA_OF_WIDE(asinh)
LAMELLA_OF_WIDE(acosh)
LAMELLA_OF_WIDE(atanh)
#undef LAMELLA_OF_WIDE

template <class F>
DEVICE complex<F> power_of_complex(complex<F> x, complex<F> y) {
  const wide a = convert<wide>(y), b = log(convert<wide>(x));
  return convert<complex<F>>(exp(wide{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}));
}
#endif
