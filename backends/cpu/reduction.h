// Reductions: a fold over some of a tensor's dimensions, for the kernels of this folder.
#pragma once

#include <lamella/values.h>

#include "backends/cpu/folds.h"

namespace lamella::cpu {

// A set of dimensions has one bit for each. An argument that is absent or empty stands for all dimensions.
uint64_t all_dims(const lamella_tensor* t);
uint64_t dim_set(const OptionalIntArrayRef& dim, const lamella_tensor* t);

// Folds `in`, read as dtype `as`, whose elements have the size of those of `fold.source`, over the dimensions in the
// bit set; the results go to `out` and, unless that is null, `second`. A fold of truth values may stop for an output as
// soon as the accumulator's byte is `settled`; -1: never.
lamella_status reduce_over(lamella_frame* f, const Fold& fold, int as, double param, const lamella_tensor* in,
                           uint64_t dims, bool keepdim, const lamella_tensor* out, const lamella_tensor* second,
                           int settled = -1);

// Computes the mean and the variance (of n elements, divided by n) over the dimensions in the bit set, into contiguous
// float64.
lamella_status moments_over(lamella_frame* f, const lamella_tensor* in, uint64_t dims, lamella_tensor* variance,
                            lamella_tensor* mean);

}  // namespace lamella::cpu
