// The catalogue's derivatives: one table of formulas for each family, in the notation of <lamella/autograd.h>. A line
// may name several operators that have the same arguments.
#pragma once

#include <vector>

namespace lamella::autograd {

struct Line {
  const char* operators;  // "mul.Tensor, multiply.Tensor"
  const char* formulas;   // "none": nothing depends smoothly on the arguments
};

extern const std::vector<Line> pointwise_derivatives, activation_derivatives, view_derivatives, reduction_derivatives,
    product_derivatives, indexing_derivatives, network_derivatives, resampling_derivatives;

}  // namespace lamella::autograd
