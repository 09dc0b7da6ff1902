// oneDNN, opened at its first use: its functions by name, and guards for its threads and for signals.
#pragma once

#include <pthread.h>
#include <signal.h>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace lamella::cpu {

// Returns a function of oneDNN; null if the library is not there or has no such function.
void* onednn_symbol(const char* name);

// Gives oneDNN one thread, whatever its own default, since parallel_for has shared out the work already.
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
// one more register. So signals are blocked while an object of this class lives.
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
