// The calls of cuDNN, which is opened at run time. A thread has a handle for each device. Each problem has a plan, so
// that a repeated call only looks it up. docs/decisions/0036-cudnn-by-its-legacy-interface.md says why these functions
// are called.
#include "dnn.h"

#include <algorithm>
#include <array>

#include "kept.h"
#include "memory.h"
#include "plans.h"

namespace cuda {
namespace {

using cudnnHandle = struct cudnnContext*;
using cudnnTensor = struct cudnnTensorStruct*;
using cudnnFilter = struct cudnnFilterStruct*;
using cudnnConvolution = struct cudnnConvolutionStruct*;

// Constants of NVIDIA's headers, with their names.
constexpr int CUDNN_DATA_FLOAT = 0, CUDNN_DATA_DOUBLE = 1, CUDNN_DATA_HALF = 2, CUDNN_DATA_BFLOAT16 = 9;
constexpr int CUDNN_TENSOR_NCHW = 0, CUDNN_TENSOR_NHWC = 1, CUDNN_CROSS_CORRELATION = 1, CUDNN_DETERMINISTIC = 1;
constexpr int CUDNN_DEFAULT_MATH = 0, CUDNN_TENSOR_OP_MATH = 1, CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION = 2,
              CUDNN_FMA_MATH = 3;

constexpr int CUDNN_STATUS_NOT_INITIALIZED = 1001, CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED = 4003,
              CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED = 4004;

// The layout of cudnnConvolutionFwdAlgoPerf_t. The structs of the two gradients are the same.
struct Performance {
  int algorithm, status;
  float time;
  size_t memory;
  int determinism, math, reserved[3];
};
static_assert(sizeof(Performance) == 48 && offsetof(Performance, memory) == 16 && offsetof(Performance, math) == 28);

// X(member, symbol of the library, parameters)
#define CUDA_DNN_FUNCTIONS(X)                                                                                    \
  X(create, "cudnnCreate", (cudnnHandle*))                                                                       \
  X(set_stream, "cudnnSetStream", (cudnnHandle, CUstream))                                                       \
  X(create_tensor, "cudnnCreateTensorDescriptor", (cudnnTensor*))                                                \
  X(destroy_tensor, "cudnnDestroyTensorDescriptor", (cudnnTensor))                                               \
  X(set_tensor, "cudnnSetTensorNdDescriptor", (cudnnTensor, int, int, const int*, const int*))                   \
  X(create_filter, "cudnnCreateFilterDescriptor", (cudnnFilter*))                                                \
  X(destroy_filter, "cudnnDestroyFilterDescriptor", (cudnnFilter))                                               \
  X(set_filter, "cudnnSetFilterNdDescriptor", (cudnnFilter, int, int, int, const int*))                          \
  X(create_convolution, "cudnnCreateConvolutionDescriptor", (cudnnConvolution*))                                 \
  X(destroy_convolution, "cudnnDestroyConvolutionDescriptor", (cudnnConvolution))                                \
  X(set_convolution, "cudnnSetConvolutionNdDescriptor",                                                          \
    (cudnnConvolution, int, const int*, const int*, const int*, int, int))                                       \
  X(set_groups, "cudnnSetConvolutionGroupCount", (cudnnConvolution, int))                                        \
  X(set_math, "cudnnSetConvolutionMathType", (cudnnConvolution, int))                                            \
  X(find_output, "cudnnGetConvolutionForwardAlgorithm_v7",                                                       \
    (cudnnHandle, cudnnTensor, cudnnFilter, cudnnConvolution, cudnnTensor, int, int*, Performance*))             \
  X(find_image, "cudnnGetConvolutionBackwardDataAlgorithm_v7",                                                   \
    (cudnnHandle, cudnnFilter, cudnnTensor, cudnnConvolution, cudnnTensor, int, int*, Performance*))             \
  X(find_weight, "cudnnGetConvolutionBackwardFilterAlgorithm_v7",                                                \
    (cudnnHandle, cudnnTensor, cudnnTensor, cudnnConvolution, cudnnFilter, int, int*, Performance*))             \
  X(output_space, "cudnnGetConvolutionForwardWorkspaceSize",                                                     \
    (cudnnHandle, cudnnTensor, cudnnFilter, cudnnConvolution, cudnnTensor, int, size_t*))                        \
  X(image_space, "cudnnGetConvolutionBackwardDataWorkspaceSize",                                                 \
    (cudnnHandle, cudnnFilter, cudnnTensor, cudnnConvolution, cudnnTensor, int, size_t*))                        \
  X(weight_space, "cudnnGetConvolutionBackwardFilterWorkspaceSize",                                              \
    (cudnnHandle, cudnnTensor, cudnnTensor, cudnnConvolution, cudnnFilter, int, size_t*))                        \
  X(output, "cudnnConvolutionForward",                                                                           \
    (cudnnHandle, const void*, cudnnTensor, const void*, cudnnFilter, const void*, cudnnConvolution, int, void*, \
     size_t, const void*, cudnnTensor, void*))                                                                   \
  X(image, "cudnnConvolutionBackwardData",                                                                       \
    (cudnnHandle, const void*, cudnnFilter, const void*, cudnnTensor, const void*, cudnnConvolution, int, void*, \
     size_t, const void*, cudnnTensor, void*))                                                                   \
  X(weight, "cudnnConvolutionBackwardFilter",                                                                    \
    (cudnnHandle, const void*, cudnnTensor, const void*, cudnnTensor, const void*, cudnnConvolution, int, void*, \
     size_t, const void*, cudnnFilter, void*))

struct Dnn {
  CUDA_DNN_FUNCTIONS(CUDA_MEMBER)
  size_t (*version)() = nullptr;
  bool there = false;

