// The arguments of the kernels of Fourier transforms.
#pragma once
#include <cstdint>

namespace cuda {

constexpr int mirror_dims = 16;

// The elements of a transform of real signals that are conjugates of others. A place has an index for each dimension,
// of which the last one given varies fastest. With index j the element lies at j * step, and its source: at
// j * step if the dimension is not transformed, else at (size - j) % size * step. The dimension `half` has only the
// indices of the missing elements: the element lies at (first + j) * step, its source at (size - j) * step.
struct Mirror {
  int32_t dims, half;
  uint32_t transformed;  // a bit for each dimension
  int64_t count, first;
  int64_t sizes[mirror_dims], steps[mirror_dims];
};

}  // namespace cuda
