// Checks of the tensors that a backend's Python kernel returned.
#pragma once

#include "core/tensor.h"
#include "dispatcher/call.h"

namespace lamella::binding {

// Returns the index of an argument that shares memory with a tensor, or -1.
int shared_argument(const lamella_frame*, const lamella_value* args, const core::Tensor*);

// Checks a result, a tensor or a list of them. Each must be on the device of the operator's result `want`, or without
// one on that of the call, if an argument says it: a tensor, or `device`. If `fresh`, a tensor must not be memory of an
// argument.
lamella_status check_returned(const lamella_frame*, const lamella_value* args, const lamella_value& result,
                              const core::Tensor* want, bool fresh);

}  // namespace lamella::binding