  Dnn() {
    SharedLibrary library("libcudnn.so.9");
    CUDA_DNN_FUNCTIONS(CUDA_FIND)
    library.find(version, "cudnnGetVersion");
    there = library.whole();
  }
};
const Dnn& dnn() {
  static const Dnn opened;
  return opened;
}

lamella_status raise_dnn(int status, const char* function) {
  return fail(LAMELLA_RUNTIME_ERROR,
              text("cuda: cuDNN: ", function, ": status ", status,
                   "; with lamella.backends.cudnn.enabled = False convolutions are computed without cuDNN"));
}
// Returns whether a status is CUDNN_STATUS_BAD_PARAM, CUDNN_STATUS_NOT_SUPPORTED or one of their kinds: cuDNN does not
// support the problem. The operator has checked its arguments, so that this is not the caller's error.
bool refuses(int status) { return status >= 2000 && status < 4000; }

struct Switches {
  std::atomic<bool> enabled{true}, allow_tf32{true}, deterministic{false}, deterministic_algorithms{false};
};
Switches switches;

// The numbers of a convolution, as the key of its plan. Absent spatial dimensions come first, with sizes of 1.
struct Problem {
  int32_t device, pass, dtype, channels_last, allow_tf32, deterministic, dims, images, groups, in, out;
  int32_t size[3], kernel[3], stride[3], padding[3], dilation[3], places[3];

  bool operator==(const Problem&) const = default;
  std::array<int, 5> image() const { return sizes(images, groups * in, size); }
  std::array<int, 5> output() const { return sizes(images, groups * out, places); }
  std::array<int, 5> weight() const { return sizes(groups * out, in, kernel); }
  // Returns the numbers of the spatial dimensions that the problem has.
  const int* spatial(const int32_t (&numbers)[3]) const { return numbers + 5 - dims; }

 private:
  std::array<int, 5> sizes(int first, int second, const int32_t (&rest)[3]) const {
    std::array<int, 5> all{first, second};
    std::copy(spatial(rest), rest + 3, all.begin() + 2);
    return all;
  }
};

// Returns the strides of a tensor without gaps: row by row, or with channels next to each other.
template <class T>
std::array<T, 5> strides_of(int dims, const T* sizes, bool channels_last) {
  std::array<T, 5> strides{};
  T step = 1;
  if (channels_last) strides[1] = step, step *= sizes[1];
  for (int d = dims - 1; d >= 0; d--) {
    if (channels_last && d == 1) continue;
    strides[static_cast<size_t>(d)] = step;
    step *= sizes[d];
  }
  return strides;
}

constexpr size_t most_workspace = size_t{1} << 30;

// An algorithm, and a description of the convolution with the algorithm's math.
struct Choice {
  int algorithm;
  size_t workspace;
  cudnnConvolution convolution;
  std::atomic<bool> refused{false};  // the function that runs it has refused the problem
};

struct DnnPlan {
  cudnnTensor image = nullptr, output = nullptr;
  cudnnFilter weight = nullptr;
  Choice choices[8] = {};
  int count = 0;
  std::string refusal;  // why a plan has no choices

