// The derivatives of the catalogue, a table for each family. The notation is that of <lamella/autograd.h>; a line may
// name several operators with the same arguments.
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
