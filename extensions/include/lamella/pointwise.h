/* A pointwise operator out of one declaration, for packages of your own:
 *
 *   #include <lamella/pointwise.h>
 *   using namespace lamella::pointwise;
 *
 *   struct softsign : Pointwise<1, FLOAT> {
 *     static constexpr Signature signatures[] = {{"softsign(Tensor self) -> Tensor", ALL_FORMS, "x / (1 + |x|)."}};
 *     template <class T>
 *     static T apply(T x) {
 *       return x / (number<T>(1) + abs_(x));
 *     }
 *   };
 *
 *   LAMELLA_LIBRARY(mine, m) { lamella::define_pointwise<softsign>(m); }
 *
 * The declaration's parts are described in <lamella/pointwise/declarations.h>, the words that `apply` may use in
 * <lamella/pointwise/vocabulary.h>. Compile with -O3, and g++ with -fopenmp-simd, too: these options
 * make vector loops. */
#ifndef LAMELLA_POINTWISE_H
#define LAMELLA_POINTWISE_H

#include <lamella/library.h>
#include <lamella/pointwise/loops.h>

namespace lamella {
namespace { /* the loops belong to the library that declares them */

/* Defines the operator with the given forms: by default functional, in-place and out=. It works on every device. */
template <class Op>
Library& define_pointwise(Library& m, const char* schema, const char* doc = nullptr,
                          uint32_t forms = LAMELLA_FORM_FUNCTION | LAMELLA_FORM_INPLACE | LAMELLA_FORM_OUT,
                          const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                          const char* aliases = nullptr) {
  static const pointwise::Expressions texts = pointwise::expressions<Op>();
  static const lamella_pointwise meaning = pointwise::describe<Op>(&texts);
  lamella_operator_def d{};
  d.size = sizeof d;
  d.schema = schema;
  d.category = "pointwise";
  d.doc = doc;
  d.forms = forms;
  d.pointwise = &meaning;
  d.file = file;
  d.line = line;
  d.aliases = aliases;
  return m.define(d);
}
/* Defines the operators that the declaration lists in its `signatures`. */
template <class Op>
Library& define_pointwise(Library& m) {
  for (const pointwise::Signature& s : Op::signatures)
    define_pointwise<Op>(m, s.schema, s.doc, s.forms, s.file, s.line, s.aliases);
  return m;
}

}  // namespace
}  // namespace lamella
#endif
