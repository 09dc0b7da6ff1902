// Reductions over any dimensions, by the folds of kernels/folds.cuh.
#pragma once

#include "layout.h"

namespace cuda {

// Returns the dimensions of an argument `dim` as a set of bits. None, or an empty list, means all.
uint64_t dim_set(const lamella::OptionalIntArrayRef& dim, const lamella_tensor*);

// Reduces `in` over a set of dimensions, in the dtype `as`. `fold` returns the name of a fold of kernels/folds.cuh,
// "Sum<float, float>", and `id` is its number, by which the compiled kernels are found again. `second`, which may be
// null, gets the fold's second result. With `ordered`, elements are numbered in row-major order, for folds that give
// places.
lamella_status reduce(int id, std::string (*fold)(int as), int as, const lamella_tensor* in, uint64_t dims,
                      bool keepdim, double parameter, const lamella_tensor* out, const lamella_tensor* second,
                      bool ordered);

}  // namespace cuda
