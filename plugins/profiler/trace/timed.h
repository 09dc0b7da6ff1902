// TimedKernels: times the kernels of a backend without the interface of traces, by events that are recorded before and
// after each kernel.
#pragma once

#include <lamella/library.h>
#include <lamella/profiler.h>

#include <mutex>
#include <vector>

namespace lamella::profiler {

struct Trace;

class TimedKernels {
 public:
  explicit TimedKernels(std::vector<int32_t> backends) : backends_(std::move(backends)) {}
  TimedKernels(const TimedKernels&) = delete;
  ~TimedKernels();
  uint64_t observer = 0;

  void* enter(const lamella_record*);
  void leave(const lamella_record*, void* state);
  void read(Trace&);  // waits for the events, and adds an activity for each kernel

 private:
  struct Pair {
    lamella_device device;
    const char* name;
    uint64_t stream, launch;
    void *begin, *end;
  };
  static void* event(lamella_device);
  static void destroy(const Pair&);
  const std::vector<int32_t> backends_;
  std::mutex mutex_;
  std::vector<Pair> pairs_;
};

// Times the wanted devices that have events with timing; adds a note for each wanted device that has none.
lamella_status time_kernels(Trace&);
void end_timed(Trace&);
void drop_timed(Trace&);  // ends the timing without waiting for events; enough in a child of fork

}  // namespace lamella::profiler
