/* What every declaration of a pointwise operator is made of; declarations.h says what the members mean. */
#ifndef LATTIS_POINTWISE_BASE_H
#define LATTIS_POINTWISE_BASE_H

#include <lattis/c_api.h>
#include <lattis/pointwise/vocabulary.h>

namespace lattis::pointwise {
namespace {

constexpr int BOOL = LATTIS_CLASS_BOOL, INT = LATTIS_CLASS_INTEGRAL, FLOAT = LATTIS_CLASS_FLOATING,
              COMPLEX = LATTIS_CLASS_COMPLEX;
constexpr int REAL = INT | FLOAT, ANY = BOOL | INT | FLOAT | COMPLEX, ORDERED = BOOL | INT | FLOAT;

template <int Inputs, int Accepts, int Params = 0>
struct Pointwise {
  static constexpr int inputs = Inputs, accepts = Accepts, params = Params;
  static constexpr int compute = LATTIS_COMPUTE_SAME, result = LATTIS_RESULT_SAME;
  static constexpr bool condition = false, params_promote = false, maths = false;
  static constexpr bool complex_maths = false; /* of complex numbers too it calls functions that have vector forms */
  static constexpr bool moves = false;         /* elements are moved, not computed: unsigned integers stand for all */
  static constexpr bool signless = false; /* the bits do not depend on the sign: unsigned integers share the loops */
  static constexpr int absent[3] = {LATTIS_ABSENT_ERROR, LATTIS_ABSENT_ERROR, LATTIS_ABSENT_ERROR};
  static constexpr const char* fault_message = nullptr;
};

/* Integers are computed in the default float, and the maths functions run in blocks. */
template <int Inputs, int Accepts = ANY, int Params = 0>
struct Maths : Pointwise<Inputs, Accepts, Params> {
  static constexpr int compute = LATTIS_COMPUTE_FLOAT;
  static constexpr bool maths = true;
};

/* A question about each element: the answer is a bool. */
template <int Inputs, int Accepts>
struct Predicate : Pointwise<Inputs, Accepts> {
  static constexpr int result = LATTIS_RESULT_BOOL;
};

}  // namespace
}  // namespace lattis::pointwise
#endif
