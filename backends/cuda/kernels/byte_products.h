// The arguments of kernels of byte products.
#pragma once
#include <cstdint>

namespace cuda {

// The steps from a sum of products, in row i and column j, to the result: with scales it is
// float32(sum - zero * column sum) * (row scale * scale) + bias, and without them the difference. Any pointer may be
// null. A step of 0 gives all rows or columns the same number.
struct Epilogue {
  const int32_t *zeros, *weight_sums;  // of the rows, and of the columns
  const float *row_scales, *scales, *bias;
  int64_t zero_step, row_step, scale_step;
  int32_t shift;  // is added to the zero points
};

}  // namespace cuda
