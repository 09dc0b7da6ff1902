// Targets: the tensors that in-place and out= forms write into, and checks for overlapping memory.
#pragma once

#include "core/tensor.h"
#include "dispatcher/call.h"

namespace lamella::dispatcher {

bool has_shape(const core::Tensor* t, int ndim, const int64_t* sizes);
// Return whether writing `out` may change elements of `in` that are read later. `elementwise`: each element is read
// before it is written, so that the same geometry is safe.
bool overlaps_within(const core::Tensor* out, const core::Tensor* in, bool elementwise);  // both are of one storage
inline bool overlaps(const core::Tensor* out, const core::Tensor* in, bool elementwise) {
  return out->storage == in->storage && !(elementwise && out == in) && overlaps_within(out, in, elementwise);
}
// Raises if a written tensor is expanded: if a dimension of more than one element has stride 0. Tensors in lists are
// not checked.
lamella_status check_all_writable(Frame&, const CallInfo&, const Value* args);

// The position of the argument into which the i-th result of a derived form goes.
inline int target_position(const CallInfo& info, int i) { return info.form == Form::Inplace ? 0 : info.first_out + i; }
// Raises unless a result of this dtype and shape can be stored in the target at position `at`; with `exact`, only a
// target of this dtype can store it.
lamella_status check_target(Frame&, const CallInfo&, int at, core::Tensor* target, bool exact, core::DType, int ndim,
                            const int64_t* sizes);
// Makes the target the result, after it got the elements of the computed tensor, and its shape if that differs.
lamella_status store_result(Frame&, core::Tensor* target, core::Tensor* computed, Value* ret);

}  // namespace lamella::dispatcher
