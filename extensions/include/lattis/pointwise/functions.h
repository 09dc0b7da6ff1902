/* Pointwise functions: powers, exponentials, logarithms, trigonometry, error functions. */
#ifndef LATTIS_POINTWISE_FUNCTIONS_H
#define LATTIS_POINTWISE_FUNCTIONS_H

#include <lattis/pointwise/base.h>

namespace lattis::pointwise {
namespace {

#define LATTIS_FUNCTION(name, accepts) \
  struct name : Maths<1, accepts> {    \
    template <class T>                 \
    static T apply(T x) {              \
      return name##_(x);               \
    }                                  \
  };
LATTIS_FUNCTION(exp, ANY)
LATTIS_FUNCTION(exp2, ANY)
LATTIS_FUNCTION(log, ANY)
LATTIS_FUNCTION(log2, ANY)
LATTIS_FUNCTION(log10, ANY)
LATTIS_FUNCTION(sin, ANY)
LATTIS_FUNCTION(cos, ANY)
LATTIS_FUNCTION(tan, ANY)
LATTIS_FUNCTION(asin, ANY)
LATTIS_FUNCTION(acos, ANY)
LATTIS_FUNCTION(atan, ANY)
LATTIS_FUNCTION(sinh, ANY)
LATTIS_FUNCTION(cosh, ANY)
LATTIS_FUNCTION(tanh, ANY)
LATTIS_FUNCTION(asinh, ANY)
LATTIS_FUNCTION(acosh, ANY)
LATTIS_FUNCTION(atanh, ANY)
LATTIS_FUNCTION(erf, ORDERED)
LATTIS_FUNCTION(erfc, ORDERED)
#undef LATTIS_FUNCTION

struct expm1 : Maths<1> {
  static constexpr bool complex_maths = true;
  template <class T>
  static T apply(T x) {
    return expm1_(x);
  }
};
struct log1p : Maths<1> {
  static constexpr bool complex_maths = true;
  template <class T>
  static T apply(T x) {
    return log1p_(x);
  }
};

/* Instructions, or calls one by one: no blocks. */
#define LATTIS_PLAIN_FUNCTION(name, accepts) \
  struct name : Maths<1, accepts> {          \
    static constexpr bool maths = false;     \
    template <class T>                       \
    static T apply(T x) {                    \
      return name##_(x);                     \
    }                                        \
  };
LATTIS_PLAIN_FUNCTION(sqrt, ANY)
LATTIS_PLAIN_FUNCTION(lgamma, ORDERED)
LATTIS_PLAIN_FUNCTION(erfinv, ORDERED)
#undef LATTIS_PLAIN_FUNCTION

struct rsqrt : Maths<1> {
  static constexpr bool maths = false;
  template <class T>
  static T apply(T x) {
    return number<T>(1) / sqrt_(x);
  }
};

struct pow : Pointwise<2, ANY> {
  static constexpr bool maths = true;
  template <class T>
  static T apply(T x, T y) {
    if constexpr (is_floating<T> || is_complex<T>)
      return pow_(x, y);
    else if constexpr (is_bool<T>)
      return x || !y;
    else
      return ipow(x, y);
  }
};

/* Powers that backends may use for the numbers 3 and -2 as exponents. */
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
  template <class T>
  static T apply(T y, T x) {
    return atan2_(y, x);
  }
};

struct hypot : Pointwise<2, FLOAT> {
  static constexpr bool maths = true;
  template <class T>
  static T apply(T x, T y) {
    return hypot_(x, y);
  }
};

/* From the larger one, so that nothing overflows; equal infinities have no difference. */
struct logaddexp : Maths<2, FLOAT> {
  template <class T>
  static T apply(T x, T y) {
    T high = where(x > y, x, y);
    return where(x == y, x + number<T>(0.69314718055994531), high + log1p_(exp_(-abs_(x - y))));
  }
};
struct logaddexp2 : Maths<2, FLOAT> {
  template <class T>
  static T apply(T x, T y) {
    T high = where(x > y, x, y);
    return where(x == y, x + number<T>(1), high + number<T>(1.4426950408889634) * log1p_(exp2_(-abs_(x - y))));
  }
};

/* 0 where x is 0, whatever the logarithm, unless y is NaN. */
struct xlogy : Maths<2, ORDERED> {
  template <class T>
  static T apply(T x, T y) {
    return where(x == number<T>(0) && y == y, number<T>(0), x * log_(y));
  }
};

struct sinc : Maths<1> {
  template <class T>
  static T apply(T x) {
    if constexpr (is_complex<T>) {
      const T p = x * number<T>(3.1415926535897932);
      return x == T(0) ? T(1) : sin_(p) / p;
    } else {
      const T p = x * number<T>(3.1415926535897932);
      return where(x == number<T>(0), number<T>(1), sin_(p) / p);
    }
  }
};

struct logit : Maths<1, ORDERED, 1> {
  static constexpr int absent[3] = {LATTIS_ABSENT_LOWEST, LATTIS_ABSENT_ERROR, LATTIS_ABSENT_ERROR};
  template <class T>
  static T apply(T x, T eps) {
    T top = number<T>(1) - eps, y = where(x < eps, eps, x);
    y = where(y > top, top, y);
    return log_(y / (number<T>(1) - y));
  }
};

/* The argument of a complex number; of a real one 0 or pi. */
struct angle : Pointwise<1, ANY> {
  static constexpr bool complex_maths = true;
  static constexpr int compute = LATTIS_COMPUTE_FLOAT, result = LATTIS_RESULT_REAL;
  template <class T>
  static auto apply(T x) {
    if constexpr (is_complex<T>)
      return arg(x);
    else
      return where(x != x, x, where(x < number<T>(0), number<T>(3.1415926535897932), number<T>(0)));
  }
};

struct conj_physical : Pointwise<1, ANY> {
  template <class T>
  static T apply(T x) {
    if constexpr (is_complex<T>)
      return {x.re, -x.im};
    else
      return x;
  }
};

}  // namespace
}  // namespace lattis::pointwise

#define LATTIS_POINTWISE_FUNCTIONS(X)  \
  X(exp, "exp")                        \
  X(exp2, "exp2")                      \
  X(expm1, "expm1")                    \
  X(log, "log")                        \
  X(log2, "log2")                      \
  X(log10, "log10")                    \
  X(log1p, "log1p")                    \
  X(sin, "sin")                        \
  X(cos, "cos")                        \
  X(tan, "tan")                        \
  X(asin, "asin arcsin")               \
  X(acos, "acos arccos")               \
  X(atan, "atan arctan")               \
  X(sinh, "sinh")                      \
  X(cosh, "cosh")                      \
  X(tanh, "tanh")                      \
  X(asinh, "asinh arcsinh")            \
  X(acosh, "acosh arccosh")            \
  X(atanh, "atanh arctanh")            \
  X(erf, "erf")                        \
  X(erfc, "erfc")                      \
  X(sqrt, "sqrt")                      \
  X(lgamma, "lgamma")                  \
  X(erfinv, "erfinv")                  \
  X(rsqrt, "rsqrt")                    \
  X(pow, "pow")                        \
  X(cube, "_cube")                     \
  X(inverse_square, "_inverse_square") \
  X(atan2, "atan2 arctan2")            \
  X(hypot, "hypot")                    \
  X(logaddexp, "logaddexp")            \
  X(logaddexp2, "logaddexp2")          \
  X(xlogy, "xlogy")                    \
  X(sinc, "sinc")                      \
  X(logit, "logit")                    \
  X(angle, "angle")                    \
  X(conj_physical, "conj_physical")

#endif
