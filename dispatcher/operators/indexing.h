// What families share for operators whose in-place form is the original.
#pragma once

#include "dispatcher/operators/rules.h"

namespace lattis::dispatcher {

// Runs an in-place operator on a clone of its first argument.
lattis_status on_clone(lattis_frame* f, const Operator* inplace, const Value* args, Value* rets);

}  // namespace lattis::dispatcher
