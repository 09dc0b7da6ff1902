// The counted CPU fallback: runs operators on the host for a backend that allows the fallback, if neither a kernel of
// the backend nor a composite serves them.
#pragma once

#include <string>
#include <vector>

#include "dispatcher/call.h"

namespace lamella::dispatcher {

// The calls of one operator that the host served for one backend; `device` is the name of the backend.
struct FallbackCount {
  std::string device, op, reason;
  int64_t calls = 0, bytes = 0;  // bytes moved, both ways
  double seconds = 0;            // the whole call, copies included
};

enum class FallbackMode { Allow, Error };

FallbackMode fallback_mode();
void set_fallback_mode(FallbackMode mode);
std::vector<FallbackCount> fallback_counts();
void reset_fallback_counts();

// Runs the operator on the host with copies of the tensors; the entry of operators that fall back. A context that is
// not null says that the device has a kernel, which has declined the call.
lamella_status fallback_kernel(lamella_frame* f, const lamella_value* args, lamella_value* rets);
// Serves the operator that copies between devices by moving bytes, since fallback_kernel() calls that operator itself.
lamella_status fallback_copy(lamella_frame* f, const lamella_value* args, lamella_value* rets);

}  // namespace lamella::dispatcher
