// A check that the ordering operators share.
#pragma once

#include "operators/shapes.h"

namespace lamella::operators {

// Raises for complex numbers, which have no order.
void check_ordered(const char* name, const Tensor& t);
// Describes the value and the index of one element along a dimension, which is counted from the front.
void set_picked(const Tensor& self, int64_t dim, bool keepdim, Output& values, Output& indices);

}  // namespace lamella::operators
