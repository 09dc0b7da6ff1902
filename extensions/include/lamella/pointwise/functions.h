/* Pointwise functions: powers, exponentials, logarithms, trigonometry, error functions. */
#ifndef LAMELLA_POINTWISE_FUNCTIONS_H
#define LAMELLA_POINTWISE_FUNCTIONS_H

#include <lamella/pointwise/base.h>

namespace lamella::pointwise {
namespace {

#define LAMELLA_FUNCTION(name, accepts) \
  struct name : Maths<1, accepts> {     \
    template <class T>                  \
    static T apply(T x) {               \
      return name##_(x);                \
    }                                   \
  };
LAMELLA_FUNCTION(exp, ANY)
LAMELLA_FUNCTION(exp2, ANY)
LAMELLA_FUNCTION(log, ANY)
LAMELLA_FUNCTION(log2, ANY)
LAMELLA_FUNCTION(log10, ANY)
LAMELLA_FUNCTION(sin, ANY)
LAMELLA_FUNCTION(cos, ANY)
LAMELLA_FUNCTION(tan, ANY)
LAMELLA_FUNCTION(asin, ANY)
LAMELLA_FUNCTION(acos, ANY)
LAMELLA_FUNCTION(atan, ANY)
LAMELLA_FUNCTION(sinh, ANY)
LAMELLA_FUNCTION(cosh, ANY)
LAMELLA_FUNCTION(tanh, ANY)
LAMELLA_FUNCTION(asinh, ANY)
LAMELLA_FUNCTION(acosh, ANY)
LAMELLA_FUNCTION(atanh, ANY)
LAMELLA_FUNCTION(erf, ORDERED)
LAMELLA_FUNCTION(erfc, ORDERED)
#undef LAMELLA_FUNCTION

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
#define LAMELLA_PLAIN_FUNCTION(name, accepts) \
  struct name : Maths<1, accepts> {           \
    static constexpr bool maths = false;      \
    template <class T>                        \
    static T apply(T x) {                     \
      return name##_(x);                      \
    }                                         \
  };
LAMELLA_PLAIN_FUNCTION(sqrt, ANY)
LAMELLA_PLAIN_FUNCTION(lgamma, ORDERED)
LAMELLA_PLAIN_FUNCTION(erfinv, ORDERED)
#undef LAMELLA_PLAIN_FUNCTION

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

/* 0 where x is 0, also if log(y) is NaN or infinite, unless y is NaN. */
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
  static constexpr int absent[3] = {LAMELLA_ABSENT_LOWEST, LAMELLA_ABSENT_ERROR, LAMELLA_ABSENT_ERROR};
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
  template <class T>
  static T apply(T x) {
    if constexpr (is_complex<T>)
      return {x.re, -x.im};
    else
      return x;
  }
};

}  // namespace
}  // namespace lamella::pointwise

#define LAMELLA_POINTWISE_FUNCTIONS(X) \
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
