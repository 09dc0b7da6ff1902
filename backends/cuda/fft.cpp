// The calls of cuFFT, which is opened at run time, and its plans. A device's plans are shared by all threads and
// streams: each run brings its own work space from the allocator, and a lock keeps a plan to one thread during a call.
#include "fft.h"

#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "blas.h"
#include "memory.h"
#include "operands.h"
#include "shared_library.h"

namespace cuda {
namespace {

// Constants of NVIDIA's headers, with their names.
constexpr int CUFFT_ALLOC_FAILED = 2, CUFFT_INVALID_TYPE = 3, CUFFT_INVALID_VALUE = 4, CUFFT_INTERNAL_ERROR = 5,
              CUFFT_INVALID_SIZE = 8, CUFFT_INVALID_DEVICE = 11, CUFFT_NOT_IMPLEMENTED = 14, CUFFT_NOT_SUPPORTED = 16;
constexpr int CUFFT_FORWARD = -1, CUFFT_INVERSE = 1;

using cufftHandle = int;

// X(member, symbol of the library, parameters)
#define CUDA_FFT_FUNCTIONS(X)                                                                                    \
  X(create, "cufftCreate", (cufftHandle*))                                                                       \
  X(destroy, "cufftDestroy", (cufftHandle))                                                                      \
  X(set_automatic, "cufftSetAutoAllocation", (cufftHandle, int))                                                 \
  X(make, "cufftXtMakePlanMany",                                                                                 \
    (cufftHandle, int, long long*, long long*, long long, long long, int, long long*, long long, long long, int, \
     long long, size_t*, int))                                                                                   \
  X(set_stream, "cufftSetStream", (cufftHandle, CUstream))                                                       \
  X(set_space, "cufftSetWorkArea", (cufftHandle, void*))                                                         \
  X(run, "cufftXtExec", (cufftHandle, void*, void*, int))

struct Fft {
  CUDA_FFT_FUNCTIONS(CUDA_MEMBER)
  bool there = false;

  Fft() {
    for (const char* version : {"12", "11"}) {  // of CUDA 13 and of CUDA 12
      SharedLibrary library(std::string("libcufft.so.") + version);
      CUDA_FFT_FUNCTIONS(CUDA_FIND)
      if ((there = library.whole())) return;
    }
  }
};
const Fft& fft() {
  static const Fft opened;
  return opened;
}

lamella_status raise_fft(int status, const char* function) {
  return fail(LAMELLA_RUNTIME_ERROR, text("cuda: cuFFT: ", function, ": status ", status));
}
// Returns whether a status says that cuFFT does not support the problem. The operator has checked its arguments, so
// that this is not the caller's error.
bool fft_refuses(int status) {
  return status == CUFFT_INVALID_TYPE || status == CUFFT_INVALID_VALUE || status == CUFFT_INVALID_SIZE ||
         status == CUFFT_INVALID_DEVICE || status == CUFFT_NOT_IMPLEMENTED || status == CUFFT_NOT_SUPPORTED;
}

struct FftPlan {
  std::mutex mutex;  // held while a thread sets the stream and the work space, and runs the plan
  cufftHandle handle = -1;
  size_t space = 0;
  bool refused = false;   // cuFFT does not support the problem
  bool captured = false;  // a graph reads the plan's memory

  FftPlan() = default;
  FftPlan(const FftPlan&) = delete;
  ~FftPlan() { destroy(); }
  void destroy() {
    if (handle >= 0 && !in_forked_child()) fft().destroy(handle);
    handle = -1;
  }
};

// The plans of a device, of which those that were not used for the longest time are dropped. The names of the members
// are those of torch's cufft_plan_cache.
class FftPlans {
 public:
  std::shared_ptr<FftPlan> find(const FftProblem& problem) {
    std::lock_guard lock(mutex_);
    const auto at = places_.find(problem);
    if (at == places_.end()) return nullptr;
    order_.splice(order_.begin(), order_, at->second);
    return at->second->second;
  }
  // Keeps a plan and returns it. If another thread has kept a plan of the problem meanwhile, returns that plan instead.
  std::shared_ptr<FftPlan> keep(const FftProblem& problem, std::shared_ptr<FftPlan> plan) {
    std::lock_guard lock(mutex_);
    if (const auto at = places_.find(problem); at != places_.end()) return at->second->second;
    if (!max_size_) return plan;
    shrink(max_size_ - 1);
    order_.emplace_front(problem, plan);
    places_.emplace(problem, order_.begin());
    return plan;
  }
  int64_t size() {
    std::lock_guard lock(mutex_);
    return static_cast<int64_t>(order_.size());
  }
  int64_t max_size(std::optional<int64_t> to) {
    std::lock_guard lock(mutex_);
    if (to) shrink(static_cast<size_t>(*to)), max_size_ = static_cast<size_t>(*to);
    return static_cast<int64_t>(max_size_);
  }
  void clear() {
    std::lock_guard lock(mutex_);
    shrink(0);
  }
  // Keeps a plan forever, for the graphs that read its memory.
  void hold(const std::shared_ptr<FftPlan>& plan) {
    std::lock_guard lock(mutex_);
    held_.push_back(plan);
  }

 private:
  using Entry = std::pair<FftProblem, std::shared_ptr<FftPlan>>;
  struct Hash {
    size_t operator()(const FftProblem& p) const {
      return std::hash<std::string_view>()({reinterpret_cast<const char*>(&p), sizeof p});
    }
  };
  static_assert(std::has_unique_object_representations_v<FftProblem>, "its bytes are hashed");

