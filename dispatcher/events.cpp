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

// An immutable list, replaced as a whole. A thread that sends an event says which list it goes through: a list that was
// replaced is freed once no thread goes through it.
std::atomic<const Subscribers*> subscribers{new Subscribers};
std::vector<const Subscribers*> replaced;  // not freed yet; under the registry's lock

// Where a thread says it. Places are never freed: a thread that ends leaves its own to another one.
struct Place {
  std::atomic<const Subscribers*> list{nullptr};
  std::atomic<bool> taken{true};
  Place* next = nullptr;
};
std::atomic<Place*> places{nullptr};

Place* take_place() {
  for (Place* p = places.load(std::memory_order_acquire); p; p = p->next)
    if (!p->taken.exchange(true, std::memory_order_acquire)) return p;
  auto* p = new Place;
  p->next = places.load(std::memory_order_relaxed);
  while (!places.compare_exchange_weak(p->next, p, std::memory_order_release)) {
  }
  return p;
}

// This thread's place. Behind the end of a thread's variables, each event takes one for itself.
struct Own {
  Place* place = take_place();
  ~Own();
};
thread_local bool ended = false;
Own::~Own() {
  place->taken.store(false, std::memory_order_release);
  ended = true;
}
Place& own_place() {
  static thread_local Own own;
  return *own.place;
}

// A subscriber may call operators, whose events are not sent: it would be called from within itself.
__thread bool sending = false;

void send(Place& place, const lamella_event& e) {
  const Subscribers* list;
  do {
    list = subscribers.load();
    place.list.store(list);
  } while (list != subscribers.load());  // it may have been replaced, and freed, before this thread had said so
  for (const Subscriber& s : *list)
    if (s.kinds >> e.kind & 1) s.on_event(s.context, &e);
  place.list.store(nullptr, std::memory_order_release);
}

bool in_use(const Subscribers* list) {
  for (const Place* p = places.load(); p; p = p->next)
    if (p->list.load() == list) return true;
  return false;
}

void replace(const Subscribers* next) {
  uint64_t kinds = 0;
  for (const Subscriber& s : *next) kinds |= s.kinds;
  replaced.push_back(subscribers.exchange(next));
  core::event_kinds.store(kinds, std::memory_order_release);
  std::erase_if(replaced, [](const Subscribers* list) {
    if (in_use(list)) return false;
    delete list;
    return true;
  });
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
  if (__builtin_expect(!ended, 1)) {
    send(own_place(), e);
  } else {
    Place* place = take_place();
    send(*place, e);
    place->taken.store(false, std::memory_order_release);
  }
  sending = false;
}

void install_events() { core::send_event = emit_event; }

}  // namespace lamella::dispatcher