  DnnPlan() = default;
  DnnPlan(const DnnPlan&) = delete;
  ~DnnPlan() {
    if (image) dnn().destroy_tensor(image);
    if (output) dnn().destroy_tensor(output);
    if (weight) dnn().destroy_filter(weight);
    for (int i = 0; i < count; i++) dnn().destroy_convolution(choices[i].convolution);
  }
  bool usable() const {
    return std::any_of(choices, choices + count,
                       [](const Choice& c) { return !c.refused.load(std::memory_order_relaxed); });
  }
};

// An error of cuDNN while a plan is made: a status that is not 0, and the function that returned it.
struct Refusal {
  int status;
  const char* function;
};
void ask(int status, const char* function) {
  if (status) throw Refusal{status, function};
}

int type_of(int dtype) {
  switch (dtype) {
    case LAMELLA_FLOAT16:
      return CUDNN_DATA_HALF;
    case LAMELLA_BFLOAT16:
      return CUDNN_DATA_BFLOAT16;
    case LAMELLA_FLOAT32:
      return CUDNN_DATA_FLOAT;
    default:
      return CUDNN_DATA_DOUBLE;
  }
}
// Returns the math for the problem's dtype. The default math of float32 is TF32.
int math_of(const Problem& p) {
  if (p.dtype == LAMELLA_FLOAT16) return CUDNN_TENSOR_OP_MATH;
  return p.dtype == LAMELLA_FLOAT32 && !p.allow_tf32 ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH;
}

cudnnConvolution describe(const Problem& p, int math) {
  cudnnConvolution made = nullptr;
  ask(dnn().create_convolution(&made), "cudnnCreateConvolutionDescriptor");
  try {
    ask(dnn().set_convolution(made, p.dims - 2, p.spatial(p.padding), p.spatial(p.stride), p.spatial(p.dilation),
                              CUDNN_CROSS_CORRELATION,
                              p.dtype == LAMELLA_FLOAT64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT),
        "cudnnSetConvolutionNdDescriptor");
    ask(dnn().set_groups(made, p.groups), "cudnnSetConvolutionGroupCount");
    ask(dnn().set_math(made, math), "cudnnSetConvolutionMathType");
  } catch (const Refusal&) {
    dnn().destroy_convolution(made);
    throw;
  }
  return made;
}

void describe(cudnnTensor* to, const Problem& p, const std::array<int, 5>& sizes) {
  ask(dnn().create_tensor(to), "cudnnCreateTensorDescriptor");
  ask(dnn().set_tensor(*to, type_of(p.dtype), p.dims, sizes.data(),
                       strides_of(p.dims, sizes.data(), p.channels_last).data()),
      "cudnnSetTensorNdDescriptor");
}

int workspace_of(cudnnHandle h, const DnnPlan& plan, const Problem& p, const Choice& c, size_t* bytes) {
  if (Pass(p.pass) == Pass::output)
    return dnn().output_space(h, plan.image, plan.weight, c.convolution, plan.output, c.algorithm, bytes);
  if (Pass(p.pass) == Pass::image)
    return dnn().image_space(h, plan.weight, plan.output, c.convolution, plan.image, c.algorithm, bytes);
  return dnn().weight_space(h, plan.image, plan.output, c.convolution, plan.weight, c.algorithm, bytes);
}

// Fills the plan with the algorithms that the heuristics advise, but for those that cannot run, that need more than
// most_workspace bytes, that convert float32 operands to float16, or that are not deterministic though the problem
// needs that. Nothing is measured, so plans can be made during a capture.
void choose(cudnnHandle h, const Problem& p, DnnPlan& plan) {
  describe(&plan.image, p, p.image());
  describe(&plan.output, p, p.output());
  ask(dnn().create_filter(&plan.weight), "cudnnCreateFilterDescriptor");
  ask(dnn().set_filter(plan.weight, type_of(p.dtype), p.channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, p.dims,
                       p.weight().data()),
      "cudnnSetFilterNdDescriptor");
  const int math = math_of(p), most = std::size(plan.choices);
  const cudnnConvolution first = describe(p, math);
  const std::unique_ptr<cudnnConvolutionStruct, int (*)(cudnnConvolution)> owner(first, dnn().destroy_convolution);
  Performance found[8] = {};
  int count = 0;
  if (Pass(p.pass) == Pass::output)
    ask(dnn().find_output(h, plan.image, plan.weight, first, plan.output, most, &count, found),
        "cudnnGetConvolutionForwardAlgorithm_v7");
  else if (Pass(p.pass) == Pass::image)
    ask(dnn().find_image(h, plan.weight, plan.output, first, plan.image, most, &count, found),
        "cudnnGetConvolutionBackwardDataAlgorithm_v7");
  else
    ask(dnn().find_weight(h, plan.image, plan.output, first, plan.weight, most, &count, found),
        "cudnnGetConvolutionBackwardFilterAlgorithm_v7");
  for (int i = 0; i < count; i++) {
    const Performance& f = found[i];
    if (f.status || (p.deterministic && f.determinism != CUDNN_DETERMINISTIC) ||
        f.math == CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION)
      continue;
    Choice& c = plan.choices[plan.count];
    c.algorithm = f.algorithm;
    c.convolution = describe(p, math == CUDNN_FMA_MATH ? math : f.math);  // the math says whether tensor cores run
    if (workspace_of(h, plan, p, c, &c.workspace) || c.workspace > most_workspace)
      dnn().destroy_convolution(c.convolution);
    else
      plan.count++;
  }
  if (!plan.count) plan.refusal = text("none of ", count, " algorithms is usable");
}

Plans<Problem, DnnPlan>& plans() {
  static auto* all = new Plans<Problem, DnnPlan>;
  return *all;
}

lamella_status plan_of(cudnnHandle h, const Problem& p, std::shared_ptr<DnnPlan>* out) {
  if ((*out = plans().find(p))) return LAMELLA_OK;
  auto plan = std::make_shared<DnnPlan>();
  try {
    choose(h, p, *plan);
  } catch (const Refusal& met) {
    if (!refuses(met.status)) return raise_dnn(met.status, met.function);
    plan->refusal = text(met.function, ": status ", met.status);
  }
  *out = plans().keep(p, std::move(plan));
  return LAMELLA_OK;
}

struct Handle {
  int device;
  cudnnHandle handle;
  CUstream stream = nullptr;  // the handle's present stream; null is the default stream
};

// Sets `out` to the thread's handle for a device, on the thread's current stream, or to null if cuDNN refuses the
// device. Each call brings its own work space, so a handle can change its stream, and a graph is captured with the
// handle that earlier runs have made.
lamella_status handle_of(int device, cudnnHandle* out) {
  thread_local Kept<Handle> mine;
  enter(device);
  const auto fits = [=](const Handle& h) { return h.device == device; };
  Handle* at = mine.find(fits);
  if (!at) {
    cudnnHandle made = nullptr;
    // When memory is short, cudnnCreate may return CUDNN_STATUS_NOT_INITIALIZED.
    const int status = with_room({CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED,
                                  CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED, CUDNN_STATUS_NOT_INITIALIZED},
                                 [&] { return dnn().create(&made); });
    if (status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED)
      return raise_lack(device, "cuda: cuDNN: cudnnCreate");
    if (status && !refuses(status)) return raise_dnn(status, "cudnnCreate");
    at = mine.add({device, status ? nullptr : made});
  }
  const CUstream current = current_stream(device), stream = current == legacy_stream ? nullptr : current;
  if (at->handle && at->stream != stream) {
    if (const int status = dnn().set_stream(at->handle, stream)) return raise_dnn(status, "cudnnSetStream");
    at->stream = stream;
  }
  return *out = at->handle, LAMELLA_OK;
}

bool lies(const lamella_tensor* t, bool channels_last) {
  const auto strides = strides_of(t->dl.ndim, t->dl.shape, channels_last);
  for (int d = 0; d < t->dl.ndim; d++)
    if (t->dl.shape[d] != 1 && t->dl.strides[d] != strides[static_cast<size_t>(d)]) return false;
  return true;
}
Tensor empty_in_layout(const lamella_tensor* t, bool channels_last) {
  const auto strides = strides_of(t->dl.ndim, t->dl.shape, channels_last);
  lamella_tensor* raw;
  lamella::check(api().tensor_empty(t->dl.ndim, t->dl.shape, strides.data(), t->dtype, lamella::device_of(t), &raw));
  return Tensor::steal(raw);
}
// Returns the tensor itself if it has the layout and is aligned to 16 bytes, the words that cuDNN's kernels load. Else
// it returns new memory in the layout, with a copy of the elements if `copied`.
Tensor laid(const Tensor& t, bool channels_last, bool copied) {
  if (lies(t.get(), channels_last) && reinterpret_cast<uintptr_t>(t.get()->dl.data) % 16 == 0) return t;
  Tensor own = empty_in_layout(t.get(), channels_last);
  if (copied) lamella::check(assign(own.get(), t.get()));
  return own;
}

// Returns whether fewer elements have to be moved for the layout with channels last; false unless there are four
// dimensions.
bool prefers_channels_last(std::initializer_list<const lamella_tensor*> tensors) {
  int64_t moved[2] = {};
  for (const lamella_tensor* t : tensors) {
    if (t->dl.ndim != 4) return false;
    for (const bool last : {false, true}) moved[last] += lies(t, last) ? 0 : t->numel;
  }
  return moved[1] < moved[0];
}

int run(cudnnHandle h, const Problem& p, const DnnPlan& plan, const Choice& c, void* x, void* w, void* y, void* space) {
  static constexpr float ones[] = {1, 0};
  static constexpr double wide_ones[] = {1, 0};
  const bool wide = p.dtype == LAMELLA_FLOAT64;
  const void *one = wide ? static_cast<const void*>(wide_ones) : ones,
             *zero = wide ? static_cast<const void*>(wide_ones + 1) : ones + 1;
  if (Pass(p.pass) == Pass::output)
    return dnn().output(h, one, plan.image, x, plan.weight, w, c.convolution, c.algorithm, space, c.workspace, zero,
                        plan.output, y);
  if (Pass(p.pass) == Pass::image)
    return dnn().image(h, one, plan.weight, w, plan.output, y, c.convolution, c.algorithm, space, c.workspace, zero,
                       plan.image, x);
  return dnn().weight(h, one, plan.image, x, plan.output, y, c.convolution, c.algorithm, space, c.workspace, zero,
                      plan.weight, w);
}
const char* function_of(Pass pass) {
  return pass == Pass::output  ? "cudnnConvolutionForward"
         : pass == Pass::image ? "cudnnConvolutionBackwardData"
                               : "cudnnConvolutionBackwardFilter";
}

Problem problem_of(Pass pass, const Images& s, const lamella_tensor* image, bool channels_last) {
  const auto number = [](auto n) { return static_cast<int32_t>(n); };
  Problem p{};
  p.device = index_of(image);
  p.pass = number(pass);
  p.dtype = image->dtype;
  p.channels_last = channels_last;
  p.allow_tf32 = image->dtype == LAMELLA_FLOAT32 && switches.allow_tf32;
  p.deterministic = switches.deterministic || switches.deterministic_algorithms;
  p.dims = std::max(image->dl.ndim, 4);  // cuDNN needs at least two spatial dimensions
  p.images = number(s.images), p.groups = number(s.groups), p.in = number(s.in), p.out = number(s.out);
  std::copy(s.size, s.size + 3, p.size);
  std::copy(s.kernel, s.kernel + 3, p.kernel);
  std::copy(s.stride, s.stride + 3, p.stride);
  std::copy(s.padding, s.padding + 3, p.padding);
  std::copy(s.dilation, s.dilation + 3, p.dilation);
  std::copy(s.places, s.places + 3, p.places);
  return p;
}

}  // namespace

lamella_status dnn_convolve(Pass pass, const Images& s, const Tensor& image, const Tensor& weight, const Tensor& output,
                            bool* done) {
  *done = false;
  const lamella_tensor *x = image.get(), *w = weight.get(), *y = output.get();
  const bool floats = x->dtype >= LAMELLA_FLOAT16 && x->dtype <= LAMELLA_FLOAT64;
  if (!floats || !switches.enabled || !dnn().there) return LAMELLA_OK;
  for (const lamella_tensor* t : {x, w, y})
    if (!t->numel || t->numel >> 31) return LAMELLA_OK;
  const bool last = prefers_channels_last({x, w, y});
  const Problem p = problem_of(pass, s, x, last);
  cudnnHandle handle = nullptr;
  if (lamella_status st = handle_of(p.device, &handle); st || !handle) return st;
  std::shared_ptr<DnnPlan> plan;
  if (lamella_status st = plan_of(handle, p, &plan)) return st;
  if (!plan->usable()) return LAMELLA_OK;
  const Tensor from = laid(image, last, pass != Pass::image), by = laid(weight, last, pass != Pass::weight),
               to = laid(output, last, pass != Pass::output);
  for (int i = 0; i < plan->count; i++) {
    Choice& c = plan->choices[i];
    if (c.refused.load(std::memory_order_relaxed)) continue;
    Tensor space;
    try {
      if (c.workspace) space = space_on(x, static_cast<int64_t>(c.workspace));
    } catch (const lamella::Error& met) {
      if (met.kind() != LAMELLA_OUT_OF_MEMORY) throw;
      continue;  // another choice may need less
    }
    const int status = run(handle, p, *plan, c, from.data_ptr(), by.data_ptr(), to.data_ptr(), data_of<void>(space));
    if (status && !refuses(status)) return raise_dnn(status, function_of(pass));
    c.refused.store(status, std::memory_order_relaxed);
    if (status) continue;
    *done = true;
    const Tensor &made = pass == Pass::output  ? to
                         : pass == Pass::image ? from
                                               : by,
                 &wanted = pass == Pass::output  ? output
                           : pass == Pass::image ? image
                                                 : weight;
    return made.is_same(wanted) ? LAMELLA_OK : assign(wanted.get(), made.get());
  }
  return LAMELLA_OK;
}

bool dnn_switch(std::string_view name, std::optional<bool> on) {
  std::atomic<bool>* found = name == "enabled"                    ? &switches.enabled
                             : name == "allow_tf32"               ? &switches.allow_tf32
                             : name == "deterministic"            ? &switches.deterministic
                             : name == "deterministic_algorithms" ? &switches.deterministic_algorithms
                                                                  : nullptr;
  LAMELLA_CHECK(found, "cuda: cuDNN has no switch '", name,
                "'; the switches are enabled, allow_tf32, deterministic and deterministic_algorithms");
  if (on) *found = *on;
  return *found;
}

int64_t dnn_version() { return dnn().there ? static_cast<int64_t>(dnn().version()) : 0; }

std::string dnn_plans() {
  const auto written = [](const int32_t* numbers, int count) {
    std::string s;
    for (int i = 0; i < count; i++) s += (i ? ", " : "(") + std::to_string(numbers[i]);
    return s + ")";
  };
  std::string all;
  plans().each([&](const Problem& p, const DnnPlan& plan) {
    all += text(function_of(Pass(p.pass)), " ", type_name(p.dtype), p.channels_last ? " NHWC" : " NCHW");
    all += " " + written(p.image().data(), p.dims) + " by " + written(p.weight().data(), p.dims);
    all += text(" groups ", p.groups, " stride ", written(p.spatial(p.stride), p.dims - 2), ":");
    for (int i = 0; i < plan.count; i++)
      all += text(i ? ", " : " ", "algorithm ", plan.choices[i].algorithm, " with ", plan.choices[i].workspace,
                  " bytes", plan.choices[i].refused ? " refused" : "");
    all += (plan.count ? "" : " refused: " + plan.refusal) + "\n";
  });
  return all;
}

}  // namespace cuda
