// The registry's lock: one for all that is registered, since a registration of one noun changes the tables of others.
//
// Note [Two locks]  A registration may call into the host language under this lock, and so wait for that language's
//   lock. A thread that holds the language's lock therefore never waits for this one: it lets the language's lock go
//   first, waits, and tries again.
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
