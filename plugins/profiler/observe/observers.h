// Observers: those who hear of calls, and the list of them that every thread has its own reference to.
//
// Note [Lists]  The list of global observers is immutable, and replaced as a whole under a lock. Its number is read on
//   each observed call; a thread that finds another number than its own takes a reference to the new list. So a list,
//   and an observer that left it, lives until the last thread has come by or given it up (Note [Reclaimed lists]), and
//   a call never waits for a registration. A thread that lets a list go has its open records hold their observers
//   themselves.
// Note [Locks]  The lock here is held for a few instructions, in which nothing else is locked and nothing is destroyed:
//   a thread may take it with the host language's lock or the registry's.
#pragma once

#include <lamella/library.h>
#include <lamella/profiler.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace lamella::profiler {

// The subscription to recorded calls, which all observers that need numbers share. The last one withdraws it.
struct Numbers {
  lamella_handle subscription = 0;
  Numbers() = default;
  Numbers(const Numbers&) = delete;
  ~Numbers();
};

struct Scope;
class Thread;

struct Observer : std::enable_shared_from_this<Observer> {
  lamella_observer given{};
  uint64_t handle = 0;
  std::atomic<bool> live{true}, enabled{true};
  lamella_handle layers = 0, events = 0;  // what is switched on for it while it is registered
  std::shared_ptr<Numbers> numbers;       // while it is registered, if it needs them
  // For calls, in place of enter and exit; for one that hears of each. Note [Alone] in thread.h.
  lamella_status (*record_alone)(Thread&, Scope&, lamella_frame*, const lamella_value*, lamella_value*) = nullptr;
  std::atomic<int64_t> events_needed{1};  // being registered, and its open steps of backward, whose ends are to come
  Observer() = default;
  Observer(const Observer&) = delete;
  ~Observer() {
    if (given.destroy) given.destroy(given.context);
  }
  bool hears(int scope) const { return given.scopes >> scope & 1; }
  // One more open step; false where the events have been switched off.
  bool keep_events() {
    int64_t n = events_needed.load();
    while (n && !events_needed.compare_exchange_weak(n, n + 1)) {
    }
    return n != 0;
  }
  void drop_events() {
    if (events_needed.fetch_sub(1) == 1 && events && api().withdraw(events)) api().error_clear();
  }
  bool on() const { return live.load(std::memory_order_relaxed) && enabled.load(std::memory_order_relaxed); }
};

using Held = std::shared_ptr<Observer>;
using List = std::vector<Held>;

// The number of the list that counts now; it grows with each change, of an observer's own state, too.
extern std::atomic<uint64_t> list_number;
// How many observers, of any thread, hear of named blocks.
extern std::atomic<int64_t> block_observers;
std::mutex& observers_mutex();
std::shared_ptr<const List> global_list(uint64_t* number);

lamella_status add_observer(const lamella_observer*, int32_t everywhere, uint64_t* handle);
lamella_status add_observer(std::shared_ptr<Observer>, bool everywhere, uint64_t* handle);
lamella_status remove_observer(uint64_t handle);
lamella_status withdraw_observer(uint64_t handle);  // the same, and this thread keeps its list as yet
lamella_status enable_observer(uint64_t handle, int32_t on);

// Takes out an observer whose function has failed, and reports the pending error.
void drop_failed(Observer&);
void set_reporter(void (*report)(void* context));

// The two layers, and the library that switches them on.
extern lamella_library* library;
extern uint64_t function_layer, kernel_layer;
inline uint64_t layers_of(uint32_t scopes) {
  return (scopes >> LAMELLA_SCOPE_FUNCTION & 1 ? function_layer : 0) |
         (scopes >> LAMELLA_SCOPE_KERNEL & 1 ? kernel_layer : 0);
}

}  // namespace lamella::profiler
