/* Base classes for the declarations of pointwise operators; declarations.h says what the members mean. */
#ifndef LAMELLA_POINTWISE_BASE_H
#define LAMELLA_POINTWISE_BASE_H

#include <lamella/c_api.h>
#include <lamella/pointwise/vocabulary.h>

namespace lamella::pointwise {
namespace {

constexpr int BOOL = LAMELLA_CLASS_BOOL, INT = LAMELLA_CLASS_INTEGRAL, FLOAT = LAMELLA_CLASS_FLOATING,
              COMPLEX = LAMELLA_CLASS_COMPLEX;
constexpr int REAL = INT | FLOAT, ANY = BOOL | INT | FLOAT | COMPLEX, ORDERED = BOOL | INT | FLOAT;

template <int Inputs, int Accepts, int Params = 0>
struct Pointwise {
  static constexpr int inputs = Inputs, accepts = Accepts, params = Params;
  static constexpr int compute = LAMELLA_COMPUTE_SAME, result = LAMELLA_RESULT_SAME;
  static constexpr bool condition = false, params_promote = false, maths = false;
  static constexpr bool complex_maths = false; /* of complex numbers too it calls functions that have vector forms */
  static constexpr bool moves = false;         /* elements are moved, not computed: unsigned integers stand for all */
  static constexpr bool signless = false; /* the bits do not depend on the sign: unsigned integers share the loops */
  static constexpr int absent[3] = {LAMELLA_ABSENT_ERROR, LAMELLA_ABSENT_ERROR, LAMELLA_ABSENT_ERROR};
  static constexpr const char* fault_message = nullptr;
};

/* Integers are computed in the default float, and the maths functions run in blocks. */
template <int Inputs, int Accepts = ANY, int Params = 0>
struct Maths : Pointwise<Inputs, Accepts, Params> {
  static constexpr int compute = LAMELLA_COMPUTE_FLOAT;
  static constexpr bool maths = true;
};

/* A question about each element: the answer is a bool. */
template <int Inputs, int Accepts>
struct Predicate : Pointwise<Inputs, Accepts> {
  static constexpr int result = LAMELLA_RESULT_BOOL;
};

}  // namespace
}  // namespace lamella::pointwise
#endif
