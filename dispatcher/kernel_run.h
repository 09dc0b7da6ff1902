// Running one kernel at backend level: its operands are cast unless the backend converts them itself, passed layers are
// off inside it if it calls operators, its scratch memory is freed, and its error gets a note that names the operator
// and the device, unless the device is the host.
#pragma once

#include <cstdlib>

#include "core/device.h"
#include "core/error.h"
#include "dispatcher/call.h"
#include "dispatcher/explain.h"

namespace lamella::dispatcher {

lamella_status run_kernel(Frame&, const Entry&, const Value* args, Value* rets);

// Calls core::from_backend() for the status of a kernel, with the operator's title, and returns its status. Returns the
// given status if it is no error, if the device is the host, or for LAMELLA_NOT_IMPLEMENTED without a pending error.
lamella_status name_device(Frame&, lamella_status);
// Puts the operator's title before the message of the pending error, unless the message begins with it or the error is
// one of the host language.
void name_operator(Frame&);
// Frees the memory that the kernel took by lamella_api.scratch.
void free_scratch(Frame&);

}  // namespace lamella::dispatcher
