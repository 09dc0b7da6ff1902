/* Pointwise signs, rounding and bits. */
#ifndef LAMELLA_POINTWISE_SIGNS_H
#define LAMELLA_POINTWISE_SIGNS_H

#include <lamella/pointwise/base.h>

namespace lamella::pointwise {
namespace {

/* ---- signs ------------------------------------------------------------------------------------------------------ */

struct neg : Pointwise<1, INT | FLOAT | COMPLEX> {
  static constexpr Signature signatures[] = {{"neg(Tensor self) -> Tensor", ALL_FORMS,
                                              R"(-self, element by element.

>>> lamella.neg(lamella.tensor([1, -2]))
tensor([-1,  2])
)",
                                              "negative"}};
  static constexpr bool signless = true;
  template <class T>
  static T apply(T x) {
    return static_cast<T>(-x);
  }
};

struct abs : Pointwise<1, ANY> {
  static constexpr Signature signatures[] = {{"abs(Tensor self) -> Tensor", ALL_FORMS,
                                              R"(The absolute value, element by element.

>>> lamella.abs(lamella.tensor([1, -2]))
tensor([1, 2])
)",
                                              "absolute"}};
  static constexpr bool complex_maths = true;
  static constexpr int result = LAMELLA_RESULT_REAL;
  template <class T>
  static auto apply(T x) {
    if constexpr (is_complex<T>)
      return modulus(x);
    else
      return abs_(x);
  }
};

