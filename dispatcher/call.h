// The call path: from values to a kernel and back. Everything a call costs is in call.cpp and forms.cpp.
#pragma once

#include "dispatcher/registry.h"
#include "dispatcher/table.h"

namespace lamella::dispatcher {

using Frame = lamella_frame;
using core::Value;

// The frame and what only the dispatcher reads.
struct CallFrame : Frame {
  uint64_t excluded;   // what the thread had off when the call began
  uint64_t hidden;     // the bit of the layer whose handler runs, while it is off for that handler's own calls
  const Value* given;  // the arguments that this layer's kernel got
  bool half_written;   // a kernel has failed that may have written by then
};

lamella_status call(Frame* parent, const Operator* op, const Value* args, Value* rets);
lamella_status call_pinned(const Table* pinned, const Operator* op, const Value* args, Value* rets);
lamella_status redispatch(Frame* frame, const Value* args, Value* rets);

// At backend level: which device, which entry, then one of the forms. In forms.cpp.
lamella_status run_backend(Frame& f, const Value* args, Value* rets);
// Runs a composite for whatever form was called (also from a layer that decomposes). It reads the last arguments, which
// are those of the call, or copies of what it overwrites.
lamella_status run_composite(Frame& f, const Entry& e, const Value* args, Value* rets, const Value* read);
lamella_status resolve_device(Frame& f, const CallInfo& info, const Value* args);

// copy_ where source and destination are on different devices. In operators/copy.cpp.
lamella_status copy_between_devices(Frame* f, const Value* args);

void release_all(Value* rets, int n);

// "add: argument 'other'" for messages.
std::string where(const Frame* f, int arg);
std::string operator_title(const Operator* op);

lamella_status device_clash(Frame& f, int first, int second, const core::Tensor* a, const core::Tensor* b);
lamella_status dynamic_without_kernel(Frame& f);
lamella_status unknown_bits(const Frame& f, const lamella_meta& m);

// The kernel of entries for which nobody has a kernel: raises, saying who has one.
lamella_status missing_kernel(Frame* f, const Value* args, Value* rets);

}  // namespace lamella::dispatcher
