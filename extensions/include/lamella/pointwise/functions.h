/* Pointwise functions: powers, exponentials, logarithms, trigonometry, error functions. */
#ifndef LAMELLA_POINTWISE_FUNCTIONS_H
#define LAMELLA_POINTWISE_FUNCTIONS_H

#include <lamella/pointwise/base.h>

namespace lamella::pointwise {
namespace {

#define LAMELLA_FUNCTION(name, accepts, aliases, doc)                                                       \
  struct name : Maths<1, accepts> {                                                                         \
    static constexpr Signature signatures[] = {{#name "(Tensor self) -> Tensor", ALL_FORMS, doc, aliases}}; \
    template <class T>                                                                                      \
    static T apply(T x) {                                                                                   \
      return name##_(x);                                                                                    \
    }                                                                                                       \
  };
LAMELLA_FUNCTION(exp, ANY, nullptr,
                 R"(e to the power of each element.

>>> lamella.exp(lamella.tensor([0., 1.]))
tensor([1.0000, 2.7183])
)")
LAMELLA_FUNCTION(exp2, ANY, nullptr,
                 R"(2 to the power of each element.

>>> lamella.exp2(lamella.tensor([0., 3.]))
tensor([1., 8.])
)")
LAMELLA_FUNCTION(log, ANY, nullptr,
                 R"(The natural logarithm of each element.

>>> lamella.log(lamella.tensor([1., 10.]))
tensor([0.0000, 2.3026])
)")
LAMELLA_FUNCTION(log2, ANY, nullptr,
                 R"(The logarithm to base 2.

>>> lamella.log2(lamella.tensor([1., 8.]))
tensor([0., 3.])
)")
LAMELLA_FUNCTION(log10, ANY, nullptr,
                 R"(The logarithm to base 10.

>>> lamella.log10(lamella.tensor([1., 2000.]))
tensor([0.0000, 3.3010])
)")
LAMELLA_FUNCTION(sin, ANY, nullptr,
                 R"(The sine of each element, in radians.

>>> lamella.sin(lamella.tensor([0., 1.]))
tensor([0.0000, 0.8415])
)")
LAMELLA_FUNCTION(cos, ANY, nullptr,
                 R"(The cosine of each element, in radians.

>>> lamella.cos(lamella.tensor([0., 1.]))
tensor([1.0000, 0.5403])
)")
LAMELLA_FUNCTION(tan, ANY, nullptr,
                 R"(The tangent of each element, in radians.

>>> lamella.tan(lamella.tensor([0., 1.]))
tensor([0.0000, 1.5574])
)")
LAMELLA_FUNCTION(asin, ANY, "arcsin",
                 R"(The angle whose sine each element is.

>>> lamella.asin(lamella.tensor([0., 1.]))
tensor([0.0000, 1.5708])
)")
LAMELLA_FUNCTION(acos, ANY, "arccos",
                 R"(The angle whose cosine each element is.

>>> lamella.acos(lamella.tensor([0., 1.]))
tensor([1.5708, 0.0000])
)")
LAMELLA_FUNCTION(atan, ANY, "arctan",
                 R"(The angle whose tangent each element is.

>>> lamella.atan(lamella.tensor([0., 1.]))
tensor([0.0000, 0.7854])
)")
LAMELLA_FUNCTION(sinh, ANY, nullptr,
                 R"(The hyperbolic sine.

>>> lamella.sinh(lamella.tensor([0., 1.]))
tensor([0.0000, 1.1752])
)")
LAMELLA_FUNCTION(cosh, ANY, nullptr,
                 R"(The hyperbolic cosine.

>>> lamella.cosh(lamella.tensor([0., 1.]))
tensor([1.0000, 1.5431])
)")
LAMELLA_FUNCTION(tanh, ANY, nullptr,
                 R"(The hyperbolic tangent of each element.

>>> lamella.tanh(lamella.tensor([0., 1.]))
tensor([0.0000, 0.7616])
)")
LAMELLA_FUNCTION(asinh, ANY, "arcsinh",
                 R"(The inverse hyperbolic sine.

>>> lamella.asinh(lamella.tensor([0., 1.]))
tensor([0.0000, 0.8814])
)")
LAMELLA_FUNCTION(acosh, ANY, "arccosh",
                 R"(The inverse hyperbolic cosine.

>>> lamella.acosh(lamella.tensor([1., 2.]))
tensor([0.0000, 1.3170])
)")
LAMELLA_FUNCTION(atanh, ANY, "arctanh",
                 R"(The inverse hyperbolic tangent.

>>> lamella.atanh(lamella.tensor([0., 0.5]))
tensor([0.0000, 0.5493])
)")
LAMELLA_FUNCTION(erf, ORDERED, nullptr,
                 R"(The error function.

>>> lamella.erf(lamella.tensor([0., 1.]))
tensor([0.0000, 0.8427])
)")
LAMELLA_FUNCTION(erfc, ORDERED, nullptr,
                 R"(1 - erf(self), exact also where that is small.

>>> lamella.erfc(lamella.tensor([0., 1.]))
tensor([1.0000, 0.1573])
)")
#undef LAMELLA_FUNCTION

struct expm1 : Maths<1> {
  static constexpr Signature signatures[] = {{"expm1(Tensor self) -> Tensor", ALL_FORMS,
                                              R"(e^self - 1, exact also near 0.

>>> lamella.expm1(lamella.tensor([0., 1.]))
tensor([0.0000, 1.7183])
)"}};
  static constexpr bool complex_maths = true;
  template <class T>
  static T apply(T x) {
    return expm1_(x);
  }
};
struct log1p : Maths<1> {
  static constexpr Signature signatures[] = {{"log1p(Tensor self) -> Tensor", ALL_FORMS,
                                              R"(log(1 + self), exact also near 0.

>>> lamella.log1p(lamella.tensor([0., 1.]))
tensor([0.0000, 0.6931])
)"}};
  static constexpr bool complex_maths = true;
  template <class T>
  static T apply(T x) {
    return log1p_(x);
  }
};

/* Functions that are single instructions, or calls for each element: they do not run in blocks. */
#define LAMELLA_PLAIN_FUNCTION(name, accepts, aliases, doc)                                                 \
  struct name : Maths<1, accepts> {                                                                         \
    static constexpr Signature signatures[] = {{#name "(Tensor self) -> Tensor", ALL_FORMS, doc, aliases}}; \
    static constexpr bool maths = false;                                                                    \
    template <class T>                                                                                      \
    static T apply(T x) {                                                                                   \
      return name##_(x);                                                                                    \
    }                                                                                                       \
  };
LAMELLA_PLAIN_FUNCTION(sqrt, ANY, nullptr,
                       R"(The square root of each element.

>>> lamella.sqrt(lamella.tensor([4., 9.]))
tensor([2., 3.])
)")
LAMELLA_PLAIN_FUNCTION(lgamma, ORDERED, nullptr,
                       R"(The logarithm of the gamma function's magnitude.

>>> lamella.lgamma(lamella.tensor([1., 5.]))
tensor([0.0000, 3.1781])
)")
LAMELLA_PLAIN_FUNCTION(erfinv, ORDERED, nullptr,
                       R"(The inverse of the error function.

>>> lamella.erfinv(lamella.tensor([0., 0.5]))
tensor([0.0000, 0.4769])
)")
#undef LAMELLA_PLAIN_FUNCTION

struct rsqrt : Maths<1> {
  static constexpr Signature signatures[] = {{"rsqrt(Tensor self) -> Tensor", ALL_FORMS,
                                              R"(1 / sqrt(self).

>>> lamella.rsqrt(lamella.tensor([1., 4.]))
tensor([1.0000, 0.5000])
)"}};
  static constexpr bool maths = false;
  template <class T>
  static T apply(T x) {
    return number<T>(1) / sqrt_(x);
  }
};

struct pow : Pointwise<2, ANY> {
  static constexpr Signature signatures[] = {{"pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", ALL_FORMS,
                                              R"(self to the power of exponent, element by element.

Raises:
    RuntimeError: an integer to a negative integer power

>>> lamella.pow(lamella.tensor([1, 2, 3]), 2)
tensor([1, 4, 9])
)"},
                                             {"pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", ALL_FORMS},
                                             {"pow.Scalar(Scalar self, Tensor exponent) -> Tensor", FUNCTION | OUT}};
  static constexpr bool maths = true;
  template <class T>
  static T apply(T x, T y) {
    if constexpr (is_bool<T>)
      return x || !y;
    else
      return pow_(x, y);
  }
};

/* cube and inverse_square: backends may use them for powers with the numbers 3 and -2 as exponents. */
struct cube : Pointwise<1, FLOAT | COMPLEX> {
  template <class T>
  static T apply(T x) {
    return x * x * x;
  }
};
struct inverse_square : Pointwise<1, FLOAT> {
  template <class T>
  static T apply(T x) {
    return number<T>(1) / (x * x);
  }
};

struct atan2 : Maths<2, ORDERED> {
  static constexpr Signature signatures[] = {{"atan2(Tensor self, Tensor other) -> Tensor", ALL_FORMS,
                                              R"(The angle of the point (other, self), with the quadrant's sign.

>>> lamella.atan2(lamella.tensor([1., -1.]), lamella.tensor([1., -1.]))
tensor([ 0.7854, -2.3562])
)",
                                              "arctan2"}};
  template <class T>
  static T apply(T y, T x) {
    return atan2_(y, x);
  }
};

struct hypot : Pointwise<2, FLOAT> {
  static constexpr Signature signatures[] = {{"hypot(Tensor self, Tensor other) -> Tensor", ALL_FORMS,
                                              R"(sqrt(self^2 + other^2) without overflow on the way.

>>> lamella.hypot(lamella.tensor([3.]), lamella.tensor([4.]))
tensor([5.])
)"}};
  static constexpr bool maths = true;
  template <class T>
  static T apply(T x, T y) {
    return hypot_(x, y);
  }
};

/* Computed from the larger element, so that nothing overflows. Equal elements are a case of their own, since the
 * difference of equal infinities is NaN. */
struct logaddexp : Maths<2, FLOAT> {
  static constexpr Signature signatures[] = {{"logaddexp(Tensor self, Tensor other) -> Tensor", EVERYWHERE | OUT,
                                              R"(log(e^self + e^other) without overflow on the way.

>>> lamella.logaddexp(lamella.tensor([0., 1000.]), lamella.tensor([0., 1000.]))
tensor([6.9315e-01, 1.0007e+03])
)"}};
  template <class T>
  static T apply(T x, T y) {
    T high = where(x > y, x, y);
    return where(x == y, x + number<T>(0.69314718055994531), high + log1p_(exp_(-abs_(x - y))));
  }
};
struct logaddexp2 : Maths<2, FLOAT> {
  static constexpr Signature signatures[] = {{"logaddexp2(Tensor self, Tensor other) -> Tensor", EVERYWHERE | OUT,
                                              R"(log2(2^self + 2^other) without overflow on the way.

>>> lamella.logaddexp2(lamella.tensor([0., 3.]), lamella.tensor([0., 3.]))
tensor([1., 4.])
)"}};
  template <class T>
  static T apply(T x, T y) {
    T high = where(x > y, x, y);
    return where(x == y, x + number<T>(1), high + number<T>(1.4426950408889634) * log1p_(exp2_(-abs_(x - y))));
  }
};

/* 0 where x is 0, also if log(y) is NaN or infinite, unless y is NaN. */
struct xlogy : Maths<2, ORDERED> {
  static constexpr Signature signatures[] = {
      {"xlogy.Tensor(Tensor self, Tensor other) -> Tensor", ALL_FORMS,
       R"(self * log(other), and 0 where self is 0.

>>> lamella.xlogy(lamella.tensor([0., 2.]), lamella.tensor([0., 1.]))
tensor([0., 0.])
)"},
      {"xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor", ALL_FORMS},
      {"xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor", FUNCTION | OUT}};
  template <class T>
  static T apply(T x, T y) {
    return where(x == number<T>(0) && y == y, number<T>(0), x * log_(y));
  }
};

struct sinc : Maths<1> {
  static constexpr Signature signatures[] = {{"sinc(Tensor self) -> Tensor", ALL_FORMS,
                                              R"(sin(pi self) / (pi self), and 1 at 0.

>>> lamella.sinc(lamella.tensor([0., 0.5]))
tensor([1.0000, 0.6366])
)"}};
  template <class T>
  static T apply(T x) {
    const T p = x * number<T>(3.1415926535897932);
    return where(x == number<T>(0), number<T>(1), sin_(p) / p);
  }
};

struct logit : Maths<1, ORDERED, 1> {
  static constexpr Signature signatures[] = {{"logit(Tensor self, float? eps=None) -> Tensor", ALL_FORMS,
                                              R"(log(self / (1 - self)).

Args:
    eps: limits self to [eps, 1 - eps] first; without it, what is outside of [0, 1] gives NaN

>>> lamella.logit(lamella.tensor([0.5, 0.9]))
tensor([0.0000, 2.1972])
)"}};
  static constexpr int absent[3] = {LAMELLA_ABSENT_LOWEST, LAMELLA_ABSENT_ERROR, LAMELLA_ABSENT_ERROR};
  template <class T>
  static T apply(T x, T eps) {
    T top = number<T>(1) - eps, y = where(x < eps, eps, x);
    y = where(y > top, top, y);
    return log_(y / (number<T>(1) - y));
  }
};

/* The angle of a complex number; of a real number 0 or pi, or NaN if the number is NaN. */
struct angle : Pointwise<1, ANY> {
  static constexpr Signature signatures[] = {
      {"angle(Tensor self) -> Tensor", EVERYWHERE | OUT,
       R"(The argument of complex elements; of real ones 0, or pi where they are negative.

>>> lamella.angle(lamella.tensor([1j, -1 + 0j]))
tensor([1.5708, 3.1416])
)"}};
  static constexpr bool complex_maths = true;
  static constexpr int compute = LAMELLA_COMPUTE_FLOAT, result = LAMELLA_RESULT_REAL;
  template <class T>
  static auto apply(T x) {
    if constexpr (is_complex<T>)
      return arg(x);
    else
      return where(x != x, x, where(x < number<T>(0), number<T>(3.1415926535897932), number<T>(0)));
  }
};

struct conj_physical : Pointwise<1, ANY> {
  static constexpr Signature signatures[] = {{"conj_physical(Tensor self) -> Tensor", ALL_FORMS,
                                              R"(The complex conjugate, computed; real elements stay.

>>> lamella.conj_physical(lamella.tensor([1 + 2j]))
tensor([1.-2.j])
)"}};
  template <class T>
  static T apply(T x) {
    if constexpr (is_complex<T>)
      return {x.re, -x.im};
    else
      return x;
  }
};

using functions = Family<exp, exp2, expm1, log, log2, log10, log1p, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh,
                         asinh, acosh, atanh, erf, erfc, sqrt, lgamma, erfinv, rsqrt, pow, cube, inverse_square, atan2,
                         hypot, logaddexp, logaddexp2, xlogy, sinc, logit, angle, conj_physical>;

}  // namespace
}  // namespace lamella::pointwise
#endif
