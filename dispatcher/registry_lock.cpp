#include "dispatcher/registry_lock.h"

#include <pthread.h>

#include <atomic>
#include <new>

namespace lamella::dispatcher {
namespace {

struct HostLock {
  void* (*step_aside)() = nullptr;
  void (*come_back)(void*) = nullptr;
};
std::atomic<const HostLock*> host{nullptr};

}  // namespace

RegistryMutex& registry_mutex() {
  static auto* mutex = [] {
    // A child of fork finds it free: a thread that held it is not there any more.
    pthread_atfork(nullptr, nullptr, [] { new (&registry_mutex()) RegistryMutex; });
    return new RegistryMutex;  // outlives every static destructor
  }();
  return *mutex;
}

void set_host_lock(void* (*step_aside)(), void (*come_back)(void*)) {
  host.store(new HostLock{step_aside, come_back});  // never freed
}

void RegistryMutex::lock() {
  while (!mutex_.try_lock()) {
    const HostLock* h = host.load();
    void* token = h ? h->step_aside() : nullptr;
    mutex_.lock();
    if (!token) return;
    mutex_.unlock();
    h->come_back(token);
  }
}

}  // namespace lamella::dispatcher
