// Helpers of reductions: the set of reduced dimensions, the remaining shape, and the mean for composites, which compute
// half precision in float32.
#pragma once

#include "operators/shapes.h"

namespace lamella::operators {

// The argument `dim` as a set, one bit for each dimension: absent or empty, it is all of them.
uint64_t dims_of(const Tensor& t, const OptionalIntArrayRef& dim);
// Returns one dimension as the argument `dim`; absent, it stands for all dimensions.
inline OptionalIntArrayRef one_or_all(std::optional<int64_t> dim) {
  return dim ? OptionalIntArrayRef(*dim) : OptionalIntArrayRef();
}
// Returns the number of elements that are reduced to one.
int64_t length_over(const Tensor& t, uint64_t dims);
// Describes a result: the shape without `dims`, or with size 1 in them.
void reduced(Output& out, const Tensor& t, uint64_t dims, bool keepdim, ScalarType dtype);
// Raises unless `self` is floating or complex; `what` begins the sentence, as in "a norm".
void check_inexact(const Tensor& self, const char* what);

inline Tensor nan_in(const Tensor& x) { return x.ne(x); }
Tensor mean_over(const Tensor& x, const OptionalIntArrayRef& dim, bool keepdim);

}  // namespace lamella::operators
