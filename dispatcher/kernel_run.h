// Running one kernel at backend level: casts around it, layers off inside it, its scratch memory freed, its error
// titled.
#pragma once

#include <cstdlib>

#include "core/device.h"
#include "core/error.h"
#include "dispatcher/call.h"
#include "dispatcher/explain.h"

namespace lamella::dispatcher {

lamella_status run_kernel(Frame&, const Entry&, const Value* args, Value* rets);

// The status of a kernel whose pending error now also says the device; a host's is left out.
lamella_status name_device(Frame&, lamella_status);
// Puts the operator's title before the pending error of a callee or of an allocator, unless it is there.
void name_operator(Frame&);
// Frees the memory that the kernel took by lamella_api.scratch.
void free_scratch(Frame&);

}  // namespace lamella::dispatcher
