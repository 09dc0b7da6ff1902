// The states of plugins on threads, and captures: copies of a thread's settings and states that other threads can take.
#pragma once

#include <vector>

#include "dispatcher/ledger.h"

struct lamella_captured {
  uint64_t include, exclude;
  uint64_t gifts;  // last_gift() at the capture or the last swap: bits that were given since are left out
  lamella_device default_device;
  std::vector<void*> slots;
};

namespace lamella::dispatcher {

lamella_status add_thread_slot(const lamella_thread_slot_type&, int32_t* index);
void* thread_slot(int32_t index);
lamella_status set_thread_slot(int32_t index, void* state);

// Returns whether this thread has anything that a capture would copy.
bool has_state();
lamella_status capture_thread(lamella_captured** out);
lamella_status copy_captured(const lamella_captured*, lamella_captured** out);
lamella_status swap_captured(lamella_captured*);
void discard_captured(lamella_captured*);

void install_thread_slots();  // sets the core's destroy function; called once, at start-up

}  // namespace lamella::dispatcher
