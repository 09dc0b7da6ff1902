/* Pointwise arithmetic: sums, products, quotients. */
#ifndef LAMELLA_POINTWISE_ARITHMETIC_H
#define LAMELLA_POINTWISE_ARITHMETIC_H

#include <lamella/pointwise/base.h>

namespace lamella::pointwise {
namespace {

/* ---- sums and products ------------------------------------------------------------------------------------------ */

struct add : Pointwise<2, ANY, 1> {
  static constexpr Signature signatures[] = {
      {"add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", ALL_FORMS,
       R"(self + alpha * other, element by element.

Shapes broadcast and dtypes promote together; `other` may be a number.

Raises:
    RuntimeError: the shapes do not broadcast, the devices differ, or alpha does not fit the dtype

>>> lamella.add(lamella.tensor([1., 2.]), 3)
tensor([4., 5.])
)"},
      {"add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", ALL_FORMS}};
  static constexpr bool signless = true;
  template <class T>
  static T apply(T x, T y, T alpha) {
    return static_cast<T>(x + alpha * y);
  }
};

struct sub : Pointwise<2, INT | FLOAT | COMPLEX, 1> {
  static constexpr Signature signatures[] = {
      {"sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", ALL_FORMS,
       R"(self - alpha * other, element by element.

>>> lamella.sub(lamella.tensor([5, 7]), lamella.tensor([1, 2]), alpha=2)
tensor([3, 3])
)",
       "subtract"},
      {"sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", ALL_FORMS}};
  static constexpr bool signless = true;
  template <class T>
  static T apply(T x, T y, T alpha) {
    return static_cast<T>(x - alpha * y);
  }
};

struct rsub : Pointwise<2, INT | FLOAT | COMPLEX, 1> {
  static constexpr Signature signatures[] = {
      {"rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", ALL_FORMS,
       R"(other - alpha * self, element by element.

>>> lamella.rsub(lamella.tensor([1, 2]), 10)
tensor([9, 8])
)"},
      {"rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", ALL_FORMS}};
  static constexpr bool signless = true;
  template <class T>
  static T apply(T x, T y, T alpha) {
    return static_cast<T>(y - alpha * x);
  }
};

struct mul : Pointwise<2, ANY> {
  static constexpr Signature signatures[] = {{"mul.Tensor(Tensor self, Tensor other) -> Tensor", ALL_FORMS,
                                              R"(self * other, element by element.

>>> lamella.mul(lamella.tensor([1., 2.]), lamella.tensor([3., 4.]))
tensor([3., 8.])
)",
                                              "multiply"},
                                             {"mul.Scalar(Tensor self, Scalar other) -> Tensor", ALL_FORMS}};
  static constexpr bool signless = true;
  template <class T>
  static T apply(T x, T y) {
    return static_cast<T>(x * y);
  }
};

