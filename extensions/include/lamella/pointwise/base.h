/* Base classes for the declarations of pointwise operators; declarations.h says what the members mean. */
#ifndef LAMELLA_POINTWISE_BASE_H
#define LAMELLA_POINTWISE_BASE_H

#include <lamella/c_api.h>
#include <lamella/pointwise/vocabulary.h>

#include <initializer_list>

namespace lamella::pointwise {
namespace {

constexpr int BOOL = LAMELLA_CLASS_BOOL, INT = LAMELLA_CLASS_INTEGRAL, FLOAT = LAMELLA_CLASS_FLOATING,
              COMPLEX = LAMELLA_CLASS_COMPLEX;
constexpr int REAL = INT | FLOAT, ANY = BOOL | INT | FLOAT | COMPLEX, ORDERED = BOOL | INT | FLOAT;

/* x within a limit. NaN stays NaN, and a limit of NaN gives NaN; of two zeros x stays. */
template <class T>
inline T at_least(T x, T low) {
  return where(x < low || low != low, low, x);
}
template <class T>
inline T at_most(T x, T high) {
  return where(x > high || high != high, high, x);
}

/* One of the operators that a declaration defines. */
struct Signature {
  const char* schema;  /* "mul.Tensor(Tensor self, Tensor other) -> Tensor" */
  uint32_t forms;      /* enum lamella_forms */
  const char* doc;     /* of the first overload */
  const char* aliases; /* further names, separated by spaces; they hold for later overloads, too */
  int line;
  const char* file;

  constexpr Signature(const char* schema, uint32_t forms, const char* doc = nullptr, const char* aliases = nullptr,
                      int line = __builtin_LINE(), const char* file = __builtin_FILE())
      : schema(schema), forms(forms), doc(doc), aliases(aliases), line(line), file(file) {}
};
constexpr uint32_t FUNCTION = LAMELLA_FORM_FUNCTION, METHOD = LAMELLA_FORM_METHOD, INPLACE = LAMELLA_FORM_INPLACE,
                   OUT = LAMELLA_FORM_OUT, PRIVATE = LAMELLA_FORM_PRIVATE;
constexpr uint32_t EVERYWHERE = FUNCTION | METHOD, ALL_FORMS = EVERYWHERE | INPLACE | OUT;

/* The declarations of a file. A function template with a parameter Family<Ops...> can instantiate them all. */
template <class... Ops>
struct Family {};

template <int Inputs, int Accepts, int Params = 0>
struct Pointwise {
  static constexpr int inputs = Inputs, accepts = Accepts, params = Params;
  static constexpr int compute = LAMELLA_COMPUTE_SAME, result = LAMELLA_RESULT_SAME;
  static constexpr bool condition = false, params_promote = false, maths = false;
  static constexpr bool complex_maths = false; /* `apply` calls functions with vector forms for complex numbers, too */
  /* Elements are moved, not computed: loops over unsigned integers serve all dtypes of up to 8 bytes. */
  static constexpr bool moves = false;
  static constexpr bool signless = false; /* signed and unsigned give the same bits: the signed loops serve both */
  static constexpr int absent[3] = {LAMELLA_ABSENT_ERROR, LAMELLA_ABSENT_ERROR, LAMELLA_ABSENT_ERROR};
  static constexpr bool wide = false; /* float32 is computed in float64, by its loops */
  /* Instead of `apply`, loops call `lanes(o, x, y)` for LAMELLA_LANES elements side by side; `wide` holds, too. */
  static constexpr bool iterates = false;
  static constexpr const char* fault_message = nullptr;
  static constexpr std::initializer_list<Signature> signatures = {}; /* empty: only backends use the declaration */
};

/* Integers are computed in the default float, and the maths functions run in blocks. */
template <int Inputs, int Accepts = ANY, int Params = 0>
struct Maths : Pointwise<Inputs, Accepts, Params> {
  static constexpr int compute = LAMELLA_COMPUTE_FLOAT;
  static constexpr bool maths = true;
};

/* A property of each element: the result is a bool. */
template <int Inputs, int Accepts>
struct Predicate : Pointwise<Inputs, Accepts> {
  static constexpr int result = LAMELLA_RESULT_BOOL;
};

}  // namespace
}  // namespace lamella::pointwise
#endif
