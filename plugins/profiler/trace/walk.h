// walk(): visits the events of one thread in the order of their begins, and keeps track of their nesting.
#pragma once

#include "trace/trace.h"

namespace lamella::profiler {

// An event that is open during the walk.
struct Open {
  const Event* event;
  int64_t index, parent;    // numbers in the order of the walk, continued over the threads; parent: -1 if there is none
  int64_t begin, end;       // ns since the trace's begin
  int64_t until;            // the end in the tree, which is at most the end of the event around it
  int64_t inner = 0;        // ns of the events directly inside
  int64_t memory = 0;       // bytes allocated less bytes released, events inside included
  int64_t self_memory = 0;  // without the events inside
  int64_t device_memory = 0, self_device_memory = 0;  // the same two, of memory that is not the host's
};

inline bool is_host(int32_t backend) {
  const lamella_backend* b = api().backend_description(backend);
  return b && b->flags & LAMELLA_BACKEND_HOST;
}

// Calls opened() for each event, and closed() after the events inside it. `index` is counted on from thread to thread.
template <class Opened, class Closed>
void walk(const Trace& t, const Buffer& b, int64_t& index, Opened opened, Closed closed) {
  std::vector<Open> stack;
  std::vector<const MemoryEvent*> memory;
  b.memory.each([&](const MemoryEvent& m) { memory.push_back(&m); });
  size_t next = 0;
  const auto close = [&] {
    const Open o = stack.back();
    stack.pop_back();
    if (!stack.empty()) {
      stack.back().inner += o.until - o.begin;
      stack.back().memory += o.memory;
      stack.back().device_memory += o.device_memory;
    }
    closed(o);
  };
  const auto close_until = [&](int64_t now) {
    while (!stack.empty() && stack.back().until <= now) close();
  };
  const auto remember_until = [&](int64_t now) {
    for (; next < memory.size(); next++) {
      const int64_t at = t.rate.ns(memory[next]->time);
      if (at > now) return;
      close_until(at);
      if (stack.empty()) continue;
      stack.back().memory += memory[next]->bytes;
      stack.back().self_memory += memory[next]->bytes;
      if (is_host(memory[next]->device.backend)) continue;
      stack.back().device_memory += memory[next]->bytes;
      stack.back().self_device_memory += memory[next]->bytes;
    }
  };
  b.events.each([&](const Event& e) {
    const int64_t begin = t.rate.ns(e.begin);
    remember_until(begin);
    close_until(begin);
    // A block may end after the block around it, where tasks take turns on a thread; in the tree it ends with the outer
    // one.
    const int64_t end = std::max(t.end_of(e), begin);
    const int64_t until = stack.empty() ? end : std::min(end, stack.back().until);
    stack.push_back({&e, index++, stack.empty() ? -1 : stack.back().index, begin, end, until});
    opened(stack.back());
  });
  remember_until(INT64_MAX);
  while (!stack.empty()) close();
}

inline const char* name_of(const Event& e) {
  return e.scope == LAMELLA_SCOPE_FUNCTION || e.scope == LAMELLA_SCOPE_KERNEL
             ? api().operator_name(static_cast<const lamella_operator*>(e.what))
             : static_cast<const char*>(e.what);
}

}  // namespace lamella::profiler
