// What is known of recent calls that autograd has recorded, by their numbers: for those who hear of their backward.
#pragma once

#include <lamella/profiler.h>

#include <cstdint>

namespace lamella::profiler {

struct Call {
  const lamella_operator* op = nullptr;
  uint64_t thread = 0;   // the system's number
  void* info = nullptr;  // debug information that counted there; owned
};

// Keeps a call, and one of another number the less: the last 65536 numbers are kept.
void keep_call(uint64_t sequence, const Call& call);
// The call, with a reference to its information for the caller; empty if it is not there any more.
Call find_call(uint64_t sequence);
// Drops all calls, and so what their information holds: nobody needs ids any more.
void forget_calls();
void free_calls_in_child();  // of fork, whichever thread was at one

}  // namespace lamella::profiler
