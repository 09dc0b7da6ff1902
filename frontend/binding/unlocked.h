// Counts native work that uses tensors' memory without the interpreter's lock, so that memory is moved only while there
// is none.
#pragma once

#include "frontend/binding/python.h"

namespace lamella::binding {

// Note [Work without the lock]  A kernel, a backward or a save uses addresses of tensors while other threads run
//   Python. Code that frees the memory of a live tensor, such as share_memory_, must wait for such work. It is counted
//   here, where the frontend releases the lock. The count is changed only with the lock held, so it needs no atomic
//   instructions, and no work can begin while the reader of the count holds the lock. While a thread waits to move
//   memory, short calls keep the lock and long works wait; otherwise the waiting might never end. A backward that calls
//   a hook or a node of Python holds tensors but no addresses, and does not count during that call: the call may move
//   memory itself, or wait for a thread that does.
struct Work {
  int64_t running = 0;  // the number of works without the lock, in all threads; changed with the lock held
  int64_t movers = 0;   // threads that move memory, or wait until only their own works run
};
extern Work work_unlocked;
int64_t& own_work();  // the number of this thread's works; includes a work that calls Python code, unless it is paused

void* begin_unlocked();          // releases the lock; the thread's first work waits until no thread moves memory
void end_unlocked(void* state);  // takes the lock back

// Called before Python code that a backward calls, with the lock held. If the backward is the thread's only work, it
// does not count until resume_unlocked(), and 1 is returned. Else nothing changes, and 0 is returned.
int pause_unlocked();
void resume_unlocked();  // called after that code if pause_unlocked() returned 1

// The interface "python.unlocking": these functions for other libraries.
struct Unlocking {
  void* (*begin)();
  void (*end)(void* state);
  int (*pause)();
  void (*resume)();
};

// Returns whether a short call may release the lock.
inline bool may_unlock() { return work_unlocked.movers == 0; }

// Runs f without the interpreter's lock. No exception may leave `f`.
template <class F>
auto unlocked(F&& f) {
  void* state = begin_unlocked();
  auto r = f();
  // end_unlocked() may end the thread by unwinding it, after Python has ended; therefore it is called in no destructor.
  end_unlocked(state);
  return r;
}

// While an Exclusive that converts to true lives and its maker holds the lock, no other thread works on tensors. The
// constructor releases the lock while it waits, and throws the exception of a signal handler that ran meanwhile.
class Exclusive {
 public:
  explicit Exclusive(double seconds);
  explicit operator bool() const { return exclusive_; }  // false if other works still ran after `seconds`

 private:
  struct Mover {  // its destructor lowers the count also if the wait throws
    Mover() { work_unlocked.movers++; }
    Mover(const Mover&) = delete;
    ~Mover() { work_unlocked.movers--; }
  } mover_;
  bool exclusive_;
};

void watch_unlocked();  // sets a handler of fork: a child has the forking thread's works only

}  // namespace lamella::binding
