#include "core/thread.h"

#include <cstdlib>
#include <new>
#include <utility>

#include "core/device.h"

namespace lamella::core {

__thread ThreadState* current_thread __attribute__((tls_model("initial-exec"))) = nullptr;
void (*destroy_thread_slot)(int, void*) = nullptr;

ThreadState::ThreadState() {
  shared.size = sizeof shared;
  shared.default_device = {-1, 0};  // "the host backend, once there is one"
}

ThreadState::~ThreadState() {
  for (bool any = destroy_thread_slot != nullptr; any;) {  // destroying one may look at the others, or set one
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
}

namespace {
// Owns the state until the thread ends. It stays the thread's while its own slots are destroyed. What runs after that
// (other destructors) starts a new state, which leaks by a few hundred bytes rather than dangles.
thread_local bool ended = false;
struct Owner {
  alignas(ThreadState) char memory[sizeof(ThreadState)];  // not from the heap: the first to need it may be an error
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
