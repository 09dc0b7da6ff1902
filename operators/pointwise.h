// Shape rules of pointwise operators with something of an operator's own.
#pragma once

#include <lamella/extension.h>

#include <vector>

#include "dispatcher/operator.h"
#include "dispatcher/pointwise.h"
#include "operators/catalogue.h"

namespace lamella::operators {

// Gives an operator of a table a shape rule in place of the common one.
void set_rule(std::vector<Declaration>* table, const char* op, Adapted<lamella_infer> rule);

// The shape rule of pointwise operators with something of the operator's own before or after it: `Before` checks the
// arguments, `After` takes them and the Output that the common rule has filled.
template <auto Before, auto After>
struct PointwiseShape {
  static constexpr bool checks = !std::is_null_pointer_v<decltype(Before)>;
  static constexpr bool changes = !std::is_null_pointer_v<decltype(After)>;
  template <auto F>
  using Rule = detail::RuleFor<detail::Constant<F>>;

  static lamella_status run(lamella_frame* f, const lamella_value* args, lamella_meta* out) {
    if constexpr (checks)
      if (lamella_status st = Rule<Before>::run(f, args, out)) return st;
    f->context = const_cast<lamella_pointwise*>(f->op->pointwise);
    if (lamella_status st = dispatcher::infer_pointwise(f, args, out)) return st;
    if constexpr (changes)
      return Rule<After>::run(f, args, out);
    else
      return LAMELLA_OK;
  }
  static lamella_status fits(const lamella_operator* op) {
    return guarded([op] {
      if constexpr (checks) detail::compare_rule<Rule<Before>>(op, true);
      if constexpr (changes) detail::compare_rule<Rule<After>>(op, true);
      return LAMELLA_OK;
    });
  }
};
template <auto Before, auto After = nullptr>
constexpr Adapted<lamella_infer> pointwise_shape = {PointwiseShape<Before, After>::run,
                                                    PointwiseShape<Before, After>::fits};

}  // namespace lamella::operators
