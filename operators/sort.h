// A check that the operators share which put elements in order.
#pragma once

#include "operators/shapes.h"

namespace lamella::operators {

// Complex numbers have no order.
void check_ordered(const char* name, const Tensor& t);

}  // namespace lamella::operators
