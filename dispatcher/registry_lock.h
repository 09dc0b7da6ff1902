// The registry's lock: one for all that is registered, since a registration of one noun changes the tables of others.
//
// Note [Two locks]  A registration may call into the host language under this lock, and so wait for that language's
//   lock. A thread that holds the language's lock therefore never waits for this one: it lets the language's lock go
//   first, waits, and tries again.
// Note [Fork]  A thread that forks takes this lock, so that its child finds the registry whole. It waits for a while
//   only: who holds it may be waiting for a lock that the host language keeps throughout its fork. Then the child gets
//   a new lock, and finds what the other thread was changing as it was at that moment.
#pragma once

#include <atomic>
#include <mutex>

namespace lamella::dispatcher {

// Counts by itself how often its thread has taken it: in a child of fork the thread has another number, by which a
// std::recursive_mutex would not know it again.
class RegistryMutex {
 public:
  void lock();
  void unlock() {
    if (--depth_) return;
    owner_.store(nullptr, std::memory_order_relaxed);
    mutex_.unlock();
  }
  bool lock_within(int milliseconds);

 private:
  bool again();  // this thread has it, once more now
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

// The binding sets these: `step_aside` lets go of the language's lock if this thread has it, and gives a token for
// `come_back`, or null.
void set_host_lock(void* (*step_aside)(), void (*come_back)(void* token));

}  // namespace lamella::dispatcher
