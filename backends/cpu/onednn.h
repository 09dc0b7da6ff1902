// oneDNN, opened when it is first asked for: its functions by name, and what must hold while it computes.
#pragma once

#include <pthread.h>
#include <signal.h>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace lamella::cpu {

// A function of oneDNN's, or null: the library is not there, or knows no such name.
void* onednn_symbol(const char* name);

// parallel_for has cut the work already: oneDNN gets one thread, whatever its own default.
class OneThread {
#ifdef _OPENMP
 public:
  OneThread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~OneThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }

 private:
  int before_;
#endif
};

// A signal that arrives while oneDNN 3.2 multiplies corrupts the heap; with signals blocked, or handlers on a stack of
// their own, it does not (tests/faults/test_process.py). The likely cause: its generated code uses the stack pointer as
// one more register. Signals wait until the panel is done.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsWait() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace lamella::cpu