struct addcmul : Pointwise<3, INT | FLOAT | COMPLEX, 1> {
  static constexpr Signature signatures[] = {
      {"addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", ALL_FORMS,
       R"(self + value * tensor1 * tensor2, element by element.

>>> lamella.addcmul(lamella.tensor([1., 2.]), lamella.tensor([3., 4.]), lamella.tensor([5., 6.]), value=2)
tensor([31., 50.])
)"}};
  static constexpr bool signless = true;
  template <class T>
  static T apply(T x, T y, T z, T value) {
    return static_cast<T>(x + value * y * z);
  }
};

struct addcdiv : Pointwise<3, FLOAT | COMPLEX, 1> {
  static constexpr Signature signatures[] = {
      {"addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", ALL_FORMS,
       R"(self + value * tensor1 / tensor2, element by element, of floating tensors.

>>> lamella.addcdiv(lamella.tensor([1., 2.]), lamella.tensor([3., 4.]), lamella.tensor([2., 8.]), value=2)
tensor([4., 3.])
)"}};
  template <class T>
  static T apply(T x, T y, T z, T value) {
    return x + value * y / z;
  }
};

/* Computed from the nearer end, so that it is exact at both. */
struct lerp : Pointwise<3, FLOAT | COMPLEX> {
  static constexpr Signature signatures[] = {{"lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
                                              ALL_FORMS,
                                              R"(Between self and end: self + weight * (end - self), exact at both ends.

>>> lamella.lerp(lamella.tensor([0., 10.]), lamella.tensor([4., 20.]), 0.25)
tensor([ 1.0000, 12.5000])
)"}};
  static constexpr bool complex_maths = true;
  template <class T>
  static T apply(T x, T y, T w) {
    const T near = x + w * (y - x), far = y - (y - x) * (number<T>(1) - w);
    if constexpr (is_complex<T>)
      return where(modulus(w) < number<typename T::part>(0.5), near, far);
    else
      return where(abs_(w) < number<T>(0.5), near, far);
  }
};
struct lerp_scalar : Pointwise<2, FLOAT | COMPLEX, 1> {
  static constexpr Signature signatures[] = {
      {"lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor", ALL_FORMS}};
  static constexpr bool complex_maths = true;
  template <class T>
  static T apply(T x, T y, T w) {
    return lerp::apply(x, y, w);
  }
};

struct square : Pointwise<1, ANY> {
  static constexpr Signature signatures[] = {{"square(Tensor self) -> Tensor", ALL_FORMS,
                                              R"(The square of each element.

>>> lamella.square(lamella.tensor([1, -2, 3]))
tensor([1, 4, 9])
)"}};
  static constexpr bool signless = true;
  template <class T>
  static T apply(T x) {
    return static_cast<T>(x * x);
  }
};

struct deg2rad : Pointwise<1, BOOL | INT | FLOAT> {
  static constexpr Signature signatures[] = {{"deg2rad(Tensor self) -> Tensor", ALL_FORMS,
                                              R"(Degrees in radians.

>>> lamella.deg2rad(lamella.tensor([180., 90.]))
tensor([3.1416, 1.5708])
)"}};
  static constexpr int compute = LAMELLA_COMPUTE_FLOAT;
  template <class T>
  static T apply(T x) {
    return x * number<T>(0.017453292519943295);
  }
};
struct rad2deg : Pointwise<1, BOOL | INT | FLOAT> {
  static constexpr Signature signatures[] = {{"rad2deg(Tensor self) -> Tensor", ALL_FORMS,
                                              R"(Radians in degrees.

>>> lamella.rad2deg(lamella.tensor([0., 1.]))
tensor([ 0.0000, 57.2958])
)"}};
  static constexpr int compute = LAMELLA_COMPUTE_FLOAT;
  template <class T>
  static T apply(T x) {
    return x * number<T>(57.29577951308232);
  }
};

/* ---- quotients -------------------------------------------------------------------------------------------------- */

struct div : Pointwise<2, ANY> {
  static constexpr Signature signatures[] = {
      {"div.Tensor(Tensor self, Tensor other) -> Tensor", ALL_FORMS,
       R"(self / other, element by element; integers give the default float dtype.

Args:
    rounding_mode: None, 'trunc' (toward zero) or 'floor'; with these two integers stay integers

Raises:
    RuntimeError: an integer division by zero, or an unknown rounding mode

>>> lamella.div(lamella.tensor([7, -7]), 2)
tensor([ 3.5000, -3.5000])
>>> lamella.div(lamella.tensor([7, -7]), 2, rounding_mode='floor')
tensor([ 3, -4])
)",
       "divide true_divide"},
      {"div.Scalar(Tensor self, Scalar other) -> Tensor", ALL_FORMS},
      {"div.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", FUNCTION}};
  static constexpr int compute = LAMELLA_COMPUTE_FLOAT;
  template <class T>
  static T apply(T x, T y) {
    return x / y;
  }
};

struct reciprocal : Pointwise<1, ANY> {
  static constexpr Signature signatures[] = {{"reciprocal(Tensor self) -> Tensor", ALL_FORMS,
                                              R"(1 / self, element by element; integers give the default float dtype.

>>> lamella.reciprocal(lamella.tensor([1., 2., 4.]))
tensor([1.0000, 0.5000, 0.2500])
)"}};
  static constexpr int compute = LAMELLA_COMPUTE_FLOAT;
  template <class T>
  static T apply(T x) {
    return number<T>(1) / x;
  }
};

/* Integers cannot be divided by zero. */
template <int Accepts>
struct Division : Pointwise<2, Accepts> {
  static constexpr const char* fault_message = "integer division by zero";
  template <class T>
  static auto fault(T, T y) {
    return y == number<T>(0);
  }
};

struct trunc_divide : Division<REAL> {
  static constexpr Signature signatures[] = {
      {"_trunc_divide.Tensor(Tensor self, Tensor other) -> Tensor", PRIVATE | INPLACE | OUT,
       "The quotient rounded toward zero."},
      {"_trunc_divide.Scalar(Tensor self, Scalar other) -> Tensor", PRIVATE | INPLACE | OUT}};
  template <class T>
  static T apply(T x, T y) {
    if constexpr (is_floating<T>)
      return trunc_(x / y);
    else
      return quotient_(x, y);
  }
};

struct floor_divide : Division<REAL> {
  static constexpr Signature signatures[] = {
      {"floor_divide(Tensor self, Tensor other) -> Tensor", ALL_FORMS,
       R"(The quotient rounded toward minus infinity, element by element.

>>> lamella.floor_divide(lamella.tensor([7, -7]), 2)
tensor([ 3, -4])
)"},
      {"floor_divide.Scalar(Tensor self, Scalar other) -> Tensor", ALL_FORMS},
      {"floor_divide.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", FUNCTION}};
  template <class T>
  static T apply(T x, T y) {
    return floor_quotient_(x, y);
  }
};

/* C's remainder: the sign is the dividend's. */
struct fmod : Division<REAL> {
  static constexpr Signature signatures[] = {
      {"fmod.Tensor(Tensor self, Tensor other) -> Tensor", ALL_FORMS,
       R"(The rest of the division rounded toward zero, with the sign of the dividend.

Raises:
    RuntimeError: an integer division by zero

>>> lamella.fmod(lamella.tensor([7, -7]), 4)
tensor([ 3, -3])
)"},
      {"fmod.Scalar(Tensor self, Scalar other) -> Tensor", ALL_FORMS}};
  template <class T>
  static T apply(T x, T y) {
    return fmod_(x, y);
  }
};

/* Python's remainder: the sign is the divisor's. */
struct remainder : Division<REAL> {
  static constexpr Signature signatures[] = {
      {"remainder.Tensor(Tensor self, Tensor other) -> Tensor", ALL_FORMS,
       R"(The rest of the division rounded toward minus infinity, with the sign of the divisor, as Python's %.

Raises:
    RuntimeError: an integer division by zero

>>> lamella.remainder(lamella.tensor([7, -7]), 4)
tensor([3, 1])
)"},
      {"remainder.Scalar(Tensor self, Scalar other) -> Tensor", ALL_FORMS},
      {"remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", FUNCTION | OUT}};
  template <class T>
  static T apply(T x, T y) {
    const T m = fmod_(x, y), zero = number<T>(0);
    return where(m != zero && (m < zero) != (y < zero), static_cast<T>(m + y), m);
  }
};

/* ---- divisors ---------------------------------------------------------------------------------------------------- */

struct gcd : Pointwise<2, INT> {
  static constexpr Signature signatures[] = {{"gcd(Tensor self, Tensor other) -> Tensor", ALL_FORMS,
                                              R"(The greatest common divisor of integers, at least 0; of two zeros 0.

>>> lamella.gcd(lamella.tensor([12, -9]), lamella.tensor([18, 6]))
tensor([6, 3])
)"}};
  template <class T>
  static T apply(T x, T y) {
    return gcd_(x, y);
  }
};
struct lcm : Pointwise<2, INT> {
  static constexpr Signature signatures[] = {
      {"lcm(Tensor self, Tensor other) -> Tensor", ALL_FORMS,
       R"(The least common multiple of the absolute values of integers, which wraps; 0 if one is 0.

>>> lamella.lcm(lamella.tensor([4, -9]), lamella.tensor([6, 6]))
tensor([12, 18])
)"}};
  template <class T>
  static T apply(T x, T y) {
    return lcm_(x, y);
  }
};

using arithmetic = Family<gcd, lcm, add, sub, rsub, mul, addcmul, addcdiv, lerp, lerp_scalar, square, deg2rad, rad2deg,
                          div, reciprocal, trunc_divide, floor_divide, fmod, remainder>;

}  // namespace
}  // namespace lamella::pointwise
#endif
