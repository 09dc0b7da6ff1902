// The lock of the attributes and containers that several threads may reach.
//
// Note [Shared state] Tensors are handles that do not change, an attribute of an instance is read and replaced as a whole,
//   and a list that one function makes and fills is its own. Other lists and dictionaries, and attributes that are read
//   and then written, could be seen half changed by another thread. A program that uses such (Executable::uses_shared)
//   holds one lock of the process while it runs. It leaves the lock around operators, functions of the host, printing
//   and waiting, and every 1024 steps. Functions that read the containers of a program from outside take the lock, too.
//   All other programs run without a lock.
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

// Returns whether a program writes what another thread may reach, or reads containers that another thread may write.
bool uses_shared(const Program& p);

}  // namespace lamella::graph
