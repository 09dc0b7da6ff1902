// How a file of derivatives gives them: a table for each family, and a block that adds the tables. The notation is that
// of <lamella/autograd.h>; a line may name several operators with the same arguments.
#pragma once

#include <lamella/extension.h>

#include <span>

namespace lamella::autograd {

struct Line {
  const char* operators;  // "mul.Tensor, multiply.Tensor"; of the catalogue, unless a namespace stands before the name
  const char* formulas;   // "none": nothing depends smoothly on the arguments
};

void add_derivatives(Library& m, std::span<const Line> lines);

}  // namespace lamella::autograd
