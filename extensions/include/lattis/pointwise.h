/* A pointwise operator out of one declaration, for packages of your own:
 *
 *   #include <lattis/pointwise.h>
 *   using namespace lattis::pointwise;
 *
 *   struct softsign : Pointwise<1, FLOAT> {
 *     template <class T>
 *     static T apply(T x) {
 *       return x / (number<T>(1) + abs_(x));
 *     }
 *   };
 *
 *   LATTIS_LIBRARY(mine, m) { lattis::define_pointwise<softsign>(m, "softsign(Tensor self) -> Tensor"); }
 *
 * The declaration's parts are described in <lattis/pointwise/declarations.h>, the words that `apply` may use in
 * <lattis/pointwise/vocabulary.h>. Compile with -O3, and g++ with -fopenmp-simd: it makes the vector
 * loops. */
#ifndef LATTIS_POINTWISE_H
#define LATTIS_POINTWISE_H

#include <lattis/library.h>
#include <lattis/pointwise/loops.h>

namespace lattis {
namespace { /* the loops belong to the library that declares them */

/* Defines the operator with its functional, in-place and out= forms. It works on every device. */
template <class Op>
Library& define_pointwise(Library& m, const char* schema, const char* doc = nullptr,
                          uint32_t forms = LATTIS_FORM_FUNCTION | LATTIS_FORM_INPLACE | LATTIS_FORM_OUT,
                          const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  static const std::string text = pointwise::expression<Op>();
  static const lattis_pointwise meaning = pointwise::describe<Op>(text.c_str());
  lattis_operator_def d{};
  d.size = sizeof d;
  d.schema = schema;
  d.category = "pointwise";
  d.doc = doc;
  d.forms = forms;
  d.pointwise = &meaning;
  d.file = file;
  d.line = line;
  return m.define(d);
}

}  // namespace
}  // namespace lattis
#endif
