// The state of a thread: one struct, found by one initial-exec pointer. Frames pass its public part to kernels.
#pragma once

#include <lamella/c_api.h>

#include <vector>

#include "core/error.h"

namespace lamella::core {

// A bounded stack of dead objects of one size, linked through their first word.
class FreeList {
 public:
  void* pop() {
    void* p = head_;
    if (p) {
      head_ = *static_cast<void**>(p);
      size_--;
    }
    return p;
  }
  bool push(void* p) {
    if (size_ >= capacity) return false;
    *static_cast<void**>(p) = head_;
    head_ = p;
    size_++;
    return true;
  }

 private:
#ifdef LAMELLA_NO_CACHE  // sanitizers must see every free
  static constexpr int capacity = 0;
#else
  static constexpr int capacity = 1024;
#endif
  void* head_ = nullptr;
  int size_ = 0;
};

struct ThreadState {
  lamella_thread shared{};
  lamella_frame* calling = nullptr;  // the innermost frame whose kernel or composite calls operators: their parent
  Error error;
  FreeList tensors, storages;
  std::vector<void*> slots;                          // plugins' thread-state slots, by index
  ThreadState *next = nullptr, *previous = nullptr;  // in the list of all threads' states

  ThreadState();
  ~ThreadState();
};

extern __thread ThreadState* current_thread __attribute__((tls_model("initial-exec")));
ThreadState& start_thread();  // slow path: the first use on this thread

inline ThreadState& this_thread() {
  ThreadState* t = current_thread;
  return __builtin_expect(t != nullptr, 1) ? *t : start_thread();
}

// The bits of layers that some thread includes, and those that some thread excludes.
struct LayersOfThreads {
  uint64_t included = 0, excluded = 0;
};
// Another thread may change its own bits at any moment.
LayersOfThreads layers_of_threads();

// Called at thread exit for each slot that holds something; set by the dispatcher, which owns the slot table.
extern void (*destroy_thread_slot)(int index, void* state);

}  // namespace lamella::core
