#include "core/thread.h"

#include <cstdlib>
#include <new>
#include <utility>

#include "core/device.h"
#include "core/fork.h"

namespace lamella::core {

__thread ThreadState* current_thread __attribute__((tls_model("initial-exec"))) = nullptr;
void (*destroy_thread_slot)(int, void*) = nullptr;

namespace {
ThreadState* threads = nullptr;  // the first of the list; a child of a fork has its one thread

std::mutex& list_mutex() {
  static std::mutex& mutex = [&]() -> std::mutex& {
    around_fork({nullptr, nullptr, [] {
                   threads = current_thread;
                   if (threads) threads->next = threads->previous = nullptr;
                 }});
    return new_innermost_mutex();
  }();
  return mutex;
}
}  // namespace

LayersOfThreads layers_of_threads() {
  std::lock_guard lock(list_mutex());
  LayersOfThreads all;
  for (const ThreadState* t = threads; t; t = t->next) {
    all.included |= __atomic_load_n(&t->shared.include, __ATOMIC_RELAXED);
    all.excluded |= __atomic_load_n(&t->shared.exclude, __ATOMIC_RELAXED);
  }
  return all;
}

ThreadState::ThreadState() {
  {
    std::lock_guard lock(list_mutex());
    next = threads;
    if (next) next->previous = this;
    threads = this;
  }
  shared.size = sizeof shared;
  shared.default_device = {-1, 0};  // stands for the host backend, once it is registered
}

ThreadState::~ThreadState() {
  for (bool any = destroy_thread_slot != nullptr; any;) {  // destroying a state may read the other slots, or set one
    any = false;
    for (size_t i = 0; i < slots.size(); i++)
      if (void* state = std::exchange(slots[i], nullptr)) {
        destroy_thread_slot(static_cast<int>(i), state);
        any = true;
      }
  }
  error.clear();
  while (void* p = tensors.pop()) std::free(p);
  while (void* p = storages.pop()) std::free(p);
  std::lock_guard lock(list_mutex());
  (previous ? previous->next : threads) = next;
  if (next) next->previous = previous;
}

namespace {
// Owner holds the thread's state until the thread ends; current_thread points to the state while its slots are
// destroyed. Destructors that run later start a new state, which leaks a few hundred bytes rather than dangles.
thread_local bool ended = false;
struct Owner {
  // Not on the heap: the first use may raise an out-of-memory error.
  alignas(ThreadState) char memory[sizeof(ThreadState)];
  ThreadState* state = new (memory) ThreadState;
  ~Owner() {
    ended = true;
    state->~ThreadState();
    current_thread = nullptr;
  }
};
}  // namespace

ThreadState& start_thread() {
  if (ended) return *(current_thread = new ThreadState);
  static thread_local Owner owner;
  return *(current_thread = owner.state);
}

}  // namespace lamella::core
