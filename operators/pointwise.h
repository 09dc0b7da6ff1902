// The tables of the families of pointwise operators: their functions, and templates and macros for their entries.
#pragma once

#include <lamella/extension.h>
#include <lamella/pointwise/loops.h>

#include <vector>

#include "dispatcher/operator.h"
#include "dispatcher/pointwise.h"
#include "operators/catalogue.h"

namespace lamella::operators {

// One table a family; pointwise.cpp joins them.
std::vector<Declaration> arithmetic_operators();
std::vector<Declaration> function_operators();
std::vector<Declaration> choosing_operators();
std::vector<Declaration> activation_operators();
std::vector<Declaration> backward_operators();
std::vector<Declaration> elementwise_operators();

// The descriptor of a declaration, with the loops compiled here, for the oldest instruction set.
template <class Op>
const lamella_pointwise* meaning() {
  static const std::string text = lamella::pointwise::expression<Op>();
  static const lamella_pointwise d = lamella::pointwise::describe<Op>(text.c_str());
  return &d;
}

// The shape rule of pointwise operators with something of the operator's own before or after it: `Before` checks the
// arguments, `After` takes them and the Output that the common rule has filled.
template <auto Before, auto After>
struct PointwiseShape {
  static constexpr bool checks = !std::is_null_pointer_v<decltype(Before)>;
  static constexpr bool changes = !std::is_null_pointer_v<decltype(After)>;
  template <auto F>
  using Check = detail::SignatureFor<detail::Constant<F>>;
  template <auto F>
  using Change = detail::RuleFor<detail::Constant<F>>;

  static lamella_status run(lamella_frame* f, const lamella_value* args, lamella_meta* out) {
    if constexpr (checks) {
      static_assert(Check<Before>::is_void, "a check returns nothing");
      if (lamella_status st = Check<Before>::plain()(f, args, nullptr)) return st;
    }
    f->context = const_cast<lamella_pointwise*>(f->op->pointwise);
    if (lamella_status st = dispatcher::infer_pointwise(f, args, out)) return st;
    if constexpr (changes)
      return Change<After>::run(f, args, out);
    else
      return LAMELLA_OK;
  }
  static lamella_status fits(const lamella_operator* op) {
    return guarded([op] {
      if constexpr (checks)
        detail::compare("infer", op, Check<Before>::parameters(), {detail::tensor_results, 1}, true);
      if constexpr (changes) detail::compare_rule<Change<After>>(op, true);
      return LAMELLA_OK;
    });
  }
};
template <auto Before, auto After = nullptr>
constexpr Adapted<lamella_infer> pointwise_shape = {PointwiseShape<Before, After>::run,
                                                    PointwiseShape<Before, After>::fits};

}  // namespace lamella::operators

#define BINARY(name, Op, doc)                                                                               \
  {name ".Tensor(Tensor self, Tensor other) -> Tensor",                                                     \
   "pointwise",                                                                                             \
   all_forms,                                                                                               \
   nullptr,                                                                                                 \
   nullptr,                                                                                                 \
   doc,                                                                                                     \
   meaning<p::Op>()},                                                                                       \
  {                                                                                                         \
    name ".Scalar(Tensor self, Scalar other) -> Tensor", "pointwise", all_forms, nullptr, nullptr, nullptr, \
        meaning<p::Op>()                                                                                    \
  }
#define UNARY(name, Op, doc) \
  { name "(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr, doc, meaning<p::Op>() }
#define SCALED(name, Op, doc)                                                                                      \
  {name ".Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",                                         \
   "pointwise",                                                                                                    \
   all_forms,                                                                                                      \
   nullptr,                                                                                                        \
   nullptr,                                                                                                        \
   doc,                                                                                                            \
   meaning<p::Op>()},                                                                                              \
  {                                                                                                                \
    name ".Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", "pointwise", all_forms, nullptr, nullptr, \
        nullptr, meaning<p::Op>()                                                                                  \
  }
#define COMPARE(name, Op, sign, result)                                                    \
  BINARY(name, Op,                                                                         \
         "Where self " sign                                                                \
         " other, element by element; the result is a bool tensor.\n\nBoth broadcast.\n\n" \
         ">>> lamella." name "(lamella.tensor([1, 2, 3]), 2)\ntensor([" result "])\n")
