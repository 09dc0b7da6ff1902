// The places of elements that are not zero, for kernels that read masks.
#pragma once

#include "operands.h"

namespace cuda {
// As an int64 tensor (count, dimensions), which is made: the host waits for the count.
Tensor nonzero_of(const Tensor& self);
}  // namespace cuda
