// The recent calls that autograd has recorded, by their sequence numbers, for observers of backward that need them.
#pragma once

#include <lamella/profiler.h>

#include <cstdint>

namespace lamella::profiler {

struct Call {
  const lamella_operator* op = nullptr;
  uint64_t thread = 0;   // the system's number
  void* info = nullptr;  // the debug information of the call; owned
};

// Stores a call. Only the calls of the last 65536 numbers are kept, so it replaces the call 65536 numbers before.
void keep_call(uint64_t sequence, const Call& call);
// Returns a call, with a reference to its debug information that the caller owns; empty if it is not stored any more.
Call find_call(uint64_t sequence);
// Drops all calls and their debug information; used when the last observer that needs ids is removed.
void forget_calls();
void free_calls_in_child();  // for a child of fork: releases the entries that other threads had locked

}  // namespace lamella::profiler
