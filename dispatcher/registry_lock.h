// The registry's lock.
//
// Note [Two locks]  A registration may call into the host language under this lock, and so wait for that one's own. So
//   nobody waits for this one while holding that: who would have to steps aside first, and comes back to try again.
#pragma once

#include <mutex>

namespace lamella::dispatcher {

class RegistryMutex {
 public:
  void lock();
  void unlock() { mutex_.unlock(); }

 private:
  std::recursive_mutex mutex_;
};
using RegistryLock = std::lock_guard<RegistryMutex>;

// By the binding: `step_aside` lets go of the language's lock, if this thread has it, and gives a token for
// `come_back`, or null.
void set_host_lock(void* (*step_aside)(), void (*come_back)(void* token));

}  // namespace lamella::dispatcher
