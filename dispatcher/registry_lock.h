// The registry's lock: one for all registrations, since a registration of one kind changes the tables of others.
//
// Note [Two locks]  A registration may call into the host language under this lock, and so wait for that language's
//   lock. A thread that holds the language's lock therefore never waits for this one: it releases the language's lock
//   first, waits, and tries again.
// Note [Fork]  A thread that forks takes this lock, so that its child finds the registry consistent. It waits for a
//   limited time only: the lock's holder may be waiting for a lock that the host language keeps throughout its fork. If
//   the time is over, the child gets a new lock, and the registry is as the other thread left it at that moment.
#pragma once

#include <atomic>
#include <mutex>

namespace lamella::dispatcher {

// A recursive mutex that also works after a fork: the child's thread has another id, by which a std::recursive_mutex
// would not recognize the thread that locked it.
class RegistryMutex {
 public:
  void lock();
  void unlock() {
    if (--depth_) return;
    owner_.store(nullptr, std::memory_order_relaxed);
    mutex_.unlock();
  }
  bool lock_within(int milliseconds);  // false if the time is over and the mutex is not locked

 private:
  bool again();  // if this thread has the lock: counts once more and returns true
  void take();
  std::mutex mutex_;
  std::atomic<const void*> owner_{nullptr};
  int depth_ = 0;
};

// The one lock; a thread may take it again while it holds it.
RegistryMutex& registry_mutex();

class RegistryLock : public std::lock_guard<RegistryMutex> {
 public:
  RegistryLock() : lock_guard(registry_mutex()) {}
};

// The binding sets these: `step_aside` releases the language's lock if this thread has it, and returns a token for
// `come_back`, or null if this thread does not have it.
void set_host_lock(void* (*step_aside)(), void (*come_back)(void* token));
// Calls a function while this thread does not have the language's lock.
void without_host_lock(void (*wait)(void* context), void* context);

}  // namespace lamella::dispatcher
