/* Pointwise choices: comparisons, logic, limits, questions about elements. */
#ifndef LAMELLA_POINTWISE_CHOOSING_H
#define LAMELLA_POINTWISE_CHOOSING_H

#include <lamella/pointwise/base.h>

namespace lamella::pointwise {
namespace {

struct where_ : Pointwise<3, ANY> {
  static constexpr bool condition = true, moves = true;
  template <class C, class T>
  static T apply(C c, T x, T y) {
    if constexpr (is_integral<T>) {
      const T mask = static_cast<T>(-static_cast<T>(c));
      return static_cast<T>((x & mask) | (y & static_cast<T>(~mask)));
    } else {
      return where(c, x, y);
    }
  }
};

/* ---- limits ---- */

struct clamp : Pointwise<1, REAL, 2> {
  static constexpr bool params_promote = true;
  static constexpr int absent[3] = {LAMELLA_ABSENT_LOWEST, LAMELLA_ABSENT_HIGHEST, LAMELLA_ABSENT_ERROR};
  template <class T>
  static T apply(T x, T low, T high) {
    T y = where(x < low, low, x);
    return where(y > high, high, y);
  }
};
struct clamp_min : Pointwise<1, REAL, 1> {
  static constexpr bool params_promote = true;
  template <class T>
  static T apply(T x, T low) {
    return where(x < low, low, x);
  }
};
struct clamp_max : Pointwise<1, REAL, 1> {
  static constexpr bool params_promote = true;
  template <class T>
  static T apply(T x, T high) {
    return where(x > high, high, x);
  }
};

/* NaN wins, as in torch and numpy's maximum. */
struct maximum : Pointwise<2, ORDERED> {
  template <class T>
  static T apply(T x, T y) {
    return where(x != x || x > y, x, y);
  }
};
struct minimum : Pointwise<2, ORDERED> {
  template <class T>
  static T apply(T x, T y) {
    return where(x != x || x < y, x, y);
  }
};

/* NaN loses. */
struct fmax : Pointwise<2, ORDERED> {
  template <class T>
  static T apply(T x, T y) {
    return where(y != y || x > y, x, y);
  }
};
struct fmin : Pointwise<2, ORDERED> {
  template <class T>
  static T apply(T x, T y) {
    return where(y != y || x < y, x, y);
  }
};

/* Replaces NaN and the infinities by the given numbers. */
struct nan_to_num : Pointwise<1, FLOAT, 3> {
  template <class T>
  static T apply(T x, T nan, T high, T low) {
    const T infinity = number<T>(std::numeric_limits<double>::infinity());
    return where(x != x, nan, where(x == infinity, high, where(x == -infinity, low, x)));
  }
};

/* ---- comparisons and logic ---- */

#define LAMELLA_COMPARISON(name, accepts, bits, op) \
  struct name : Predicate<2, accepts> {             \
    static constexpr bool signless = bits;          \
    template <class T>                              \
    static auto apply(T x, T y) {                   \
      return x op y;                                \
    }                                               \
  };
LAMELLA_COMPARISON(eq, ANY, true, ==)
LAMELLA_COMPARISON(ne, ANY, true, !=)
LAMELLA_COMPARISON(lt, ORDERED, false, <)
LAMELLA_COMPARISON(le, ORDERED, false, <=)
LAMELLA_COMPARISON(gt, ORDERED, false, >)
LAMELLA_COMPARISON(ge, ORDERED, false, >=)
#undef LAMELLA_COMPARISON

template <int Inputs>
struct Logic : Predicate<Inputs, ANY> {
  static constexpr bool signless = true;
};

struct logical_and : Logic<2> {
  template <class T>
  static auto apply(T x, T y) {
    return (x != number<T>(0)) && (y != number<T>(0));
  }
};
struct logical_or : Logic<2> {
  template <class T>
  static auto apply(T x, T y) {
    return (x != number<T>(0)) || (y != number<T>(0));
  }
};
struct logical_xor : Logic<2> {
  template <class T>
  static auto apply(T x, T y) {
    return (x != number<T>(0)) != (y != number<T>(0));
  }
};
struct logical_not : Logic<1> {
  template <class T>
  static auto apply(T x) {
    return x == number<T>(0);
  }
};

/* ---- questions ---- */

/* Integers are finite. */
struct isnan : Logic<1> {
  template <class T>
  static auto apply(T x) {
    return x != x;
  }
};
struct isfinite : Logic<1> {
  template <class T>
  static auto apply(T x) {
    if constexpr (is_complex<T>)
      return apply(x.re) && apply(x.im);
    else if constexpr (is_floating<T>)
      return abs_(x) < number<T>(std::numeric_limits<double>::infinity());
    else
      return true;
  }
};
struct isinf : Logic<1> {
  template <class T>
  static auto apply(T x) {
    if constexpr (is_complex<T>)
      return apply(x.re) || apply(x.im);
    else if constexpr (is_floating<T>)
      return abs_(x) == number<T>(std::numeric_limits<double>::infinity());
    else
      return false;
  }
};
struct isposinf : Predicate<1, ORDERED> {
  template <class T>
  static auto apply(T x) {
    if constexpr (is_floating<T>)
      return x == number<T>(std::numeric_limits<double>::infinity());
    else
      return false;
  }
};
struct isneginf : Predicate<1, ORDERED> {
  template <class T>
  static auto apply(T x) {
    if constexpr (is_floating<T>)
      return x == number<T>(-std::numeric_limits<double>::infinity());
    else
      return false;
  }
};
struct signbit : Predicate<1, ORDERED> {
  template <class T>
  static auto apply(T x) {
    if constexpr (is_floating<T>)
      return signbit_(x);
    else if constexpr (std::is_unsigned_v<T>)
      return false;
    else
      return x < T(0);
  }
};

}  // namespace
}  // namespace lamella::pointwise

#define LAMELLA_POINTWISE_CHOOSING(X)    \
  X(where_, "where")                     \
  X(clamp, "clamp clip")                 \
  X(clamp_min, "clamp_min")              \
  X(clamp_max, "clamp_max")              \
  X(maximum, "maximum clamp_min.Tensor") \
  X(minimum, "minimum clamp_max.Tensor") \
  X(fmax, "fmax")                        \
  X(fmin, "fmin")                        \
  X(nan_to_num, "_nan_to_num")           \
  X(eq, "eq")                            \
  X(ne, "ne not_equal")                  \
  X(lt, "lt less")                       \
  X(le, "le less_equal")                 \
  X(gt, "gt greater")                    \
  X(ge, "ge greater_equal")              \
  X(logical_and, "logical_and")          \
  X(logical_or, "logical_or")            \
  X(logical_xor, "logical_xor")          \
  X(logical_not, "logical_not")          \
  X(isnan, "isnan")                      \
  X(isfinite, "isfinite")                \
  X(isinf, "isinf")                      \
  X(isposinf, "isposinf")                \
  X(isneginf, "isneginf")                \
  X(signbit, "signbit")

#endif
