// Event: what backward tells those who subscribe to the kinds "node" and "backward" of the event channel.
#pragma once

#include <memory>
#include <string>

#include "graph/node.h"

namespace lamella::autograd {

// Tells those who subscribe to a kind of events of a step of backward, as it begins and as it ends.
class Event {
 public:
  Event(lamella_event_kind kind, const Node* n) {
    static const uint64_t* const kinds = api().event_kinds();
    if (__builtin_expect(__atomic_load_n(kinds, __ATOMIC_RELAXED) >> kind & 1, 0)) begin(kind, n);
  }
  ~Event() {
    if (__builtin_expect(told_ != nullptr, 0)) send(LAMELLA_EVENT_END);
  }
  Event(const Event&) = delete;

 private:
  struct Told {
    lamella_event event{};
    std::string name;
  };

  __attribute__((noinline)) void begin(lamella_event_kind kind, const Node* n) {
    told_ = std::make_unique<Told>();
    lamella_event& e = told_->event;
    e.size = sizeof e;
    e.kind = kind;
    e.device = e.from = {-1, 0};
    if (n) {
      told_->name = n->kind->name(n);
      e.name = told_->name.c_str();
      e.id = n->sequence;
    }
    send(LAMELLA_EVENT_BEGIN);
  }
  __attribute__((noinline)) void send(lamella_event_phase phase) {
    told_->event.phase = phase;
    api().event(&told_->event);
  }

  std::unique_ptr<Told> told_;
};

// Tells of a call that has got a node.
inline void tell_recorded(const Node* n, const lamella_operator* op) {
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
