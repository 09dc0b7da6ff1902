// The counted CPU fallback: runs operators on the host for a backend that allows it and has no kernel for them.
#pragma once

#include <string>
#include <vector>

#include "dispatcher/call.h"

namespace lamella::dispatcher {

// One operator on one device that was served by the host.
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

// Runs the operator on the host with copies of the tensors. The entry of operators that fall back. The context says
// that the device has a kernel, which has declined the call.
lamella_status fallback_kernel(lamella_frame* f, const lamella_value* args, lamella_value* rets);
// The same for the operator that copies, which the other one needs.
lamella_status fallback_copy(lamella_frame* f, const lamella_value* args, lamella_value* rets);

}  // namespace lamella::dispatcher
