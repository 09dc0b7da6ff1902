// Observers of calls, and the list of them, to which each thread has a reference of its own.
//
// Note [Lists]  The list of global observers is immutable, and is replaced as a whole under a lock. Each observed call
//   compares the list's number with its thread's; a thread with another number takes a reference to the new list. So an
//   old list, and an observer that is only in that, lives until the last thread has refreshed its list, or the list was
//   taken from it (Note [Reclaimed lists]); and a call never waits for a registration. When a thread drops a list, its
//   open records get references to their observers.
// Note [Locks]  The lock is held for a few instructions, in which no other lock is taken and nothing is destroyed. So a
//   thread that holds the host language's lock, or the registry's, may take it.
#pragma once

#include <lamella/library.h>
#include <lamella/profiler.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace lamella::profiler {

// The subscription to the calls that autograd records, shared by all observers that need sequence numbers. The last of them withdraws
// it.
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
  // The registrations of its layers and of its subscription to steps of backward.
  lamella_handle layers = 0, events = 0;
  std::shared_ptr<Numbers> numbers;  // set while it is registered and needs sequence numbers
  // Replaces enter and exit for calls, in an observer that observes every call. See Note [Alone] in thread.h.
  lamella_status (*record_alone)(Thread&, Scope&, lamella_frame*, const lamella_value*, lamella_value*) = nullptr;
  // Number of reasons to keep the subscription: the registration, and each open step of backward.
  std::atomic<int64_t> events_needed{1};
  Observer() = default;
  Observer(const Observer&) = delete;
  ~Observer() {
    if (given.destroy) given.destroy(given.context);
  }
  bool observes(int scope) const { return given.scopes >> scope & 1; }
  // Counts one more open step of backward; returns false if the subscription has been withdrawn.
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

// The number of the current list of the observers of all threads; each replacement of the list increases it.
extern std::atomic<uint64_t> list_number;
// The number of observers, of any thread, that observe named blocks.
extern std::atomic<int64_t> block_observers;
std::mutex& observers_mutex();
std::shared_ptr<const List> global_list(uint64_t* number);

lamella_status add_observer(const lamella_observer*, int32_t everywhere, uint64_t* handle);
lamella_status add_observer(std::shared_ptr<Observer>, bool everywhere, uint64_t* handle);
lamella_status remove_observer(uint64_t handle);
lamella_status withdraw_observer(uint64_t handle);  // as remove_observer, but this thread keeps its list for now
lamella_status enable_observer(uint64_t handle, int32_t on);

// Removes an observer whose function has failed, and reports the pending error.
void drop_failed(Observer&);
void set_reporter(void (*report)(void* context));

// The two layers of the profiler, and the library that switches them on.
extern lamella_library* library;
extern uint64_t function_layer, kernel_layer;
inline uint64_t layers_of(uint32_t scopes) {
  return (scopes >> LAMELLA_SCOPE_FUNCTION & 1 ? function_layer : 0) |
         (scopes >> LAMELLA_SCOPE_KERNEL & 1 ? kernel_layer : 0);
}

}  // namespace lamella::profiler
