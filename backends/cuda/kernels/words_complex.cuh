// The words of expressions for complex numbers. Products and quotients are numpy's: plain, and by Smith's algorithm.
// Functions are computed in double: asin and acos by Hull, Fairgrieve and Tang (1997), tanh by Kahan.
#ifndef LAMELLA_CUDA_WORDS_COMPLEX
#define LAMELLA_CUDA_WORDS_COMPLEX
#include "words.cuh"

namespace words {

template <class F>
DEVICE complex<F> make(F re, F im) {
  return {re, im};
}
template <class F>
DEVICE complex<F> add(complex<F> x, complex<F> y) {
  return {x.re + y.re, x.im + y.im};
}
template <class F>
DEVICE complex<F> sub(complex<F> x, complex<F> y) {
  return {x.re - y.re, x.im - y.im};
}
template <class F>
DEVICE complex<F> neg(complex<F> x) {
  return {-x.re, -x.im};
}
template <class F>
DEVICE complex<F> mul(complex<F> x, complex<F> y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
template <class F>
DEVICE bool equal(complex<F> x, complex<F> y) {
  return x.re == y.re && x.im == y.im;
}
template <class F>
DEVICE complex<F> div(complex<F> x, complex<F> y) {
  const bool wide = abs(y.re) >= abs(y.im);
  const F big = wide ? y.re : y.im, small = wide ? y.im : y.re;
  if (big == 0 && small == 0) return {x.re / static_cast<F>(0), x.im / static_cast<F>(0)};
  const F ratio = small / big, scale = 1 / (big + small * ratio);
  if (wide) return {(x.re + x.im * ratio) * scale, (x.im - x.re * ratio) * scale};
  return {(x.re * ratio + x.im) * scale, (x.im * ratio - x.re) * scale};
}
template <class F>
DEVICE F modulus(complex<F> x) {
  return hypot(x.re, x.im);
}
template <class F>
DEVICE F arg(complex<F> x) {
  return atan2(x.im, x.re);
}

typedef complex<double> wide;
DEVICE wide scaled(wide x, double k) { return {x.re * k, x.im * k}; }
DEVICE wide exp(wide x) {
  const double e = exp(x.re);
  if (x.im == 0) return {e, x.im};
  if (e == 0) return {0, 0};
  return {e * cos(x.im), e * sin(x.im)};
}
DEVICE wide log(wide x) {
  const double a = abs(x.re), b = abs(x.im), big = a > b ? a : b, small = a > b ? b : a;
  const bool near = big > 0.5 && big < 1.5 && small < 1;  // log|x| would lose what |x| has beside 1
  return {near ? 0.5 * log1p((big - 1) * (big + 1) + small * small) : log(hypot(a, b)), atan2(x.im, x.re)};
}
DEVICE wide sqrt(wide x) {
  if (x.re == 0 && x.im == 0) return {0, x.im};
  if (abs(x.im) == INFINITY) return {INFINITY, x.im};
  const double k = abs(x.re) > 1e300 || abs(x.im) > 1e300 ? 0.25 : 1;  // hypot must not overflow
  const double t = sqrt((abs(x.re * k) + hypot(x.re * k, x.im * k)) * 0.5) / (k == 1 ? 1 : 0.5);
  if (x.re >= 0) return {t, x.im / (2 * t)};
  return {abs(x.im) / (2 * t), copysign(t, x.im)};
}
DEVICE wide sin(wide x) { return {sin(x.re) * cosh(x.im), cos(x.re) * sinh(x.im)}; }
DEVICE wide cos(wide x) { return {cos(x.re) * cosh(x.im), -sin(x.re) * sinh(x.im)}; }
DEVICE wide sinh(wide x) { return {sinh(x.re) * cos(x.im), cosh(x.re) * sin(x.im)}; }
DEVICE wide cosh(wide x) { return {cosh(x.re) * cos(x.im), sinh(x.re) * sin(x.im)}; }
DEVICE wide tanh(wide x) {
  if (abs(x.re) > 20) return {copysign(1.0, x.re), 4 * sin(x.im) * cos(x.im) * exp(-2 * abs(x.re))};
  const double t = tan(x.im), beta = 1 + t * t, s = sinh(x.re), rho = sqrt(1 + s * s), below = 1 + beta * s * s;
  return {beta * rho * s / below, t / below};
}
DEVICE wide tan(wide x) {
  const wide w = tanh(wide{-x.im, x.re});
  return {w.im, -w.re};
}

// Of |re| and |im|: the real parts of asin and acos, and the imaginary part, which is both's but for the sign.
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
  const Arcs w = arcs(abs(x.re), abs(x.im));
  return {copysign(w.asine, x.re), copysign(w.imaginary, x.im)};
}
DEVICE wide acos(wide x) {
  const Arcs w = arcs(abs(x.re), abs(x.im));
  return {signbit(x.re) ? 3.14159265358979324 - w.acosine : w.acosine, -copysign(w.imaginary, x.im)};
}
DEVICE wide asinh(wide x) {
  const wide w = asin(wide{x.im, -x.re});
  return {-w.im, w.re};
}
DEVICE wide acosh(wide x) {
  const wide w = acos(x);
  return {abs(w.im), copysign(w.re, x.im)};
}
DEVICE wide atanh(wide x) {
  const double a = abs(x.re), y = x.im, rest = 1 - a;
  const double re = a > 1e100 || abs(y) > 1e100 ? 0 : 0.25 * log1p(4 * a / (rest * rest + y * y));
  const double im = a > 1e100 || abs(y) > 1e100 ? copysign(1.5707963267948966, y) : 0.5 * atan2(2 * y, rest * (1 + a) - y * y);
  return {copysign(re, x.re), im};
}
DEVICE wide atan(wide x) {
  const wide w = atanh(wide{-x.im, x.re});
  return {w.im, -w.re};
}
DEVICE wide exp2(wide x) { return exp(scaled(x, 0.69314718055994531)); }
DEVICE wide log2(wide x) { return scaled(log(x), 1.4426950408889634); }
DEVICE wide log10(wide x) { return scaled(log(x), 0.43429448190325183); }
DEVICE wide log1p(wide x) { return log(wide{1 + x.re, x.im}); }
DEVICE wide expm1(wide x) {
  const double half = sin(x.im / 2);
  return {expm1(x.re) * cos(x.im) - 2 * half * half, exp(x.re) * sin(x.im)};
}

#define LAMELLA_NARROW(name)                                             \
  DEVICE complex<float> name(complex<float> x) {                         \
    return convert<complex<float>>(name(convert<complex<double>>(x)));   \
  }
LAMELLA_NARROW(exp)
LAMELLA_NARROW(log)
LAMELLA_NARROW(sqrt)
LAMELLA_NARROW(sin)
LAMELLA_NARROW(cos)
LAMELLA_NARROW(tan)
LAMELLA_NARROW(asin)
LAMELLA_NARROW(acos)
LAMELLA_NARROW(atan)
LAMELLA_NARROW(sinh)
LAMELLA_NARROW(cosh)
LAMELLA_NARROW(tanh)
LAMELLA_NARROW(asinh)
LAMELLA_NARROW(acosh)
LAMELLA_NARROW(atanh)
LAMELLA_NARROW(exp2)
LAMELLA_NARROW(log2)
LAMELLA_NARROW(log10)
LAMELLA_NARROW(log1p)
LAMELLA_NARROW(expm1)
#undef LAMELLA_NARROW

// Small whole exponents by squaring: exact where the result is.
template <class F>
DEVICE complex<F> pow(complex<F> x, complex<F> y) {
  if (y.re == 0 && y.im == 0) return {1, 0};
  if (x.re == 0 && x.im == 0) {
    const F no = static_cast<F>(NAN);
    return y.re > 0 && y.im == 0 ? complex<F>{0, 0} : complex<F>{no, no};
  }
  if (y.im != 0 || y.re != trunc(y.re) || abs(y.re) >= 100)
    return convert<complex<F>>(exp(mul(convert<wide>(y), log(convert<wide>(x)))));
  complex<F> r = {1, 0};
  for (int n = static_cast<int>(abs(y.re)); n; n >>= 1) {
    if (n & 1) r = mul(r, x);
    x = mul(x, x);
  }
  return y.re < 0 ? div(complex<F>{1, 0}, r) : r;
}

}  // namespace words
#endif
