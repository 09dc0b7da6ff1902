// Line and add_derivatives(): a file of derivatives has a table of Lines for each family of operators, and a block that
// adds the tables. The notation is that of <lamella/autograd.h>; a Line may name several operators with the same
// arguments.
#pragma once

#include <lamella/extension.h>

#include <span>

namespace lamella::autograd {

struct Line {
  const char* operators;  // "mul.Tensor, multiply.Tensor", of namespace aten unless a name has its own
  const char* formulas;   // "none": no argument gets a gradient
};

void add_derivatives(Library& m, std::span<const Line> lines);

}  // namespace lamella::autograd
