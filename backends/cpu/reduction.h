// Reductions: a fold over some of a tensor's dimensions. For the kernels of this folder.
#pragma once

#include <lattis/library.h>

#include "backends/cpu/folds.h"

namespace lattis::cpu {

// A set of dimensions is one bit each. An argument that is absent or empty names all.
uint64_t all_dims(const lattis_tensor* t);
uint64_t dim_set(const lattis_value& v, const lattis_tensor* t);

// Folds `in`, read as dtype `as` (which has the bytes of the fold's source), over the dimensions in the bit set; the
// results go to `out` and, if that is wanted, `second`. Where the fold tells truth values, an output is settled once an
// accumulator's byte is `settled`.
lattis_status reduce_over(lattis_frame* f, const Fold& fold, int as, double param, const lattis_tensor* in,
                          uint64_t dims, bool keepdim, const lattis_tensor* out, const lattis_tensor* second,
                          int settled = -1);

// The mean and the variance (of n elements, divided by n) over the dimensions in the bit set, into contiguous float64.
lattis_status moments_over(lattis_frame* f, const lattis_tensor* in, uint64_t dims, lattis_tensor* variance,
                           lattis_tensor* mean);

}  // namespace lattis::cpu
