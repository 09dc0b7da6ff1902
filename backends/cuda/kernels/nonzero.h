// The arguments of nonzero's kernels.
#pragma once
#include <cstdint>

namespace cuda {

constexpr int nonzero_each = 8, nonzero_tile = 256 * nonzero_each;  // elements of a thread and of a block

struct NonzeroShape {
  int32_t ndim;
  int64_t sizes[64];
};

}  // namespace cuda
