// What shape rules share: reading arguments, wrapping dimensions, filling descriptions of outputs.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/device.h"
#include "core/error.h"
#include "core/promotion.h"
#include "dispatcher/call.h"
#include "dispatcher/catalogue.h"

namespace lamella::dispatcher {

using core::DType;
using core::format;
using core::raise;
using core::Tensor;
using Meta = lamella_meta;

inline Tensor* tensor_arg(const Value& v) { return v.tag == LAMELLA_TENSOR ? core::full(v.as.tensor) : nullptr; }
inline bool given(const Value& v) { return v.tag != LAMELLA_NONE; }
inline DType dtype_or(const Value& v, DType otherwise) {
  return v.tag == LAMELLA_DTYPE ? static_cast<DType>(v.as.i) : otherwise;
}

// Wraps a negative dimension; an IndexError outside of [-n, n). A zero-dim tensor counts as one dimension.
lamella_status wrap_dim(lamella_frame* f, int arg, int64_t dim, int ndim, int* out);
// A list of dimensions as a bit set; an error on repeats.
lamella_status wrap_dims(lamella_frame* f, int arg, const Value& v, int ndim, uint64_t* out);

void fresh(Meta* m, int ndim, const int64_t* sizes, DType dtype);
void fresh_like(Meta* m, const lamella_tensor* t, DType dtype);  // keeps a dense permutation
// Lays a fresh output of the same sizes as `t` out as a memory format wants it; absent means to preserve t's.
lamella_status laid_out(lamella_frame* f, int arg, const Value& memory_format, const lamella_tensor* t, Meta* m);
// Does a tensor lie in this format already? Preserving asks for nothing.
bool lies_in(const lamella_tensor* t, const Value& memory_format);
void same(Meta* m);  // the result is args[0] itself
// The result is args[0], into which args[arg] broadcasts.
lamella_status same_with(lamella_frame* f, const Value* args, int arg, Meta* m);
void alias(Meta* m, int arg, const lamella_tensor* t);  // the same geometry; change it then

// Negative sizes, too many of them, and more bytes than can be counted raise.
lamella_status check_sizes(lamella_frame* f, int arg, int ndim, const int64_t* sizes, DType dtype);
// Raises unless the number can stand in a dtype.
lamella_status check_number(lamella_frame* f, int arg, const Value& number, DType dtype);
lamella_status read_sizes(lamella_frame* f, int arg, const Value& v, DType dtype);

}  // namespace lamella::dispatcher
