/* Pointwise functions: powers, exponentials, logarithms, trigonometry, error functions. */
#ifndef LAMELLA_POINTWISE_FUNCTIONS_H
#define LAMELLA_POINTWISE_FUNCTIONS_H

#include <lamella/pointwise/base.h>

namespace lamella::pointwise {
namespace {

/* Functions of one number in the default float. Those of Plain are single instructions, or calls for each element: they
 * do not run in blocks. */
using OrderedMaths = Maths<1, ORDERED>;
struct ComplexMaths : Maths<1> {
  static constexpr bool complex_maths = true;
};
template <int Accepts>
struct Plain : Maths<1, Accepts> {
  static constexpr bool maths = false;
};

/* The example calls the function with a tensor of the numbers `from`, and gets `to`. */
#define LAMELLA_FUNCTION(name, base, aliases, doc, from, to)                                     \
  struct name : base {                                                                           \
    static constexpr Signature signatures[] = {                                                  \
        {#name "(Tensor self) -> Tensor", ALL_FORMS,                                             \
         doc "\n\n>>> lamella." #name "(lamella.tensor(" from "))\ntensor(" to ")\n", aliases}}; \
    template <class T>                                                                           \
    static T apply(T x) {                                                                        \
      return name##_(x);                                                                         \
    }                                                                                            \
  };
LAMELLA_FUNCTION(exp, Maths<1>, nullptr, "e to the power of each element.", "[0., 1.]", "[1.0000, 2.7183]")
LAMELLA_FUNCTION(exp2, Maths<1>, nullptr, "2 to the power of each element.", "[0., 3.]", "[1., 8.]")
LAMELLA_FUNCTION(log, Maths<1>, nullptr, "The natural logarithm of each element.", "[1., 10.]", "[0.0000, 2.3026]")
LAMELLA_FUNCTION(log2, Maths<1>, nullptr, "The logarithm to base 2.", "[1., 8.]", "[0., 3.]")
LAMELLA_FUNCTION(log10, Maths<1>, nullptr, "The logarithm to base 10.", "[1., 2000.]", "[0.0000, 3.3010]")
LAMELLA_FUNCTION(sin, Maths<1>, nullptr, "The sine of each element, in radians.", "[0., 1.]", "[0.0000, 0.8415]")
LAMELLA_FUNCTION(cos, Maths<1>, nullptr, "The cosine of each element, in radians.", "[0., 1.]", "[1.0000, 0.5403]")
LAMELLA_FUNCTION(tan, Maths<1>, nullptr, "The tangent of each element, in radians.", "[0., 1.]", "[0.0000, 1.5574]")
LAMELLA_FUNCTION(asin, Maths<1>, "arcsin", "The angle whose sine each element is.", "[0., 1.]", "[0.0000, 1.5708]")
LAMELLA_FUNCTION(acos, Maths<1>, "arccos", "The angle whose cosine each element is.", "[0., 1.]", "[1.5708, 0.0000]")
LAMELLA_FUNCTION(atan, Maths<1>, "arctan", "The angle whose tangent each element is.", "[0., 1.]", "[0.0000, 0.7854]")
LAMELLA_FUNCTION(sinh, Maths<1>, nullptr, "The hyperbolic sine.", "[0., 1.]", "[0.0000, 1.1752]")
LAMELLA_FUNCTION(cosh, Maths<1>, nullptr, "The hyperbolic cosine.", "[0., 1.]", "[1.0000, 1.5431]")
LAMELLA_FUNCTION(tanh, Maths<1>, nullptr, "The hyperbolic tangent of each element.", "[0., 1.]", "[0.0000, 0.7616]")
LAMELLA_FUNCTION(asinh, Maths<1>, "arcsinh", "The inverse hyperbolic sine.", "[0., 1.]", "[0.0000, 0.8814]")
LAMELLA_FUNCTION(acosh, Maths<1>, "arccosh", "The inverse hyperbolic cosine.", "[1., 2.]", "[0.0000, 1.3170]")
LAMELLA_FUNCTION(atanh, Maths<1>, "arctanh", "The inverse hyperbolic tangent.", "[0., 0.5]", "[0.0000, 0.5493]")
LAMELLA_FUNCTION(erf, OrderedMaths, nullptr, "The error function.", "[0., 1.]", "[0.0000, 0.8427]")
LAMELLA_FUNCTION(erfc, OrderedMaths, nullptr, "1 - erf(self), exact also where that is small.", "[0., 1.]",
                 "[1.0000, 0.1573]")
LAMELLA_FUNCTION(expm1, ComplexMaths, nullptr, "e^self - 1, exact also near 0.", "[0., 1.]", "[0.0000, 1.7183]")
LAMELLA_FUNCTION(log1p, ComplexMaths, nullptr, "log(1 + self), exact also near 0.", "[0., 1.]", "[0.0000, 0.6931]")
LAMELLA_FUNCTION(sqrt, Plain<ANY>, nullptr, "The square root of each element.", "[4., 9.]", "[2., 3.]")
LAMELLA_FUNCTION(lgamma, OrderedMaths, nullptr, "The logarithm of the gamma function's magnitude.", "[1., 5.]",
                 "[0.0000, 3.1781]")
LAMELLA_FUNCTION(erfinv, OrderedMaths, nullptr, "The inverse of the error function.", "[0., 0.5]", "[0.0000, 0.4769]")
#undef LAMELLA_FUNCTION

struct rsqrt : Plain<ANY> {
  static constexpr Signature signatures[] = {{"rsqrt(Tensor self) -> Tensor", ALL_FORMS,
                                              R"(1 / sqrt(self).

>>> lamella.rsqrt(lamella.tensor([1., 4.]))
tensor([1.0000, 0.5000])
)"}};
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
