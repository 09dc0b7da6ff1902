// Events: messages about memory, copies and the like, for plugins that subscribe. The core emits them; the dispatcher
// keeps the subscribers.
#pragma once

#include <lamella/c_api.h>

#include <atomic>

namespace lamella::core {

// The kinds that have a subscriber, as bits.
extern std::atomic<uint64_t> event_kinds;
// Hands an event to the subscribers; set by the dispatcher.
extern void (*send_event)(const lamella_event&);

// Returns whether a kind has a subscriber: without one, this load is all that an event costs.
inline bool event_wanted(lamella_event_kind kind) {
  return __builtin_expect(event_kinds.load(std::memory_order_relaxed) >> kind & 1, 0);
}

inline lamella_event new_event(lamella_event_kind kind, lamella_event_phase phase, const char* name = nullptr) {
  lamella_event e{};
  e.size = sizeof e;
  e.kind = kind;
  e.phase = phase;
  e.device = e.from = {-1, 0};
  e.name = name;
  return e;
}

// Sends an event of the kind if it has a subscriber.
inline void emit(lamella_event_kind kind, lamella_event_phase phase, const char* name = nullptr) {
  if (event_wanted(kind)) send_event(new_event(kind, phase, name));
}

}  // namespace lamella::core
