// A collective of one group: the job, which holds what it reads and writes, and the counted object by which others wait.
#pragma once

#include <lamella/dispatcher.h>
#include <lamella/distributed.h>
#include <lamella/tensor.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>

namespace lamella::distributed {

extern std::atomic<bool> forked;  // this is the child of a process: groups live in the parent alone

// Calls a function that may wait for other processes. The host language's lock is released meanwhile.
template <class F>
void without_host_lock(F&& f) {
  struct Call {
    F& f;
    std::exception_ptr error;
  } call{f, {}};
  static const auto* table = static_cast<const lamella_dispatcher*>(api().find_interface("dispatcher", 1));
  table->without_host_lock(
      [](void* context) {
        auto& c = *static_cast<Call*>(context);
        try {
          c.f();
        } catch (...) {
          c.error = std::current_exception();
        }
      },
      &call);
  if (call.error) std::rethrow_exception(call.error);
}

struct Job {
  lamella_collective collective{};
  Tensor input, output;                  // contiguous host memory; the collective points into it
  int64_t shape[LAMELLA_MAX_DIMS] = {};  // of the caller's tensor, for the comparison of calls
  int ndim = 0;
  std::vector<int64_t> gives, gets;  // of all_to_all: elements for each rank, and from each
  bool mean = false;                 // a sum that is divided by the number of ranks
  int64_t entry = -1;                // in the flight recorder
  std::string file;                  // where the program makes the call, if the recorder is on
  int line = 0;
  Tensor target;                // defined if `output` is not the caller's memory: it is copied there at the end
  std::vector<Tensor> between;  // memory of the plugin's own that the engine reads and writes
};

class Work {
 public:
  lamella_object object;

  static Work* make(Job job) { return new Work(std::move(job)); }
  static Work& of(lamella_object* o);

  Job& job() { return job_; }
  // Ends the work: well, or with the error that is pending on this thread.
  void finish(bool failed, int sender);
  bool done();
  bool failed();
  int sender();  // of a receipt that is done, else -1
  // Waits for the end; a negative limit is none, since the group limits each collective. Raises the error of a work that
  // failed. Returns the sender of a receipt.
  int wait(std::chrono::nanoseconds limit);

 private:
  explicit Work(Job job);
  static const lamella_object_type type;

  Job job_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  int sender_ = -1;
  std::optional<Error> error_;  // of a work that failed, which each wait raises
};

// Owns one reference.
class WorkRef {
 public:
  WorkRef(std::nullptr_t) {}
  explicit WorkRef(Work* owned) : work_(owned) {}
  WorkRef(const WorkRef& o) : work_(o.work_) { api().retain(work_); }  // null does nothing
  WorkRef(WorkRef&& o) noexcept : work_(std::exchange(o.work_, nullptr)) {}
  WorkRef& operator=(WorkRef o) noexcept {
    std::swap(work_, o.work_);
    return *this;
  }
  ~WorkRef() { api().release(work_); }
  Work* operator->() const { return work_; }
  bool operator==(const WorkRef& o) const { return work_ == o.work_; }
  lamella_object* take() { return reinterpret_cast<lamella_object*>(std::exchange(work_, nullptr)); }

 private:
  Work* work_ = nullptr;
};

}  // namespace lamella::distributed
