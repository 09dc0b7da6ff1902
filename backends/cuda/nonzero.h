// The places of elements that are not zero, for kernels that read masks.
#pragma once

#include "operands.h"

namespace cuda {
// Returns the places as a new int64 tensor (count, dimensions). The host waits for the count.
Tensor nonzero_of(const Tensor& self);
}  // namespace cuda