  void shrink(size_t most) {
    while (order_.size() > most) {
      places_.erase(order_.back().first);
      order_.pop_back();
    }
  }

  std::mutex mutex_;
  size_t max_size_ = 4096;  // torch's number
  std::list<Entry> order_;  // the plan used last comes first
  std::unordered_map<FftProblem, std::list<Entry>::iterator, Hash> places_;
  std::vector<std::shared_ptr<FftPlan>> held_;
};
FftPlans& plans_of(int device) {
  static auto* all = new FftPlans[most_devices];
  return all[device];
}

// Makes the plan's handle. A handle that has failed cannot be used again, so that each attempt has its own.
lamella_status make(int device, const FftProblem& p, FftPlan& plan) {
  const int real = blas_type(p.wide ? LAMELLA_FLOAT64 : LAMELLA_FLOAT32),
            complex = blas_type(p.wide ? LAMELLA_COMPLEX128 : LAMELLA_COMPLEX64);
  const char* function = nullptr;
  const auto numbers = [](const int64_t(&from)[3]) { return std::vector<long long>(from, from + 3); };
  std::vector<long long> size = numbers(p.size), in = numbers(p.in.embed), out = numbers(p.out.embed);
  const auto attempt = [&] {
    plan.destroy();
    cufftHandle made = -1;
    function = "cufftCreate";
    if (const int status = fft().create(&made)) return status;
    plan.handle = made;
    function = "cufftSetAutoAllocation";
    if (const int status = fft().set_automatic(made, 0)) return status;
    function = "cufftXtMakePlanMany";
    return fft().make(made, p.rank, size.data(), in.data(), p.in.step, p.in.batch_step,
                      p.kind == FftKind::real_to_complex ? real : complex, out.data(), p.out.step, p.out.batch_step,
                      p.kind == FftKind::complex_to_real ? real : complex, p.batches, &plan.space, complex);
  };
  // When memory is short, either status may come.
  const int status = with_room({CUFFT_ALLOC_FAILED, CUFFT_INTERNAL_ERROR}, attempt);
  if (!status) return LAMELLA_OK;
  plan.destroy();
  if (status == CUFFT_ALLOC_FAILED) return raise_lack(device, text("cuda: cuFFT: ", function));
  if (!fft_refuses(status)) return raise_fft(status, function);
  plan.refused = true;
  return LAMELLA_OK;
}

bool is_captured(CUstream stream) {
  int status = 0;
  if (stream != legacy_stream) require(driver().capture_status(stream, &status), "cuda: cuFFT");
  return status != 0;
}

lamella_status plan_of(int device, const FftProblem& p, bool captured, std::shared_ptr<FftPlan>* out) {
  FftPlans& plans = plans_of(device);
  if ((*out = plans.find(p))) return LAMELLA_OK;
  if (captured)
    return fail(LAMELLA_RUNTIME_ERROR,
                "cuda: cuFFT makes no plan during a capture: run the transform once before, with the same shape and "
                "strides, and keep lamella.backends.cuda.cufft_plan_cache.max_size above the number of plans");
  auto plan = std::make_shared<FftPlan>();
  if (lamella_status st = make(device, p, *plan)) return st;
  *out = plans.keep(p, std::move(plan));
  return LAMELLA_OK;
}

int64_t cufft_plan_cache(int64_t device, std::string_view what, std::optional<int64_t> number) {
  LAMELLA_CHECK_INDEX(device >= 0 && device < device_count(), "cufft_plan_cache: device 'cuda:", device,
                      "' does not exist; there are ", device_count());
  FftPlans& plans = plans_of(static_cast<int>(device));
  LAMELLA_CHECK(!number || *number >= 0, "cufft_plan_cache: max_size: expected at least 0, got ", number.value_or(0));
  if (what == "size") return plans.size();
  if (what == "max_size" && !number) return plans.max_size(number);
  LAMELLA_CHECK(what == "max_size" || what == "clear", "cufft_plan_cache: there is no '", what, "'");
  enter(static_cast<int>(device));
  if (what == "max_size") return plans.max_size(number);
  plans.clear();
  return 0;
}

}  // namespace

bool fft_there() { return fft().there; }

lamella_status fft_run(const lamella_tensor* on, const FftProblem& p, const void* in, void* out, bool forward,
                       bool* done) {
  *done = false;
  const int device = index_of(on);
  enter(device);
  const CUstream stream = current_stream(device);
  const bool captured = is_captured(stream);
  std::shared_ptr<FftPlan> plan;
  if (lamella_status st = plan_of(device, p, captured, &plan)) return st;
  if (plan->refused) return LAMELLA_OK;
  // The space is free again when this function returns, for work that is queued later on the stream.
  const Tensor space = plan->space ? space_on(on, static_cast<int64_t>(plan->space)) : Tensor();
  std::lock_guard lock(plan->mutex);
  if (captured && !plan->captured) {
    plans_of(device).hold(plan);
    plan->captured = true;
  }
  if (const int status = fft().set_stream(plan->handle, stream)) return raise_fft(status, "cufftSetStream");
  if (space.defined())
    if (const int status = fft().set_space(plan->handle, space.data_ptr()))
      return raise_fft(status, "cufftSetWorkArea");
  if (const int status = fft().run(plan->handle, const_cast<void*>(in), out, forward ? CUFFT_FORWARD : CUFFT_INVERSE))
    return raise_fft(status, "cufftXtExec");
  *done = true;
  return LAMELLA_OK;
}

LAMELLA_LIBRARY_FRAGMENT(cuda, m) {
  m.def("_cufft_plan_cache(int device, str what, int? number=None) -> int", cufft_plan_cache);
}

}  // namespace cuda
