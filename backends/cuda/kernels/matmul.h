// The arguments of products of matrices.
#pragma once
#include <cstdint>

namespace cuda {

// Strides in elements.
struct MatrixStrides {
  int64_t batch, row, column;
};

}  // namespace cuda
