// Reductions for other kernels of this folder.
#pragma once

#include <lattis/extension.h>

namespace lattis::cpu {

// The mean and the variance (of n elements, divided by n) over the dimensions in the bit set, into contiguous float64.
lattis_status moments_over(lattis_frame* f, const lattis_tensor* in, uint64_t dims, lattis_tensor* variance,
                           lattis_tensor* mean);

}  // namespace lattis::cpu
