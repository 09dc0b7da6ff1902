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

// An immutable list, replaced as a whole. A thread that sends an event notes the list that it reads: a replaced list is
// freed once no thread's note has it.
std::atomic<const Subscribers*> subscribers{new Subscribers};
std::vector<const Subscribers*> replaced;  // not freed yet; under the registry's lock

// A thread's note of the list that it reads. Notes are never freed: the note of a thread that ends is taken by another.
struct Note {
  std::atomic<const Subscribers*> list{nullptr};
  std::atomic<bool> taken{true};
  Note* next = nullptr;
};
std::atomic<Note*> notes{nullptr};

Note* take_note() {
  for (Note* n = notes.load(std::memory_order_acquire); n; n = n->next)
    if (!n->taken.exchange(true, std::memory_order_acquire)) return n;
  auto* n = new Note;
  n->next = notes.load(std::memory_order_relaxed);
  while (!notes.compare_exchange_weak(n->next, n, std::memory_order_release)) {
  }
  return n;
}
void leave_note(Note* n) { n->taken.store(false, std::memory_order_release); }

// This thread's note. After the thread's variables were destroyed, each event takes a note for itself.
struct Own {
  Note* note = take_note();
  ~Own();
};
thread_local bool ended = false;
Own::~Own() {
  leave_note(note);
  ended = true;
}
Note& own_note() {
  static thread_local Own own;
  return *own.note;
}

// The subscribers that run on this thread, the innermost first. An event that one of them causes goes to the others
// only, so that none is called from within itself.
struct Running {
  lamella_handle handle;
  const Running* outer;
};
__thread const Running* running = nullptr;

bool runs(lamella_handle handle) {
  for (const Running* r = running; r; r = r->outer)
    if (r->handle == handle) return true;
  return false;
}

void send(Note& note, const lamella_event& e) {
  const Subscribers* list;
  do {
    list = subscribers.load();
    note.list.store(list);
  } while (list != subscribers.load());  // the list may have been replaced and freed before the note was stored
  for (const Subscriber& s : *list) {
    if (!(s.kinds >> e.kind & 1) || runs(s.handle)) continue;
    const Running now{s.handle, running};
    running = &now;
    s.on_event(s.context, &e);
    running = now.outer;
  }
  note.list.store(nullptr, std::memory_order_release);
}

bool in_use(const Subscribers* list) {
  for (const Note* n = notes.load(); n; n = n->next)
    if (n->list.load() == list) return true;
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
  if (__builtin_expect(!running && !ended, 1)) return send(own_note(), e);
  Note* note = take_note();  // this thread's own note has the enclosing event's list, or was left
  send(*note, e);
  leave_note(note);
}

void event(const lamella_event* e) {
  if (e->kind < 64 && core::event_wanted(static_cast<lamella_event_kind>(e->kind))) emit_event(*e);
}

void install_events() { core::send_event = emit_event; }

}  // namespace lamella::dispatcher
