#include "backends/cpu/gemm.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#include <string>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace lattis::cpu {
namespace {

using Sgemm = int (*)(char, char, int64_t, int64_t, int64_t, float, const float*, int64_t, const float*, int64_t, float,
                      float*, int64_t);

// The library lies beside this plugin in the package. Its 50 MB are mapped when a product first asks.
Sgemm load() {
  Dl_info self;
  if (!dladdr(reinterpret_cast<void*>(&load), &self)) return nullptr;
  std::string path = self.dli_fname;
  path = path.substr(0, path.rfind('/') + 1) + "libdnnl.so.3";
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return handle ? reinterpret_cast<Sgemm>(dlsym(handle, "dnnl_sgemm")) : nullptr;
}

Sgemm sgemm() {
  static const Sgemm f = load();
  return f;
}

}  // namespace

bool onednn_available() { return sgemm() != nullptr; }

namespace {

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

}  // namespace

bool onednn_sgemm(const Gemm& g) {
  Sgemm f = sgemm();
  if (!f) return false;
  [[maybe_unused]] OneThread guard;
  SignalsWait wait;
  const bool a_rows = g.a_column == 1, b_rows = g.b_column == 1;
  return f(a_rows ? 'N' : 'T', b_rows ? 'N' : 'T', g.m, g.n, g.k, 1.0f, static_cast<const float*>(g.a),
           a_rows ? g.a_row : g.a_column, static_cast<const float*>(g.b), b_rows ? g.b_row : g.b_column, 0.0f,
           static_cast<float*>(g.c), g.c_row) == 0;
}

}  // namespace lattis::cpu
