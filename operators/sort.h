// A check that the ordering operators share.
#pragma once

#include "operators/shapes.h"

namespace lamella::operators {

// Raises for complex numbers, which have no order.
void check_ordered(const char* name, const Tensor& t);

}  // namespace lamella::operators
