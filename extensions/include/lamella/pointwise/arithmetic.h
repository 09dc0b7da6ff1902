/* Pointwise arithmetic: sums, products, quotients, rounding, signs, bits. */
#ifndef LAMELLA_POINTWISE_ARITHMETIC_H
#define LAMELLA_POINTWISE_ARITHMETIC_H

#include <lamella/pointwise/base.h>

namespace lamella::pointwise {
namespace {

/* ---- sums and products ------------------------------------------------------------------------------------------ */

struct add : Pointwise<2, ANY, 1> {
  static constexpr bool signless = true;
  template <class T>
  static T apply(T x, T y, T alpha) {
    return static_cast<T>(x + alpha * y);
  }
};

struct sub : Pointwise<2, INT | FLOAT | COMPLEX, 1> {
  static constexpr bool signless = true;
  template <class T>
  static T apply(T x, T y, T alpha) {
    return static_cast<T>(x - alpha * y);
  }
};

struct rsub : Pointwise<2, INT | FLOAT | COMPLEX, 1> {
  static constexpr bool signless = true;
  template <class T>
  static T apply(T x, T y, T alpha) {
    return static_cast<T>(y - alpha * x);
  }
};

struct mul : Pointwise<2, ANY> {
  static constexpr bool signless = true;
  template <class T>
  static T apply(T x, T y) {
    return static_cast<T>(x * y);
  }
};

struct addcmul : Pointwise<3, INT | FLOAT | COMPLEX, 1> {
  static constexpr bool signless = true;
  template <class T>
  static T apply(T x, T y, T z, T value) {
    return static_cast<T>(x + value * y * z);
  }
};

struct addcdiv : Pointwise<3, FLOAT | COMPLEX, 1> {
  template <class T>
  static T apply(T x, T y, T z, T value) {
    return x + value * y / z;
  }
};

/* From the nearer end, so that it is exact at both. */
struct lerp : Pointwise<3, FLOAT | COMPLEX> {
  static constexpr bool complex_maths = true;
  template <class T>
  static T apply(T x, T y, T w) {
    if constexpr (is_complex<T>)
      return modulus(w) < 0.5 ? x + w * (y - x) : y - (y - x) * (T(1) - w);
    else
      return where(abs_(w) < number<T>(0.5), x + w * (y - x), y - (y - x) * (number<T>(1) - w));
  }
};
struct lerp_scalar : Pointwise<2, FLOAT | COMPLEX, 1> {
  static constexpr bool complex_maths = true;
  template <class T>
  static T apply(T x, T y, T w) {
    return lerp::apply(x, y, w);
  }
};

struct square : Pointwise<1, ANY> {
  static constexpr bool signless = true;
  template <class T>
  static T apply(T x) {
    return static_cast<T>(x * x);
  }
};

struct deg2rad : Pointwise<1, BOOL | INT | FLOAT> {
  static constexpr int compute = LAMELLA_COMPUTE_FLOAT;
  template <class T>
  static T apply(T x) {
    return x * number<T>(0.017453292519943295);
  }
};
struct rad2deg : Pointwise<1, BOOL | INT | FLOAT> {
  static constexpr int compute = LAMELLA_COMPUTE_FLOAT;
  template <class T>
  static T apply(T x) {
    return x * number<T>(57.29577951308232);
  }
};

/* ---- quotients -------------------------------------------------------------------------------------------------- */

struct div : Pointwise<2, ANY> {
  static constexpr int compute = LAMELLA_COMPUTE_FLOAT;
  template <class T>
  static T apply(T x, T y) {
    return x / y;
  }
};

struct reciprocal : Pointwise<1, ANY> {
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
  static bool fault(T, T y) {
    return is_integral<T> && y == T(0);
  }
};

struct trunc_divide : Division<REAL> {
  template <class T>
  static T apply(T x, T y) {
    if constexpr (is_floating<T>)
      return trunc_(x / y);
    else if constexpr (std::is_signed_v<T>)
      return y == T(0) ? T(0) : y == T(-1) ? static_cast<T>(-x) : static_cast<T>(x / y);
    else
      return y == T(0) ? T(0) : static_cast<T>(x / y);
  }
};

/* Rounds toward minus infinity, by Python's algorithm: exact also where x/y rounds up to an integer. */
struct floor_divide : Division<REAL> {
  template <class T>
  static T apply(T x, T y) {
    if constexpr (std::is_same_v<T, Symbol>) {
      return floor_(x / y);
    } else if constexpr (is_floating<T>) {
      if (y == T(0)) return x / y;
      T m = fmod_(x, y), q = (x - m) / y;
      if (m != T(0) && (m < T(0)) != (y < T(0))) q -= T(1);
      if (q == T(0)) return copysign_(T(0), x / y);
      T f = floor_(q);
      return q - f > T(0.5) ? f + T(1) : f;
    } else if constexpr (std::is_signed_v<T>) {
      if (y == T(0)) return T(0);
      if (y == T(-1)) return static_cast<T>(-x);
      T q = static_cast<T>(x / y);
      return static_cast<T>(q - ((x % y != 0) && ((x < 0) != (y < 0))));
    } else {
      return y == T(0) ? T(0) : static_cast<T>(x / y);
    }
  }
};

/* C's: the sign is the dividend's. */
struct fmod : Division<REAL> {
  template <class T>
  static T apply(T x, T y) {
    if constexpr (is_floating<T>)
      return fmod_(x, y);
    else if constexpr (std::is_signed_v<T>)
      return y == T(0) || y == T(-1) ? T(0) : static_cast<T>(x % y);
    else
      return y == T(0) ? T(0) : static_cast<T>(x % y);
  }
};

/* Python's: the sign is the divisor's. */
struct remainder : Division<REAL> {
  template <class T>
  static T apply(T x, T y) {
    T m = fmod::apply(x, y);
    if constexpr (std::is_same_v<T, Symbol> || is_floating<T>)
      return where(m != number<T>(0) && (m < number<T>(0)) != (y < number<T>(0)), m + y, m);
    else if constexpr (std::is_signed_v<T>)
      return m != T(0) && (m < T(0)) != (y < T(0)) ? static_cast<T>(m + y) : m;
    else
      return m;
  }
};

/* ---- signs ------------------------------------------------------------------------------------------------------ */

struct neg : Pointwise<1, INT | FLOAT | COMPLEX> {
  static constexpr bool signless = true;
  template <class T>
  static T apply(T x) {
    return static_cast<T>(-x);
  }
};

struct abs : Pointwise<1, ANY> {
  static constexpr bool complex_maths = true;
  static constexpr int result = LAMELLA_RESULT_REAL;
  template <class T>
  static auto apply(T x) {
    if constexpr (is_complex<T>)
      return modulus(x);
    else if constexpr (is_floating<T>)
      return abs_(x);
    else if constexpr (std::is_unsigned_v<T>)
      return x;
    else
      return static_cast<T>(x < 0 ? -x : x);
  }
};

/* The sign of NaN is 0. */
struct sign : Pointwise<1, ORDERED> {
  template <class T>
  static T apply(T x) {
    if constexpr (std::is_same_v<T, Symbol>)
      return where(x > number<T>(0), number<T>(1), where(x < number<T>(0), number<T>(-1), number<T>(0)));
    else if constexpr (std::is_unsigned_v<T>)
      return static_cast<T>(x != T(0));
    else
      return static_cast<T>((x > T(0)) - (x < T(0)));
  }
};

struct sgn : Pointwise<1, ANY> {
  static constexpr bool complex_maths = true;
  template <class T>
  static T apply(T x) {
    if constexpr (is_complex<T>) {
      const auto r = modulus(x);
      return r == 0 ? T(0) : T(x.re / r, x.im / r);
    } else {
      return sign::apply(x);
    }
  }
};

struct copysign : Pointwise<2, ORDERED> {
  static constexpr int compute = LAMELLA_COMPUTE_FLOAT;
  template <class T>
  static T apply(T x, T y) {
    return copysign_(x, y);
  }
};

/* 0 below 0, 1 above, and y at 0; of NaN: 0. */
struct heaviside : Pointwise<2, ORDERED> {
  template <class T>
  static T apply(T x, T y) {
    return where(x == number<T>(0), y, where(x > number<T>(0), number<T>(1), number<T>(0)));
  }
};

/* ---- rounding ---------------------------------------------------------------------------------------------------- */

#define LAMELLA_ROUNDING(name)       \
  struct name : Pointwise<1, REAL> { \
    template <class T>               \
    static T apply(T x) {            \
      if constexpr (is_floating<T>)  \
        return name##_(x);           \
      else                           \
        return x;                    \
    }                                \
  };
LAMELLA_ROUNDING(ceil)
LAMELLA_ROUNDING(floor)
LAMELLA_ROUNDING(round)
LAMELLA_ROUNDING(trunc)
#undef LAMELLA_ROUNDING

struct frac : Pointwise<1, FLOAT> {
  template <class T>
  static T apply(T x) {
    return x - trunc_(x);
  }
};

/* ---- bits ---- */

#define LAMELLA_BITWISE(name, op)          \
  struct name : Pointwise<2, BOOL | INT> { \
    static constexpr bool signless = true; \
    template <class T>                     \
    static T apply(T x, T y) {             \
      return static_cast<T>(x op y);       \
    }                                      \
  };
LAMELLA_BITWISE(bitwise_and, &)
LAMELLA_BITWISE(bitwise_or, |)
LAMELLA_BITWISE(bitwise_xor, ^)
#undef LAMELLA_BITWISE

struct bitwise_not : Pointwise<1, BOOL | INT> {
  static constexpr bool signless = true;
  template <class T>
  static T apply(T x) {
    if constexpr (is_bool<T>)
      return !x;
    else
      return static_cast<T>(~x);
  }
};

/* Shifts by a negative number, or by more bits than there are, leave zeros, or the sign. */
struct shift_left : Pointwise<2, INT> {
  template <class T>
  static T apply(T x, T y) {
    if constexpr (std::is_same_v<T, Symbol>) {
      return x << y;
    } else {
      using U = std::make_unsigned_t<T>;
      constexpr U bits = sizeof(T) * 8;
      return static_cast<U>(y) >= bits ? T(0) : static_cast<T>(static_cast<U>(x) << static_cast<U>(y));
    }
  }
};
struct shift_right : Pointwise<2, INT> {
  template <class T>
  static T apply(T x, T y) {
    if constexpr (std::is_same_v<T, Symbol>) {
      return x >> y;
    } else {
      using U = std::make_unsigned_t<T>;
      constexpr U bits = sizeof(T) * 8;
      const bool all = static_cast<U>(y) >= bits;
      if constexpr (std::is_unsigned_v<T>)
        return all ? T(0) : static_cast<T>(x >> y);
      else
        return static_cast<T>(x >> (all ? static_cast<T>(bits - 1) : y));
    }
  }
};

}  // namespace
}  // namespace lamella::pointwise

