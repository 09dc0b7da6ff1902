// Event: reports steps of backward to the subscribers of the event channel's kinds "node" and "backward".
#pragma once

#include <memory>
#include <string>

#include "graph/node.h"

namespace lamella::autograd {

// Reports a step of backward on the event channel as it begins and, in the destructor, as it ends. Without subscribers
// it costs one relaxed load.
class Event {
 public:
  Event(lamella_event_kind kind, const Node* n) {
    static const uint64_t* const kinds = api().event_kinds();
    if (__builtin_expect(__atomic_load_n(kinds, __ATOMIC_RELAXED) >> kind & 1, 0)) begin(kind, n);
  }
  ~Event() {
    if (__builtin_expect(sent_ != nullptr, 0)) send(LAMELLA_EVENT_END);
  }
  Event(const Event&) = delete;

 private:
  struct Sent {
    lamella_event event{};
    std::string name;
  };

  __attribute__((noinline)) void begin(lamella_event_kind kind, const Node* n) {
    sent_ = std::make_unique<Sent>();
    lamella_event& e = sent_->event;
    e.size = sizeof e;
    e.kind = kind;
    e.device = e.from = {-1, 0};
    if (n) {
      sent_->name = n->kind->name(n);
      e.name = sent_->name.c_str();
      e.id = n->sequence;
    }
    send(LAMELLA_EVENT_BEGIN);
  }
  __attribute__((noinline)) void send(lamella_event_phase phase) {
    sent_->event.phase = phase;
    api().event(&sent_->event);
  }

  std::unique_ptr<Sent> sent_;
};

// Reports that a call was recorded as node n.
inline void report_recorded(const Node* n, const lamella_operator* op) {
  static const uint64_t* const kinds = api().event_kinds();
  if (__builtin_expect(__atomic_load_n(kinds, __ATOMIC_RELAXED) >> LAMELLA_EVENT_RECORDED & 1, 0)) {
    lamella_event e{};
    e.size = sizeof e;
    e.kind = LAMELLA_EVENT_RECORDED;
    e.phase = LAMELLA_EVENT_INSTANT;
    e.device = e.from = {-1, 0};
    e.id = n->sequence;
    e.op = op;
    api().event(&e);
  }
}

}  // namespace lamella::autograd
