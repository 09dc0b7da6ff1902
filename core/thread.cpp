#include "core/thread.h"

#include <cstdlib>

#include "core/device.h"

namespace lamella::core {

__thread ThreadState* current_thread __attribute__((tls_model("initial-exec"))) = nullptr;
void (*destroy_thread_slot)(int, void*) = nullptr;

ThreadState::ThreadState() {
  shared.size = sizeof shared;
  shared.default_device = {-1, 0};  // "the host backend, once there is one"
}

ThreadState::~ThreadState() {
  for (size_t i = 0; i < slots.size(); i++)
    if (slots[i] && destroy_thread_slot) destroy_thread_slot(static_cast<int>(i), slots[i]);
  error.clear();
  while (void* p = tensors.pop()) std::free(p);
  while (void* p = storages.pop()) std::free(p);
}

namespace {
// Owns the state until the thread ends. What runs after that (other destructors) starts a new state, which leaks
// by a few hundred bytes rather than dangles.
struct Owner {
  ThreadState state;
  ~Owner() { current_thread = nullptr; }
};
}  // namespace

ThreadState& start_thread() {
  static thread_local bool ended = false;
  struct Mark {
    ~Mark() { ended = true; }
  };
  if (ended) return *(current_thread = new ThreadState);
  static thread_local Mark mark;
  static thread_local Owner owner;
  (void)mark;
  return *(current_thread = &owner.state);
}

}  // namespace lamella::core