/* The sign of NaN is 0. */
struct sign : Pointwise<1, ORDERED> {
  static constexpr Signature signatures[] = {{"sign(Tensor self) -> Tensor", ALL_FORMS,
                                              R"(-1, 0 or 1, by the sign of each element; 0 for NaN.

>>> lamella.sign(lamella.tensor([-2., 0., 3.]))
tensor([-1.,  0.,  1.])
)"}};
  template <class T>
  static T apply(T x) {
    if constexpr (is_symbol<T>)
      return where(x > number<T>(0), number<T>(1), where(x < number<T>(0), number<T>(-1), number<T>(0)));
    else if constexpr (std::is_unsigned_v<T>)
      return static_cast<T>(x != T(0));
    else
      return static_cast<T>((x > T(0)) - (x < T(0)));
  }
};

struct sgn : Pointwise<1, ANY> {
  static constexpr Signature signatures[] = {
      {"sgn(Tensor self) -> Tensor", ALL_FORMS,
       R"(The sign of each element; of a complex one, the number of length 1 in its direction.

>>> lamella.sgn(lamella.tensor([3 + 4j, 0j]))
tensor([0.6000+0.8000j, 0.0000+0.0000j])
)"}};
  static constexpr bool complex_maths = true;
  template <class T>
  static T apply(T x) {
    if constexpr (is_complex<T>) {
      const auto r = modulus(x);
      return where(r == number<typename T::part>(0), number<T>(0), T(x.re / r, x.im / r));
    } else {
      return sign::apply(x);
    }
  }
};

struct copysign : Pointwise<2, ORDERED> {
  static constexpr Signature signatures[] = {{"copysign.Tensor(Tensor self, Tensor other) -> Tensor", ALL_FORMS,
                                              R"(The magnitude of self with the sign of other.

>>> lamella.copysign(lamella.tensor([1., -2.]), -1)
tensor([-1., -2.])
)"},
                                             {"copysign.Scalar(Tensor self, Scalar other) -> Tensor", ALL_FORMS}};
  static constexpr int compute = LAMELLA_COMPUTE_FLOAT;
  template <class T>
  static T apply(T x, T y) {
    return copysign_(x, y);
  }
};

/* 0 for x below 0, 1 above, and y at 0; 0 for NaN. */
struct heaviside : Pointwise<2, ORDERED> {
  static constexpr Signature signatures[] = {
      {"heaviside(Tensor self, Tensor values) -> Tensor", ALL_FORMS,
       R"(0 where self is negative, 1 where it is positive, else the element of values.

>>> lamella.heaviside(lamella.tensor([-1., 0., 2.]), lamella.tensor([0.5]))
tensor([0.0000, 0.5000, 1.0000])
)"}};
  template <class T>
  static T apply(T x, T y) {
    return where(x == number<T>(0), y, where(x > number<T>(0), number<T>(1), number<T>(0)));
  }
};

/* ---- rounding ---------------------------------------------------------------------------------------------------- */

#define LAMELLA_ROUNDING(name, aliases, doc)                                                                \
  struct name : Pointwise<1, REAL> {                                                                        \
    static constexpr Signature signatures[] = {{#name "(Tensor self) -> Tensor", ALL_FORMS, doc, aliases}}; \
    template <class T>                                                                                      \
    static T apply(T x) {                                                                                   \
      if constexpr (is_floating<T>)                                                                         \
        return name##_(x);                                                                                  \
      else                                                                                                  \
        return x;                                                                                           \
    }                                                                                                       \
  };
LAMELLA_ROUNDING(ceil, nullptr,
                 R"(The smallest integer that is not below each element.

>>> lamella.ceil(lamella.tensor([0.5, -0.5]))
tensor([1., -0.])
)")
LAMELLA_ROUNDING(floor, nullptr,
                 R"(The largest integer that is not above each element.

>>> lamella.floor(lamella.tensor([0.5, -0.5]))
tensor([ 0., -1.])
)")
LAMELLA_ROUNDING(round, nullptr,
                 R"(The nearest integer; halves go to the even one.

Args:
    decimals: the number of decimal places to keep; negative ones round to tens and hundreds

>>> lamella.round(lamella.tensor([0.5, 1.5, 2.6]))
tensor([0., 2., 3.])
)")
LAMELLA_ROUNDING(trunc, "fix",
                 R"(Each element without its fractional part.

>>> lamella.trunc(lamella.tensor([1.5, -1.5]))
tensor([ 1., -1.])
)")
#undef LAMELLA_ROUNDING

struct frac : Pointwise<1, FLOAT> {
  static constexpr Signature signatures[] = {{"frac(Tensor self) -> Tensor", ALL_FORMS,
                                              R"(The fractional part of each element, with its sign.

>>> lamella.frac(lamella.tensor([1.5, -1.25]))
tensor([ 0.5000, -0.2500])
)"}};
  template <class T>
  static T apply(T x) {
    return x - trunc_(x);
  }
};

/* ---- bits ---- */

#define LAMELLA_BITWISE(name, op, aliases, doc)                                          \
  struct name : Pointwise<2, BOOL | INT> {                                               \
    static constexpr Signature signatures[] = {                                          \
        {#name ".Tensor(Tensor self, Tensor other) -> Tensor", ALL_FORMS, doc, aliases}, \
        {#name ".Scalar(Tensor self, Scalar other) -> Tensor", ALL_FORMS},               \
        {#name ".Scalar_Tensor(Scalar self, Tensor other) -> Tensor", FUNCTION | OUT}};  \
    static constexpr bool signless = true;                                               \
    template <class T>                                                                   \
    static T apply(T x, T y) {                                                           \
      return static_cast<T>(x op y);                                                     \
    }                                                                                    \
  };
LAMELLA_BITWISE(bitwise_and, &, nullptr,
                R"(The bitwise and of integers, the logical one of bools.

>>> lamella.bitwise_and(lamella.tensor([12, 10]), 6)
tensor([4, 2])
)")
LAMELLA_BITWISE(bitwise_or, |, nullptr,
                R"(The bitwise or of integers, the logical one of bools.

>>> lamella.bitwise_or(lamella.tensor([12, 10]), 6)
tensor([14, 14])
)")
LAMELLA_BITWISE(bitwise_xor, ^, nullptr,
                R"(The bitwise exclusive or of integers, the logical one of bools.

>>> lamella.bitwise_xor(lamella.tensor([12, 10]), 6)
tensor([10, 12])
)")
#undef LAMELLA_BITWISE

struct bitwise_not : Pointwise<1, BOOL | INT> {
  static constexpr Signature signatures[] = {{"bitwise_not(Tensor self) -> Tensor", ALL_FORMS,
                                              R"(The complement of integers, the negation of bools.

>>> lamella.bitwise_not(lamella.tensor([0, 5]))
tensor([-1, -6])
)"}};
  static constexpr bool signless = true;
  template <class T>
  static T apply(T x) {
    if constexpr (is_bool<T>)
      return !x;
    else
      return static_cast<T>(~x);
  }
};

/* Shifts by a negative number, or by at least as many bits as T has, leave zeros, or copies of the sign. */
#define LAMELLA_SHIFT(side, doc)                                                                         \
  struct shift_##side : Pointwise<2, INT> {                                                              \
    static constexpr Signature signatures[] = {                                                          \
        {"bitwise_" #side "_shift.Tensor(Tensor self, Tensor other) -> Tensor", ALL_FORMS, doc},         \
        {"bitwise_" #side "_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor", ALL_FORMS},       \
        {"bitwise_" #side "_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", FUNCTION | OUT}}; \
    template <class T>                                                                                   \
    static T apply(T x, T y) {                                                                           \
      return shift_##side##_(x, y);                                                                      \
    }                                                                                                    \
  };
LAMELLA_SHIFT(left, R"(self * 2 ** other, without the bits that leave.

>>> lamella.bitwise_left_shift(lamella.tensor([1, 3]), 2)
tensor([ 4, 12])
)")
LAMELLA_SHIFT(right, R"(self / 2 ** other, rounded toward minus infinity.

>>> lamella.bitwise_right_shift(lamella.tensor([8, -8]), 2)
tensor([ 2, -2])
)")
#undef LAMELLA_SHIFT

/* ---- the bits of floating numbers -------------------------------------------------------------------------------- */

struct nextafter : Pointwise<2, FLOAT> {
  static constexpr Signature signatures[] = {
      {"nextafter(Tensor self, Tensor other) -> Tensor", ALL_FORMS,
       R"(The next number that the dtype has after self in the direction of other.

>>> lamella.nextafter(lamella.tensor([1.]), lamella.tensor([2.])) > 1
tensor([True])
)"}};
  template <class T>
  static T apply(T x, T y) {
    return nextafter_(x, y);
  }
};
struct ldexp : Maths<2, ORDERED> {
  static constexpr bool wide = true;
  static constexpr Signature signatures[] = {{"ldexp.Tensor(Tensor self, Tensor other) -> Tensor", ALL_FORMS,
                                              R"(self * 2^other, also where that power alone is too large or too small.

>>> lamella.ldexp(lamella.tensor([1., 3.]), lamella.tensor([3, -1]))
tensor([8.0000, 1.5000])
)"}};
  template <class T>
  static T apply(T x, T y) {
    return scaled_by_(x, y);
  }
};
/* The two results of frexp. */
struct mantissa : Maths<1, FLOAT> {
  static constexpr bool wide = true;
  static constexpr Signature signatures[] = {
      {"_mantissa(Tensor self) -> Tensor", PRIVATE, "The mantissa that frexp returns."}};
  template <class T>
  static T apply(T x) {
    return mantissa_(x);
  }
};
struct exponent : Maths<1, FLOAT> {
  static constexpr bool wide = true;
  static constexpr Signature signatures[] = {
      {"_exponent(Tensor self) -> Tensor", PRIVATE, "The exponent that frexp returns, as a floating number."}};
  template <class T>
  static T apply(T x) {
    return exponent_(x);
  }
};

using signs = Family<nextafter, ldexp, mantissa, exponent, neg, abs, sign, sgn, copysign, heaviside, ceil, floor, round,
                     trunc, frac, bitwise_and, bitwise_or, bitwise_xor, bitwise_not, shift_left, shift_right>;

}  // namespace
}  // namespace lamella::pointwise
#endif
