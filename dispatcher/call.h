// The call path, from values to a layer or to the backend level (forms.h) and back.
#pragma once

#include "core/thread.h"
#include "core/value.h"
#include "dispatcher/table.h"

namespace lamella::dispatcher {

using Frame = lamella_frame;
using core::Value;

// The frame, with the fields that only the dispatcher reads.
struct CallFrame : Frame {
  uint64_t excluded;   // the layers that were off on the thread when the call began
  uint64_t hidden;     // the bit of the layer whose handler runs, while it is off for that handler's own calls
  const Value* given;  // the arguments that this layer's kernel got
  bool half_written;   // a kernel has failed that may have written by then
};

// While it lives, operators that this thread calls have the frame as their parent.
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

// Results before a call, so that who looks at one that no kernel has written finds none.
inline void clear(Value* rets, int n) {
  for (int i = 0; i < n; i++) rets[i].tag = LAMELLA_NONE;
}
void release_all(Value* rets, int n);

}  // namespace lamella::dispatcher
