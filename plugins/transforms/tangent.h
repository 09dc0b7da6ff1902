// Tangent rules: how the tangents of an operator's results come from those of its arguments.
#pragma once

#include <lamella/tensor.h>

#include <string>
#include <vector>

namespace lamella::transforms {

// The ways to a tangent.
enum class By : uint8_t {
  derivative,  // from the operator's derivative, which is its transpose
  linear,      // the operator itself, of the tangents
  each,        // the operator itself, with one factor's tangent at a time; the sum of these
  primal,      // there is none: the results are no functions of the arguments' values, or only of the primals
  constant,    // the tensor that is written gets a tangent of zeros
  function,    // a function
};

struct Tangent {
  By by = By::derivative;
  std::vector<int> of;      // the arguments in which the operator is linear, or its factors
  std::vector<int> others;  // for `each`: arguments that are added; for `linear`: those whose values do not matter
  int zero = -1;            // for `linear`: a number that is 0 in the tangent
  Tensor (*function)(const lamella_value* args, const Tensor& tangent, const std::vector<Tensor>& results) = nullptr;
};

// Returns the rule of an operator's functional form, or of a form that has none.
Tangent tangent_rule(const lamella_operator* op);
// Returns its text; "derivative" if the table has none.
std::string tangent_text(const lamella_operator* op);

}  // namespace lamella::transforms
