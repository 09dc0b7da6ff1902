// The arguments of kernels of quantization.
#pragma once
#include <lamella/quotient.h>

#include <cstdint>

namespace cuda {

// The scales and zero points of a tensor in row-major order: element i has number ((first + i) / inner) % count of
// each. A null `zeros` stands for zero points of 0.
struct Blocks {
  const float* scales;
  const int32_t* zeros;
  int64_t first, inner, count;
  lamella::Quotient by_inner, by_count;
  bool is_short;  // whether first + i is below 2^31 for every element
};

}  // namespace cuda
