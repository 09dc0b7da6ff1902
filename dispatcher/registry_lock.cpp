#include "dispatcher/registry_lock.h"

#include <chrono>
#include <new>
#include <thread>

#include "core/fork.h"

namespace lamella::dispatcher {
namespace {

struct HostLock {
  void* (*step_aside)() = nullptr;
  void (*come_back)(void*) = nullptr;
};
std::atomic<const HostLock*> host{nullptr};

constexpr int patience = 5000;  // ms; see Note [Fork]
__thread bool taken_for_fork = false;

// Returns an address that identifies a thread, also in a child of fork.
const void* this_thread() {
  static thread_local char own;
  return &own;
}

void before_fork() { taken_for_fork = registry_mutex().lock_within(patience); }
void in_parent() {
  if (taken_for_fork) registry_mutex().unlock();
}
void in_child() {
  if (taken_for_fork)
    registry_mutex().unlock();
  else
    new (&registry_mutex()) RegistryMutex;
}

}  // namespace

RegistryMutex& registry_mutex() {
  static auto* mutex = [] {
    core::around_fork_outermost({before_fork, in_parent, in_child});
    return new RegistryMutex;  // outlives every static destructor
  }();
  return *mutex;
}

void set_host_lock(void* (*step_aside)(), void (*come_back)(void*)) {
  host.store(new HostLock{step_aside, come_back});  // never freed
}

void without_host_lock(void (*wait)(void*), void* context) {
  const HostLock* h = host.load();
  void* token = h ? h->step_aside() : nullptr;
  wait(context);
  if (token) h->come_back(token);
}

bool RegistryMutex::again() {
  if (owner_.load(std::memory_order_relaxed) != this_thread()) return false;
  depth_++;
  return true;
}

void RegistryMutex::take() {
  owner_.store(this_thread(), std::memory_order_relaxed);
  depth_ = 1;
}

void RegistryMutex::lock() {
  if (again()) return;
  while (!mutex_.try_lock()) {
    const HostLock* h = host.load();
    void* token = h ? h->step_aside() : nullptr;
    mutex_.lock();
    if (!token) break;
    mutex_.unlock();
    h->come_back(token);
  }
  take();
}

bool RegistryMutex::lock_within(int milliseconds) {
  if (again()) return true;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (!mutex_.try_lock()) {
    if (std::chrono::steady_clock::now() > end) return false;
    const HostLock* h = host.load();
    void* token = h ? h->step_aside() : nullptr;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (token) h->come_back(token);
  }
  take();
  return true;
}

}  // namespace lamella::dispatcher
