// Calls that come through the C ABI: the numbers and the kinds of their values are checked before anything reads them,
// and what was appended to the operator's schema since the caller was written gets its default.
#pragma once

#include "dispatcher/call.h"

namespace lattis::dispatcher {

lattis_status checked_call(Frame* parent, const Operator* op, const Value* args, int32_t num_args, Value* rets,
                           int32_t num_rets);

// Which tags an argument may have, one bit each.
uint32_t admitted_tags(const Type& type);

}  // namespace lattis::dispatcher
