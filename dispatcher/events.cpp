#include "dispatcher/events.h"

#include "core/error.h"
#include "core/event.h"
#include "dispatcher/registry_lock.h"

namespace lamella::core {
std::atomic<uint64_t> event_kinds{0};
void (*send_event)(const lamella_event&) = nullptr;
}  // namespace lamella::core

namespace lamella::dispatcher {
namespace {

struct Subscriber {
  lamella_handle handle;
  uint64_t kinds;
  lamella_on_event on_event;
  void* context;
};
using Subscribers = std::vector<Subscriber>;

// An immutable list, replaced as a whole and never freed: an event may be on its way through the old one.
std::atomic<const Subscribers*> subscribers{new Subscribers};

// A subscriber may call operators, whose events are not sent: it would be called from within itself.
__thread bool sending = false;

void replace(const Subscribers* next) {
  uint64_t kinds = 0;
  for (const Subscriber& s : *next) kinds |= s.kinds;
  subscribers.store(next, std::memory_order_release);
  core::event_kinds.store(kinds, std::memory_order_release);
}

}  // namespace

lamella_status subscribe(Library& lib, uint64_t kinds, lamella_on_event on_event, void* context,
                         lamella_handle* handle) {
  RegistryLock lock;
  const lamella_handle h = enter(lib, [](lamella_handle h) {
    auto* next = new Subscribers(*subscribers.load());
    erase_handle(*next, h);
    replace(next);
  });
  auto* next = new Subscribers(*subscribers.load());
  next->push_back({h, kinds, on_event, context});
  replace(next);
  if (handle) *handle = h;
  return LAMELLA_OK;
}

void emit_event(const lamella_event& e) {
  if (sending) return;
  sending = true;
  for (const Subscriber& s : *subscribers.load(std::memory_order_acquire))
    if (s.kinds >> e.kind & 1) s.on_event(s.context, &e);
  sending = false;
}

void install_events() { core::send_event = emit_event; }

}  // namespace lamella::dispatcher
