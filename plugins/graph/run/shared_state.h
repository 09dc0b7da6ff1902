// The lock of the attributes and containers that several threads may reach.
//
// Note [Shared state] Tensors are immutable handles, and a list that one function makes and fills is its own. But the
//   attributes of an instance, and lists and dictionaries that come from elsewhere, may be read by one thread while
//   another writes them. A program that writes such (Executable::writes_shared) runs under one lock of the process,
//   which it leaves around operators, functions of the host, printing and waiting, and every 1024 steps; so do
//   those who read the containers of a program from outside. All other programs run without a lock.
#pragma once

#include <utility>

#include "ir/graph.h"

namespace lamella::graph {

// Holds the lock while it lives, if it is needed and this thread does not hold it yet.
class SharedState {
 public:
  explicit SharedState(bool needed) : mine_(needed && !held) {
    if (mine_) take();
  }
  ~SharedState() {
    if (mine_) leave();
  }
  SharedState(const SharedState&) = delete;

  static bool is_held() { return held; }
  static void renew();  // for the child of a fork, in which the thread that held the lock is not there

 private:
  friend class Outside;
  static void take();
  static void leave();
  static thread_local bool held;
  const bool mine_;
};

// Leaves the lock while it lives, if this thread holds it.
class Outside {
 public:
  Outside() : left_(SharedState::held) {
    if (left_) SharedState::leave();
  }
  ~Outside() {
    if (left_) SharedState::take();
  }
  Outside(const Outside&) = delete;

 private:
  const bool left_;
};

// Calls a function, which may wait for a lock or a thread, while this thread has neither this lock nor the host's.
void wait_outside(void (*wait)(void* context), void* context);

// Returns whether a program writes what another thread may reach.
bool writes_shared(const Program& p);

}  // namespace lamella::graph
