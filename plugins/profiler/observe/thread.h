// Thread: what the observers know of one thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "observe/observers.h"

namespace lamella::profiler {

struct Record;

// One observer's draw on one thread: how many calls until it hears of one.
struct Drawn {
  Observer* observer;
  int64_t remaining;
};

// The draws of a scope. `countdown` is the least of them, counted down by each call: the draws themselves are brought
// up to date when it is zero.
// Note [Alone]  Most records have one observer, a profile that hears of every call. While it is the only one of a
// scope,
//   nothing is drawn, and it writes down calls by a function of its own, without a state between enter and exit that
//   others could see.
struct Scope {
  static constexpr int64_t never = INT64_MAX / 2;
  int64_t armed = never, countdown = never;
  std::vector<Drawn> drawn;
  Observer* alone = nullptr;
  void* alone_on_thread = nullptr;  // what that observer has for this thread
};

// Note [Reclaimed lists]
//   A thread that calls nothing does not come by, and one that calls while no layer of ours is on does not either; yet
//   what they hold may be a trace of a gigabyte. So the thread that removes an observer takes the old lists from the
//   others. A thread says with `uses` that it is among observers, before it looks at the number of the list: who sees
//   `uses` at zero, behind the new number and a barrier on all processors, knows that the thread looks at the number,
//   and comes by, before it touches an observer again. The lists themselves change hands under the observers' lock.
//   Where the system has no such barrier (membarrier), a list lives until its thread comes by.
class Thread {
 public:
  uint64_t number = 0;  // of the list that `scopes` are made from
  std::array<Scope, LAMELLA_SCOPES> scopes;
  Record* current = nullptr;  // the innermost observed record
  uint64_t id = 0;            // the system's number
  int quiet = 0;              // a callback runs, or records are switched off
  uint64_t ended_seen = 0;    // of ended_elsewhere, how many it has taken out
  std::atomic<int> uses{0};   // Note [Reclaimed lists]; changed by its own thread

  Thread();
  void name_anew();  // also in a child of fork: another number, and other draws
  void come_by();    // takes the list that counts now
  void add_local(Held);
  Held find(uint64_t handle);  // an observer that this thread has, or would have if it came by; or null
  ~Thread();
  void drop_ended();                                   // takes out blocks that ended on other threads
  void take_local(std::shared_ptr<const List> local);  // of a state that was carried here
  const std::shared_ptr<const List>& local() const { return local_; }
  int64_t gap(double probability);
  bool enabled() const { return enabled_; }
  bool enable(bool on);  // what it was
  // Its list, if that is older than the number before the barrier, and it is not among observers.
  void give_up(uint64_t before, std::vector<std::shared_ptr<const List>>& to);

  // The steps of backward that one of the observers hears of, the innermost last.
  struct Node {
    uint64_t id;
    uint64_t observer;  // its handle
    Record* record;     // null: not sampled; owned
    void* info;         // the debug information of its call, shown while it runs; owned
    void* before;       // what was shown before
    Held held;          // with a record
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

// A thread is among observers.
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

// Takes lists that do not count any more from the threads that are not among observers.
void reclaim_lists();
void forget_other_threads();  // in a child of fork, which has none of them

extern __thread Thread* current_thread __attribute__((tls_model("initial-exec")));
Thread& start_thread();
inline Thread& this_thread() {
  Thread* t = current_thread;
  return __builtin_expect(t != nullptr, 1) ? *t : start_thread();
}

lamella_status register_thread_slots(lamella_library*);

}  // namespace lamella::profiler
