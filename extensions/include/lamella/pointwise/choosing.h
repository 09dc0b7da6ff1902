/* Pointwise choices: comparisons, logic, limits, predicates of elements. */
#ifndef LAMELLA_POINTWISE_CHOOSING_H
#define LAMELLA_POINTWISE_CHOOSING_H

#include <lamella/pointwise/base.h>

namespace lamella::pointwise {
namespace {

struct where_ : Pointwise<3, ANY> {
  static constexpr Signature signatures[] = {
      {"where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", FUNCTION | OUT,
       R"(Elements of `self` where the bool `condition` holds, else of `other`; all three broadcast.

>>> lamella.where(lamella.tensor([True, False]), 1, 0)
tensor([1, 0])
)"},
      {"where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor", FUNCTION | OUT},
      {"where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor", FUNCTION | OUT},
      {"where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor", FUNCTION | OUT}};
  static constexpr bool condition = true, moves = true;
  template <class C, class T>
  static T apply(C c, T x, T y) {
    if constexpr (is_integral<T> && !is_symbol<T>) {
      const T mask = static_cast<T>(-static_cast<T>(c));
      return static_cast<T>((x & mask) | (y & static_cast<T>(~mask)));
    } else {
      return where(c, x, y);
    }
  }
};

/* ---- limits ---- */

struct clamp : Pointwise<1, REAL, 2> {
  static constexpr Signature signatures[] = {
      {"clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", ALL_FORMS,
       R"(Limits each element to [min, max]; either may be absent. NaN stays NaN, and a bound of NaN gives NaN.

>>> lamella.clamp(lamella.tensor([-1., 0.5, 2.]), 0, 1)
tensor([0.0000, 0.5000, 1.0000])
)",
       "clip"}};
  static constexpr bool params_promote = true;
  static constexpr int absent[3] = {LAMELLA_ABSENT_LOWEST, LAMELLA_ABSENT_HIGHEST, LAMELLA_ABSENT_ERROR};
  template <class T>
  static T apply(T x, T low, T high) {
    return at_most(at_least(x, low), high);
  }
};
struct clamp_min : Pointwise<1, REAL, 1> {
  static constexpr Signature signatures[] = {
      {"clamp_min(Tensor self, Scalar min) -> Tensor", ALL_FORMS,
       R"(Each element, but at least min. NaN stays NaN, and a bound of NaN gives NaN.

>>> lamella.clamp_min(lamella.tensor([-1., 2.]), 0)
tensor([0., 2.])
)"}};
  static constexpr bool params_promote = true;
  template <class T>
  static T apply(T x, T low) {
    return at_least(x, low);
  }
};
struct clamp_max : Pointwise<1, REAL, 1> {
  static constexpr Signature signatures[] = {
      {"clamp_max(Tensor self, Scalar max) -> Tensor", ALL_FORMS,
       R"(Each element, but at most max. NaN stays NaN, and a bound of NaN gives NaN.

>>> lamella.clamp_max(lamella.tensor([-1., 2.]), 0)
tensor([-1.,  0.])
)"}};
  static constexpr bool params_promote = true;
  template <class T>
  static T apply(T x, T high) {
    return at_most(x, high);
  }
};

/* NaN wins, as in torch and numpy's maximum; of two zeros the first stays, as for a bound that is a number. */
struct maximum : Pointwise<2, ORDERED> {
  static constexpr Signature signatures[] = {{"maximum(Tensor self, Tensor other) -> Tensor", EVERYWHERE | OUT,
                                              R"(The larger of two elements; NaN wins.

>>> lamella.maximum(lamella.tensor([1, 5]), lamella.tensor([3, 2]))
tensor([3, 5])
)"},
                                             {"clamp_min.Tensor(Tensor self, Tensor min) -> Tensor", ALL_FORMS}};
  template <class T>
  static T apply(T x, T y) {
    return where(x != x || x >= y, x, y);
  }
};
struct minimum : Pointwise<2, ORDERED> {
  static constexpr Signature signatures[] = {{"minimum(Tensor self, Tensor other) -> Tensor", EVERYWHERE | OUT,
                                              R"(The smaller of two elements; NaN wins.

>>> lamella.minimum(lamella.tensor([1, 5]), lamella.tensor([3, 2]))
tensor([1, 2])
)"},
                                             {"clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", ALL_FORMS}};
  template <class T>
  static T apply(T x, T y) {
    return where(x != x || x <= y, x, y);
  }
};

/* The other element wins over NaN. */
struct fmax : Pointwise<2, ORDERED> {
  static constexpr Signature signatures[] = {{"fmax(Tensor self, Tensor other) -> Tensor", EVERYWHERE | OUT,
                                              R"(The larger of two elements; NaN loses.

>>> lamella.fmax(lamella.tensor([1., float('nan')]), lamella.tensor([3., 2.]))
tensor([3., 2.])
)"}};
  template <class T>
  static T apply(T x, T y) {
    return where(y != y || x >= y, x, y);
  }
};
struct fmin : Pointwise<2, ORDERED> {
  static constexpr Signature signatures[] = {{"fmin(Tensor self, Tensor other) -> Tensor", EVERYWHERE | OUT,
                                              R"(The smaller of two elements; NaN loses.

>>> lamella.fmin(lamella.tensor([1., float('nan')]), lamella.tensor([3., 2.]))
tensor([1., 2.])
)"}};
  template <class T>
  static T apply(T x, T y) {
    return where(y != y || x <= y, x, y);
  }
};

/* Replaces NaN and the infinities by the given numbers. */
struct nan_to_num : Pointwise<1, FLOAT, 3> {
  static constexpr Signature signatures[] = {
      {"_nan_to_num(Tensor self, Scalar nan, Scalar posinf, Scalar neginf) -> Tensor", PRIVATE,
       "What stands for NaN and for the infinities, without defaults."}};
  template <class T>
  static T apply(T x, T nan, T high, T low) {
    const T infinity = number<T>(std::numeric_limits<double>::infinity());
    return where(x != x, nan, where(x == infinity, high, where(x == -infinity, low, x)));
  }
};

/* ---- comparisons and logic ---- */

#define LAMELLA_COMPARISON(name, accepts, bits, op, aliases, result)                                         \
  struct name : Predicate<2, accepts> {                                                                      \
    static constexpr Signature signatures[] = {                                                              \
        {#name ".Tensor(Tensor self, Tensor other) -> Tensor", ALL_FORMS,                                    \
         "Where self " #op " other, element by element; the result is a bool tensor.\n\nBoth broadcast.\n\n" \
         ">>> lamella." #name "(lamella.tensor([1, 2, 3]), 2)\ntensor([" result "])\n",                      \
         aliases},                                                                                           \
        {#name ".Scalar(Tensor self, Scalar other) -> Tensor", ALL_FORMS}};                                  \
    static constexpr bool signless = bits;                                                                   \
    template <class T>                                                                                       \
    static auto apply(T x, T y) {                                                                            \
      return x op y;                                                                                         \
    }                                                                                                        \
  };
LAMELLA_COMPARISON(eq, ANY, true, ==, nullptr, "False,  True, False")
LAMELLA_COMPARISON(ne, ANY, true, !=, "not_equal", " True, False,  True")
LAMELLA_COMPARISON(lt, ORDERED, false, <, "less", " True, False, False")
LAMELLA_COMPARISON(le, ORDERED, false, <=, "less_equal", " True,  True, False")
LAMELLA_COMPARISON(gt, ORDERED, false, >, "greater", "False, False,  True")
LAMELLA_COMPARISON(ge, ORDERED, false, >=, "greater_equal", "False,  True,  True")
#undef LAMELLA_COMPARISON

template <int Inputs>
struct Logic : Predicate<Inputs, ANY> {
  static constexpr bool signless = true;
};

#define LAMELLA_LOGICAL(name, op, doc, x_example, y_example, result)                                      \
  struct name : Logic<2> {                                                                                \
    static constexpr Signature signatures[] = {{#name "(Tensor self, Tensor other) -> Tensor", ALL_FORMS, \
                                                doc "\n\n>>> lamella." #name "(lamella.tensor(" x_example \
                                                    "), lamella.tensor(" y_example "))"                   \
                                                    "\ntensor(" result ")\n"}};                           \
    template <class T>                                                                                    \
    static auto apply(T x, T y) {                                                                         \
      return (x != number<T>(0)) op(y != number<T>(0));                                                   \
    }                                                                                                     \
  };
LAMELLA_LOGICAL(logical_and, &&, "Where both elements are non-zero.", "[0, 1]", "[1, 2]", "[False,  True]")
LAMELLA_LOGICAL(logical_or, ||, "Where either element is non-zero.", "[0, 0]", "[0, 2]", "[False,  True]")
LAMELLA_LOGICAL(logical_xor, !=, "Where exactly one element is non-zero.", "[0, 1]", "[1, 2]", "[ True, False]")
#undef LAMELLA_LOGICAL

struct logical_not : Logic<1> {
  static constexpr Signature signatures[] = {{"logical_not(Tensor self) -> Tensor", ALL_FORMS,
                                              R"(Where the element is zero.

>>> lamella.logical_not(lamella.tensor([0, 2]))
tensor([ True, False])
)"}};
  template <class T>
  static auto apply(T x) {
    return x == number<T>(0);
  }
};

/* ---- predicates ---- */

/* No bool and no integer is NaN or infinite. */
struct isnan : Logic<1> {
  static constexpr Signature signatures[] = {{"isnan(Tensor self) -> Tensor", EVERYWHERE,
                                              R"(Where the element is NaN.

>>> lamella.isnan(lamella.tensor([1., float('inf'), float('nan')]))
tensor([False, False,  True])
)"}};
  template <class T>
  static auto apply(T x) {
    return x != x;
  }
};
struct isfinite : Logic<1> {
  static constexpr Signature signatures[] = {{"isfinite(Tensor self) -> Tensor", EVERYWHERE,
                                              R"(Where the element is neither infinite nor NaN.

>>> lamella.isfinite(lamella.tensor([1., float('inf'), float('nan')]))
tensor([ True, False, False])
)"}};
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
  static constexpr Signature signatures[] = {{"isinf(Tensor self) -> Tensor", EVERYWHERE,
                                              R"(Where the element is infinite.

>>> lamella.isinf(lamella.tensor([1., float('inf'), float('nan')]))
tensor([False,  True, False])
)"}};
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
  static constexpr Signature signatures[] = {{"isposinf(Tensor self) -> Tensor", EVERYWHERE | OUT,
                                              R"(Where the element is infinity.

>>> lamella.isposinf(lamella.tensor([1., -0., float('-inf')]))
tensor([False, False, False])
)"}};
  template <class T>
  static auto apply(T x) {
    if constexpr (is_floating<T>)
      return x == number<T>(std::numeric_limits<double>::infinity());
    else
      return false;
  }
};
struct isneginf : Predicate<1, ORDERED> {
  static constexpr Signature signatures[] = {{"isneginf(Tensor self) -> Tensor", EVERYWHERE | OUT,
                                              R"(Where the element is minus infinity.

>>> lamella.isneginf(lamella.tensor([1., -0., float('-inf')]))
tensor([False, False,  True])
)"}};
  template <class T>
  static auto apply(T x) {
    if constexpr (is_floating<T>)
      return x == number<T>(-std::numeric_limits<double>::infinity());
    else
      return false;
  }
};
struct signbit : Predicate<1, ORDERED> {
  static constexpr Signature signatures[] = {{"signbit(Tensor self) -> Tensor", EVERYWHERE | OUT,
                                              R"(Where the sign bit is set: negative elements, and -0.

>>> lamella.signbit(lamella.tensor([1., -0., float('-inf')]))
tensor([False,  True,  True])
)"}};
  template <class T>
  static auto apply(T x) {
    if constexpr (is_floating<T>)
      return signbit_(x);
    else if constexpr (std::is_unsigned_v<T>)
      return false;
    else
      return x < number<T>(0);
  }
};

using choosing =
    Family<where_, clamp, clamp_min, clamp_max, maximum, minimum, fmax, fmin, nan_to_num, eq, ne, lt, le, gt, ge,
           logical_and, logical_or, logical_xor, logical_not, isnan, isfinite, isinf, isposinf, isneginf, signbit>;

}  // namespace
}  // namespace lamella::pointwise
#endif
