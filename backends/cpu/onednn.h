// oneDNN, opened when it is first asked for: its functions by name, and what must hold while it computes.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cstdint>
#include <memory>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace lattis::cpu {

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

// A two-dimensional float32 convolution of one image, without groups; strides of the memory in elements.
struct ConvolutionShape {
  int64_t in, outs, image[2], kernel[2], stride[2], padding[2], dilation[2], places[2];
  int64_t from[3], to[3];  // of channel, row and column
  bool bias;

  bool operator==(const ConvolutionShape&) const = default;
};

// Up to so many channels, an image is read as it lies.
inline constexpr int64_t few_channels = 4;

// oneDNN's primitives for one shape; any number of threads may use them at once.
class OnednnConvolution {
 public:
  virtual ~OnednnConvolution() = default;
  virtual int64_t space() const = 0;  // bytes that a thread lends to `run`, the same ones for all its images
  // What is packed of the weight stays in the space: only the first image packs.
  virtual bool run(const float* image, const float* weight, const float* bias, float* out, char* space,
                   bool first) const = 0;
};

// From a cache of the last shapes; null where oneDNN is not there or has nothing fast for the shape.
std::shared_ptr<const OnednnConvolution> onednn_convolution(const ConvolutionShape& s);

}  // namespace lattis::cpu
