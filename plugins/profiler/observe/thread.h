// Thread: the observers' state of one thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "observe/observers.h"

namespace lamella::profiler {

struct Record;

// The draw of one observer on one thread: the number of calls until the one that it observes.
struct Drawn {
  Observer* observer;
  int64_t remaining;
};

// The draws of one scope. `countdown` is the smallest of them and is decremented by each call; the draws themselves are
// updated when it reaches zero.
//
// Note [Alone]  Usually a scope has one observer, a profile that observes every call. Then nothing is drawn, and the
//   observer's record_alone records the call in one function, so no state between enter and exit needs to be kept in
//   the record.
struct Scope {
  static constexpr int64_t never = INT64_MAX / 2;
  int64_t armed = never, countdown = never;
  std::vector<Drawn> drawn;
  Observer* alone = nullptr;
  void* alone_on_thread = nullptr;  // the observer's own state for this thread
};

// Note [Reclaimed lists]  A thread that calls no operator, or calls operators only while the profiler's layers are off,
//   does not refresh its list; yet the observers in the list may hold a trace of a gigabyte. So the thread that removes
//   an observer takes the old lists away from the other threads. A thread increments `uses` before it reads the list's
//   number and uses an observer. If the removing thread has changed the number, has executed a barrier on all
//   processors, and then sees `uses` at zero, the other thread will read the new number before it uses an observer
//   again. The lists are exchanged under the observers' lock. Where the system lacks this barrier (membarrier), a list
//   lives until its thread refreshes it.
class Thread {
 public:
  uint64_t number = 0;  // the number of the list from which `scopes` was made
  std::array<Scope, LAMELLA_SCOPES> scopes;
  Record* current = nullptr;  // the innermost observed record
  uint64_t id = 0;            // the system's number of the thread
  int quiet = 0;              // not 0 while a callback runs, or observation is switched off
  uint64_t ended_seen = 0;    // the value of ended_elsewhere up to which ended blocks were unlinked
  std::atomic<int> uses{0};   // see Note [Reclaimed lists]; changed by its own thread only

  Thread();
  void name_anew();  // sets a new id and seed; also in a child of fork
  void refresh();    // takes the current list, and draws anew
  void add_local(Held);
  // Returns an observer of this thread by its handle, as if the list had been refreshed; or null.
  Held find(uint64_t handle);
  ~Thread();
  void drop_ended();  // unlinks blocks that ended on other threads
  // Takes the thread-local observers of a state that was copied to this thread.
  void take_local(std::shared_ptr<const List> local);
  const std::shared_ptr<const List>& local() const { return local_; }
  int64_t gap(double probability);
  bool enabled() const { return enabled_; }
  bool enable(bool on);  // returns the former value
  // Moves its list to `to` if the list's number is older than `before` and the thread does not use it.
  void give_up_list(uint64_t before, std::vector<std::shared_ptr<const List>>& to);

  // The open steps of backward, one entry for each observer of them, innermost last.
  struct Node {
    uint64_t id;
    uint64_t observer;  // the observer's handle
    Record* record;     // owned; null if the step was not drawn
    void* info;         // owned: the debug information of the recorded call, which counts while the step runs
    void* before;       // the debug information that show_info() replaced
    Held held;          // set with `record`
  };
  std::vector<Node> nodes;

 private:
  void use(std::shared_ptr<const List> global, std::shared_ptr<const List> local);
  std::shared_ptr<const List> keep_local(Held more);
  uint64_t random();
  std::shared_ptr<const List> global_, local_;
  bool enabled_ = true;
  uint64_t seed_ = 0;
};

// Marks its thread as using observers until the end of the scope.
class Uses {
 public:
  explicit Uses(Thread& t) : t_(t) { add(t, 1); }
  Uses(const Uses&) = delete;
  ~Uses() { add(t_, -1); }
  static void add(Thread& t, int n) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    t.uses.store(t.uses.load(std::memory_order_relaxed) + n, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }

 private:
  Thread& t_;
};

// Takes old lists away from the threads that do not use them.
void reclaim_lists();
void forget_other_threads();  // for a child of fork, which does not have them

extern __thread Thread* current_thread __attribute__((tls_model("initial-exec")));
Thread& start_thread();
inline Thread& this_thread() {
  Thread* t = current_thread;
  return __builtin_expect(t != nullptr, 1) ? *t : start_thread();
}

lamella_status register_thread_slots(lamella_library*);

}  // namespace lamella::profiler
