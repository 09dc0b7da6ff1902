// Native work on tensors' memory without the interpreter's lock; it is counted, so that memory moves while none runs.
#pragma once

#include "frontend/binding/python.h"

namespace lamella::binding {

// Note [Work without the lock]
// A kernel, a backward or a save holds addresses while other threads run Python. Whoever frees memory under a tensor
// that lives on, as share_memory_ does, must know of them. They are counted here, where the frontend gives the lock up,
// and with the lock held: the count needs no atomic instructions, and nothing can begin while its reader holds the
// lock. While a thread waits to move memory, calls keep the lock and longer works wait, or it would never have its
// turn. A backward that calls a hook or a node of Python's holds tensors and no addresses, and does not count until
// that returns: it may move memory itself, or wait for a thread that does.
struct Work {
  int64_t running = 0;  // without the lock, in all threads; changed with the lock held
  int64_t movers = 0;   // threads that wait until none runs besides their own
};
extern Work work_unlocked;
int64_t& own_work();  // of this thread: more than 0 where a hook or a kernel has called Python

void* begin_unlocked();          // gives the lock up; waits before for those who move memory
void end_unlocked(void* state);  // takes it back

// Around Python that a backward calls, with the lock held. False: the thread is also within other work, which counts
// on.
int pause_unlocked();
void resume_unlocked();

// The same for other libraries, as the interface "python.unlocking".
struct Unlocking {
  void* (*begin)();
  void (*end)(void* state);
  int (*pause)();
  void (*resume)();
};

// For short works: whether to give the lock up at all.
inline bool may_unlock() { return work_unlocked.movers == 0; }

// No exception may leave `f`.
template <class F>
auto unlocked(F&& f) {
  void* state = begin_unlocked();
  auto r = f();
  end_unlocked(state);  // may end the thread, by unwinding it, when Python has ended: this is no destructor's
  return r;
}

// While it lives, and its maker holds the lock, no other thread works on tensors. It waits without the lock, and throws
// what a signal's handler raises meanwhile.
class Alone {
 public:
  explicit Alone(double seconds);
  explicit operator bool() const { return alone_; }  // false: others still ran when the seconds were over

 private:
  struct Mover {  // its end is also that of a wait that was interrupted
    Mover() { work_unlocked.movers++; }
    Mover(const Mover&) = delete;
    ~Mover() { work_unlocked.movers--; }
  } mover_;
  bool alone_;
};

void watch_unlocked();  // in a child of fork only the thread that forked is left

}  // namespace lamella::binding
