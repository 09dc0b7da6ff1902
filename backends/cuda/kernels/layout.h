// Layout: the places of the elements of several operands that are walked in one order.
#pragma once
#include <lamella/quotient.h>

namespace cuda {

constexpr int layout_dims = 8, layout_operands = 4;

struct Layout {
  int32_t dims = 0, small = 0;                       // small: fewer than 2^31 elements
  int64_t sizes[layout_dims] = {};                   // the innermost first
  lamella::Quotient quotients[layout_dims] = {};     // for divisions by the sizes
  int64_t steps[layout_operands][layout_dims] = {};  // in bytes
};

}  // namespace cuda
