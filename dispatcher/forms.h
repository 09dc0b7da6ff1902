// The forms of a call at backend level: functional (infer, allocate, compute into), in-place and out= (infer, check,
// compute into the target or into a temporary, which is then stored in the target), and composites.
#pragma once

#include "dispatcher/call.h"

namespace lamella::dispatcher {

// Resolves the device, reads the table's entry for it, and runs one of the forms.
lamella_status run_backend(Frame&, const Value* args, Value* rets);
// Runs the table's next entry for the device, after the kernel of the first one declined the call.
lamella_status run_declined(Frame&, const Value* args, Value* rets);
// Runs an entry that the caller has chosen, after the device is resolved. If its kernel declines, the composite runs.
lamella_status run_entry(Frame&, const Entry&, const Value* args, Value* rets);
// Runs the table's shape rule for n results. It may set the frame's compute_dtype.
lamella_status infer(Frame&, const Table&, const Value* args, lamella_meta* metas, int n);
// Runs a composite for any form, also for a layer that decomposes. The composite gets `read`: the arguments
// of the call, for a layer's in-place form with a copy of the first one, which the call overwrites.
lamella_status run_composite(Frame&, const Entry&, const Value* args, Value* rets, const Value* read);

}  // namespace lamella::dispatcher
