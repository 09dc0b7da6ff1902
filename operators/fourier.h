// The scales and the complex dtypes that the operators of Fourier transforms share.
#pragma once

#include "operators/shapes.h"

namespace lamella::operators {

enum Normalization : int64_t { unscaled = 0, by_root = 1, by_length = 2 };

inline ScalarType complex_with(ScalarType part) { return part == kDouble ? kComplexDouble : kComplexFloat; }

}  // namespace lamella::operators