#define LAMELLA_POINTWISE_ARITHMETIC(X) \
  X(add, "add")                         \
  X(sub, "sub subtract")                \
  X(rsub, "rsub")                       \
  X(mul, "mul multiply")                \
  X(addcmul, "addcmul")                 \
  X(addcdiv, "addcdiv")                 \
  X(lerp, "lerp.Tensor")                \
  X(lerp_scalar, "lerp.Scalar")         \
  X(square, "square")                   \
  X(deg2rad, "deg2rad")                 \
  X(rad2deg, "rad2deg")                 \
  X(div, "div divide true_divide")      \
  X(reciprocal, "reciprocal")           \
  X(trunc_divide, "_trunc_divide")      \
  X(floor_divide, "floor_divide")       \
  X(fmod, "fmod")                       \
  X(remainder, "remainder")             \
  X(neg, "neg negative")                \
  X(abs, "abs absolute")                \
  X(sign, "sign")                       \
  X(sgn, "sgn")                         \
  X(copysign, "copysign")               \
  X(heaviside, "heaviside")             \
  X(ceil, "ceil")                       \
  X(floor, "floor")                     \
  X(round, "round")                     \
  X(trunc, "trunc fix")                 \
  X(frac, "frac")                       \
  X(bitwise_and, "bitwise_and")         \
  X(bitwise_or, "bitwise_or")           \
  X(bitwise_xor, "bitwise_xor")         \
  X(bitwise_not, "bitwise_not")         \
  X(shift_left, "bitwise_left_shift")   \
  X(shift_right, "bitwise_right_shift")

#endif
