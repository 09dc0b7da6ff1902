// Reductions over any dimensions: which fold, and in which types.
#pragma once

#include "layout.h"

namespace cuda {

// The dimensions of an argument `dim`, as a set of bits: none, or an empty list, means all.
uint64_t dim_set(const lamella::OptionalIntArrayRef& dim, const lamella_tensor*);

// Reduces `in` over a set of dimensions. `fold` makes the name of a fold of kernels/folds.cuh, "Sum<float, float>",
// from the dtype that is reduced in; it is asked once for each dtype, and `id` is its own number. The second output,
// which may be null, gets the fold's second result. Ordered: the places of elements count, in row-major order.
lamella_status reduce(int id, std::string (*fold)(int as), int as, const lamella_tensor* in, uint64_t dims,
                      bool keepdim, double parameter, const lamella_tensor* out, const lamella_tensor* second,
                      bool ordered);

}  // namespace cuda
