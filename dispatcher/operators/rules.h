// What shape rules share: reading arguments, wrapping dimensions, filling descriptions of outputs.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/device.h"
#include "core/error.h"
#include "core/promotion.h"
#include "dispatcher/call.h"
#include "dispatcher/catalogue.h"

namespace lattis::dispatcher {

using core::DType;
using core::format;
using core::raise;
using core::Tensor;
using Meta = lattis_meta;

inline Tensor* tensor_arg(const Value& v) { return v.tag == LATTIS_TENSOR ? core::full(v.as.tensor) : nullptr; }
inline bool given(const Value& v) { return v.tag != LATTIS_NONE; }
inline DType dtype_or(const Value& v, DType otherwise) {
  return v.tag == LATTIS_DTYPE ? static_cast<DType>(v.as.i) : otherwise;
}

// Wraps a negative dimension; an IndexError outside of [-n, n). A zero-dim tensor counts as one dimension.
lattis_status wrap_dim(lattis_frame* f, int arg, int64_t dim, int ndim, int* out);
// A list of dimensions as a bit set; an error on repeats.
lattis_status wrap_dims(lattis_frame* f, int arg, const Value& v, int ndim, uint64_t* out);

void fresh(Meta* m, int ndim, const int64_t* sizes, DType dtype);
void fresh_like(Meta* m, const lattis_tensor* t, DType dtype);  // keeps a dense permutation
// Lays a fresh output of the same sizes as `t` out as a memory format wants it; absent means to preserve t's.
lattis_status laid_out(lattis_frame* f, int arg, const Value& memory_format, const lattis_tensor* t, Meta* m);
// Does a tensor lie in this format already? Preserving asks for nothing.
bool lies_in(const lattis_tensor* t, const Value& memory_format);
void same(Meta* m);  // the result is args[0] itself
// The result is args[0], into which args[arg] broadcasts.
lattis_status same_with(lattis_frame* f, const Value* args, int arg, Meta* m);
void alias(Meta* m, int arg, const lattis_tensor* t);  // the same geometry; change it then

// Negative sizes, too many of them, and more bytes than can be counted raise.
lattis_status check_sizes(lattis_frame* f, int arg, int ndim, const int64_t* sizes, DType dtype);
// Raises unless the number can stand in a dtype.
lattis_status check_number(lattis_frame* f, int arg, const Value& number, DType dtype);
lattis_status read_sizes(lattis_frame* f, int arg, const Value& v, DType dtype);

}  // namespace lattis::dispatcher
