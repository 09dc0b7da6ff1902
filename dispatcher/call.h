// The call path: from values to a layer, or to the backend level (forms.h), and back.
#pragma once

#include "core/thread.h"
#include "core/value.h"
#include "dispatcher/table.h"

namespace lamella::dispatcher {

using Frame = lamella_frame;
using core::Value;

// A frame, with the fields that only the dispatcher reads.
struct CallFrame : Frame {
  uint64_t hidden;     // the bit of the running layer, if run_layer() turned it off on the thread
  const Value* given;  // the arguments that the running layer's kernel got
  bool half_written;   // a kernel failed that may have written some elements
};

// While a Calling lives, the frame is the parent of every operator that this thread calls.
class Calling {
 public:
  explicit Calling(Frame& f) : state_(core::this_thread()), outer_(state_.calling) { state_.calling = &f; }
  ~Calling() { state_.calling = outer_; }
  Calling(const Calling&) = delete;

 private:
  core::ThreadState& state_;
  Frame* outer_;
};

lamella_status call(Frame* parent, const Operator* op, const Value* args, Value* rets);
lamella_status call_pinned(const Table* pinned, Frame* parent, const Operator* op, const Value* args, Value* rets);
lamella_status redispatch(Frame* frame, const Value* args, Value* rets);
// Serves a call from a layer's kernel by the operator's composite, with the layer on: see `decompose` in lamella_api.
lamella_status decompose(Frame* frame, const Value* args, Value* rets);

// Sets every result to LAMELLA_NONE before a call, so that a result which no kernel wrote is recognized.
inline void clear(Value* rets, int n) {
  for (int i = 0; i < n; i++) rets[i].tag = LAMELLA_NONE;
}
void release_all(Value* rets, int n);

}  // namespace lamella::dispatcher
