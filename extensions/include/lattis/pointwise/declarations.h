/* Pointwise operators, declared once, by meaning. The catalogue registers from here (schema and documentation
 * stand in dispatcher/operators/pointwise.cpp); a backend may instantiate the same declarations for its own loops.
 *
 * A declaration is a struct: how many inputs and scalar parameters, which dtype classes it accepts, which dtype it
 * computes in and returns, and `apply`, its meaning over scalars. Optional: `maths` (it calls functions that have
 * vector forms, see loops.h), `fault` (an element-wise condition that is an error) with `fault_message`. */
#ifndef LATTIS_POINTWISE_DECLARATIONS_H
#define LATTIS_POINTWISE_DECLARATIONS_H

#include <lattis/c_api.h>
#include <lattis/pointwise/vocabulary.h>

namespace lattis::pointwise {
namespace {

constexpr int BOOL = LATTIS_CLASS_BOOL, INT = LATTIS_CLASS_INTEGRAL, FLOAT = LATTIS_CLASS_FLOATING, COMPLEX = LATTIS_CLASS_COMPLEX;
constexpr int REAL = INT | FLOAT, ANY = BOOL | INT | FLOAT | COMPLEX, ORDERED = BOOL | INT | FLOAT;

template <int Inputs, int Accepts, int Params = 0>
struct Pointwise {
  static constexpr int inputs = Inputs, accepts = Accepts, params = Params;
  static constexpr int compute = LATTIS_COMPUTE_SAME, result = LATTIS_RESULT_SAME;
  static constexpr bool condition = false, params_promote = false, maths = false;
  static constexpr int absent[2] = {LATTIS_ABSENT_ERROR, LATTIS_ABSENT_ERROR};
  static constexpr const char* fault_message = nullptr;
};

/* Integers are computed in the default float, and the maths functions run in blocks. */
template <int Inputs>
struct Maths : Pointwise<Inputs, BOOL | INT | FLOAT | COMPLEX> {
  static constexpr int compute = LATTIS_COMPUTE_FLOAT;
  static constexpr bool maths = true;
};

template <int Accepts>
struct Comparison : Pointwise<2, Accepts> {
  static constexpr int result = LATTIS_RESULT_BOOL;
};

/* ---- arithmetic ------------------------------------------------------------------------------------------- */

struct add : Pointwise<2, ANY, 1> {
  template <class T>
  static T apply(T x, T y, T alpha) {
    return static_cast<T>(x + alpha * y);
  }
};

struct sub : Pointwise<2, INT | FLOAT | COMPLEX, 1> {
  template <class T>
  static T apply(T x, T y, T alpha) {
    return static_cast<T>(x - alpha * y);
  }
};

struct rsub : Pointwise<2, INT | FLOAT | COMPLEX, 1> {
  template <class T>
  static T apply(T x, T y, T alpha) {
    return static_cast<T>(y - alpha * x);
  }
};

struct mul : Pointwise<2, ANY> {
  template <class T>
  static T apply(T x, T y) {
    return static_cast<T>(x * y);
  }
};

struct div : Pointwise<2, ANY> {
  static constexpr int compute = LATTIS_COMPUTE_FLOAT;
  template <class T>
  static T apply(T x, T y) {
    return x / y;
  }
};

struct trunc_divide : Pointwise<2, REAL> {
  static constexpr const char* fault_message = "integer division by zero";
  template <class T>
  static bool fault(T, T y) {
    return is_integral<T> && y == T(0);
  }
  template <class T>
  static T apply(T x, T y) {
    if constexpr (is_floating<T>) return trunc_(x / y);
    else if constexpr (std::is_signed_v<T>) return y == T(0) ? T(0) : y == T(-1) ? static_cast<T>(-x) : static_cast<T>(x / y);
    else return y == T(0) ? T(0) : static_cast<T>(x / y);
  }
};

/* Rounds toward minus infinity, by Python's algorithm: exact also where x/y rounds up to an integer. */
struct floor_divide : Pointwise<2, REAL> {
  static constexpr const char* fault_message = "integer division by zero";
  template <class T>
  static bool fault(T, T y) {
    return is_integral<T> && y == T(0);
  }
  template <class T>
  static T apply(T x, T y) {
    if constexpr (std::is_same_v<T, Symbol>) {
      return floor_(x / y);
    } else if constexpr (is_floating<T>) {
      if (y == T(0)) return x / y;
      T m = std::fmod(x, y), q = (x - m) / y;
      if (m != T(0) && (m < T(0)) != (y < T(0))) q -= T(1);
      if (q == T(0)) return std::copysign(T(0), x / y);
      T f = std::floor(q);
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

struct neg : Pointwise<1, INT | FLOAT | COMPLEX> {
  template <class T>
  static T apply(T x) {
    return static_cast<T>(-x);
  }
};

struct abs : Pointwise<1, BOOL | INT | FLOAT> {
  template <class T>
  static T apply(T x) {
    if constexpr (is_floating<T>) return abs_(x);
    else if constexpr (std::is_unsigned_v<T>) return x;
    else return static_cast<T>(x < 0 ? -x : x);
  }
};

struct pow : Pointwise<2, INT | FLOAT | COMPLEX | BOOL> {
  static constexpr bool maths = true;
  template <class T>
  static T apply(T x, T y) {
    if constexpr (is_floating<T>) return pow_(x, y);
    else if constexpr (is_bool<T>) return x || !y;
    else return ipow(x, y);
  }
};

/* ---- functions -------------------------------------------------------------------------------------------------- */

struct exp : Maths<1> {
  template <class T>
  static T apply(T x) {
    return exp_(x);
  }
};
struct log : Maths<1> {
  template <class T>
  static T apply(T x) {
    return log_(x);
  }
};
struct sin : Maths<1> {
  template <class T>
  static T apply(T x) {
    return sin_(x);
  }
};
struct cos : Maths<1> {
  template <class T>
  static T apply(T x) {
    return cos_(x);
  }
};
struct tanh : Maths<1> {
  template <class T>
  static T apply(T x) {
    return tanh_(x);
  }
};
struct sqrt : Maths<1> {
  static constexpr bool maths = false;  // an instruction
  template <class T>
  static T apply(T x) {
    return sqrt_(x);
  }
};

/* NaN stays NaN. */
struct relu : Pointwise<1, REAL> {
  template <class T>
  static T apply(T x) {
    return where(x < number<T>(0), number<T>(0), x);
  }
};

/* ---- choosing ------------------------------------------------------------------------------------------------------ */

struct where_ : Pointwise<3, ANY> {
  static constexpr bool condition = true;
  template <class C, class T>
  static T apply(C c, T x, T y) {
    return where(c, x, y);
  }
};

struct clamp : Pointwise<1, REAL, 2> {
  static constexpr bool params_promote = true;
  static constexpr int absent[2] = {LATTIS_ABSENT_LOWEST, LATTIS_ABSENT_HIGHEST};
  template <class T>
  static T apply(T x, T low, T high) {
    T y = where(x < low, low, x);
    return where(y > high, high, y);
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

/* ---- comparisons and logic ------------------------------------------------------------------------------------------- */

#define LATTIS_COMPARISON(name, accepts, op)  \
  struct name : Comparison<accepts> {         \
    template <class T>                        \
    static auto apply(T x, T y) {             \
      return x op y;                          \
    }                                         \
  };
LATTIS_COMPARISON(eq, ANY, ==)
LATTIS_COMPARISON(ne, ANY, !=)
LATTIS_COMPARISON(lt, ORDERED, <)
LATTIS_COMPARISON(le, ORDERED, <=)
LATTIS_COMPARISON(gt, ORDERED, >)
LATTIS_COMPARISON(ge, ORDERED, >=)
#undef LATTIS_COMPARISON

struct logical_and : Comparison<ANY> {
  template <class T>
  static auto apply(T x, T y) {
    return (x != number<T>(0)) && (y != number<T>(0));
  }
};
struct logical_or : Comparison<ANY> {
  template <class T>
  static auto apply(T x, T y) {
    return (x != number<T>(0)) || (y != number<T>(0));
  }
};
struct logical_xor : Comparison<ANY> {
  template <class T>
  static auto apply(T x, T y) {
    return (x != number<T>(0)) != (y != number<T>(0));
  }
};
struct logical_not : Pointwise<1, ANY> {
  static constexpr int result = LATTIS_RESULT_BOOL;
  template <class T>
  static auto apply(T x) {
    return x == number<T>(0);
  }
};

}  // namespace
}  // namespace lattis::pointwise

/* Every declaration, for whoever instantiates them all: X(struct, name of the operator). */
#define LATTIS_POINTWISE_DECLARATIONS(X)                                                                            \
  X(add, "add") X(sub, "sub") X(rsub, "rsub") X(mul, "mul") X(div, "div") X(trunc_divide, "_trunc_divide")          \
  X(floor_divide, "floor_divide") X(neg, "neg") X(abs, "abs") X(pow, "pow") X(exp, "exp") X(log, "log")             \
  X(sin, "sin") X(cos, "cos") X(tanh, "tanh") X(sqrt, "sqrt") X(relu, "relu") X(where_, "where") X(clamp, "clamp")  \
  X(maximum, "maximum") X(minimum, "minimum") X(eq, "eq") X(ne, "ne") X(lt, "lt") X(le, "le") X(gt, "gt")           \
  X(ge, "ge") X(logical_and, "logical_and") X(logical_or, "logical_or") X(logical_xor, "logical_xor")               \
  X(logical_not, "logical_not")

#endif
