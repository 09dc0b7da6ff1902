// Events: what happens inside, for whoever subscribes. The core emits; the dispatcher keeps the subscribers.
#pragma once

#include <lamella/c_api.h>

#include <atomic>

namespace lamella::core {

// The kinds that somebody wants, as bits.
extern std::atomic<uint64_t> event_kinds;
// Hands an event to the subscribers; set by the dispatcher.
extern void (*send_event)(const lamella_event&);

// The one load that an event costs while nobody subscribes to its kind.
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

// An event of the kind where somebody wants it.
inline void emit(lamella_event_kind kind, lamella_event_phase phase, const char* name = nullptr) {
  if (event_wanted(kind)) send_event(new_event(kind, phase, name));
}

}  // namespace lamella::core
