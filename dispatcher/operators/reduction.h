// What reductions share: which dimensions go, the shape that is left, and the sums under their composites. Composites
// compute half precision in float32.
#pragma once

#include "dispatcher/operators/widen.h"

namespace lamella::dispatcher {

// A set of dimensions is one bit each. `dims_of` reads an argument; absent or empty, it is all of them.
uint64_t all_dims(const Tensor* t);
lamella_status dims_of(lamella_frame* f, int arg, const Value& v, const Tensor* t, uint64_t* dims);
// How many elements fall together into one.
int64_t length_over(const Tensor* t, uint64_t dims);
int64_t length_over(const Var& x, const Value& dim);
// The shape that is left when `dims` are reduced.
void reduced(Meta* m, const Tensor* t, uint64_t dims, bool keepdim, DType dtype);
lamella_status check_inexact(lamella_frame* f, const Tensor* t, const char* what);

// Dimensions as a list, for operators that take nothing else.
Value dim_list(const Value& dim);
Var nan_in(Compose& c, const Var& x);
Var sum_over(Compose& c, const Var& x, const Value& dim, bool keepdim);
Var mean_over(Compose& c, const Var& x, const Value& dim, bool keepdim);

}  // namespace lamella::dispatcher
