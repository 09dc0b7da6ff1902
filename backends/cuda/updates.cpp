// The optimizers' updates over lists of tensors. What depends on the numbers of steps is computed on the device, so
// that the host never waits for them. See Note [Updates] in <lamella/updates.h>.
#include "kernels/updates.h"

#include <algorithm>

#include "operands.h"

namespace cuda {
namespace {

using namespace lamella::updates;
using namespace cuda::updates;

bool on_host(const lamella_tensor* t, const lamella_tensor* like) { return t->backend != like->backend; }

double host_number(const lamella_tensor* t) {
  switch (t->dtype) {
    case LAMELLA_FLOAT64:
      return *data_of<double>(t);
    case LAMELLA_FLOAT32:
      return *data_of<float>(t);
    case LAMELLA_BFLOAT16:
      return static_cast<float>(*data_of<lamella::bfloat16>(t));
    default:
      return static_cast<float>(*data_of<lamella::float16>(t));
  }
}
void set_host_number(const lamella_tensor* t, double x) {
  switch (t->dtype) {
    case LAMELLA_FLOAT64:
      *data_of<double>(t) = x;
      break;
    case LAMELLA_FLOAT32:
      *data_of<float>(t) = static_cast<float>(x);
      break;
    case LAMELLA_BFLOAT16:
      *data_of<lamella::bfloat16>(t) = lamella::bfloat16(static_cast<float>(x));
      break;
    default:
      *data_of<lamella::float16>(t) = lamella::float16(static_cast<float>(x));
  }
}

Number number_of(const lamella_value& v, const lamella_tensor* like) {
  if (v.tag != LAMELLA_TENSOR) return {nullptr, 8, v.tag == LAMELLA_NONE ? 0 : lamella::as_double(v)};
  const lamella_tensor* t = v.as.tensor;
  if (on_host(t, like)) return {nullptr, 8, host_number(t)};
  return {t->dl.data, t->dtype == LAMELLA_BFLOAT16 ? 3 : item_of(t->dtype), 0};
}

// Whether the elements of all lie in the same order and without gaps, so that they are one run.
bool is_one_run(const lamella_tensor* const* tensors, int n) {
  const lamella_tensor* first = tensors[0];
  bool same = true;
  for (int k = 0; k < n; k++) same = same && lamella::is_contiguous(tensors[k]);
  if (same) return true;
  std::pair<int64_t, int64_t> dims[LAMELLA_MAX_DIMS];  // stride, size
  int rank = 0;
  for (int d = 0; d < first->dl.ndim; d++) {
    if (first->dl.shape[d] == 1) continue;
    for (int k = 1; k < n; k++)
      if (tensors[k]->dl.strides[d] != first->dl.strides[d]) return false;
    dims[rank++] = {first->dl.strides[d], first->dl.shape[d]};
  }
  std::sort(dims, dims + rank);
  int64_t next = 1;
  for (int d = 0; d < rank; d++) {
    if (dims[d].first != next) return false;
    next *= dims[d].second;
  }
  return true;
}

// A parameter, its gradient and its state; null where nothing is held.
struct Entry {
  const lamella_tensor* tensors[most_lists] = {};
  Tensor packed[most_lists];  // beside those that are no run
  void* at[most_lists] = {};
};

// Whether a tensor shares memory with one of another entry: these must take turns.
bool overlap(const std::vector<Entry>& entries, int lists) {
  struct Range {
    const char *begin, *end;
    size_t entry;
  };
  std::vector<Range> ranges;
  for (size_t i = 0; i < entries.size(); i++)
    for (int k = 0; k < lists; k++) {
      const lamella_tensor* t = entries[i].tensors[k];
      if (!t || t->numel == 0) continue;
      int64_t last = 0;
      for (int d = 0; d < t->dl.ndim; d++) last += (t->dl.shape[d] - 1) * t->dl.strides[d];
      const char* begin = data_of(t);
      ranges.push_back({begin, begin + (last + 1) * item_of(t->dtype), i});
    }
  std::sort(ranges.begin(), ranges.end(), [](const Range& x, const Range& y) { return x.begin < y.begin; });
  const char* end = nullptr;
  for (size_t i = 0; i < ranges.size(); i++) {
    if (i > 0 && ranges[i].begin < end && ranges[i].entry != ranges[i - 1].entry) return true;
    end = std::max(end, ranges[i].end);
  }
  return false;
}

struct Names {
  const char* type;  // "Adam"
  Kernels* plans;
  Kernels* elements;
};

// Entries first to last, whose plans lie at `plans`: as many launches as it takes, of tensors of one dtype.
lamella_status run(const Update& u, const Names& names, std::vector<Entry>& entries, size_t first, size_t last,
                   const char* plans, const Number& scale, bool maximize) {
  const bool scaled = scale.at || scale.value != 0;
  for (size_t i = first; i < last;) {
    const lamella_tensor* like = entries[i].tensors[0];
    const int dtype = like->dtype, item = item_of(dtype);
    int width = 16 / item;
    Runs runs;
    const size_t begin = i;
    uint32_t pieces = 0;
    for (; i < last && runs.count < tensors_each && entries[i].tensors[0]->dtype == dtype; i++) {
      Entry& e = entries[i];
      const lamella_tensor* held[most_lists];
      int n = 0;
      for (int k = 0; k < u.lists; k++)
        if (e.tensors[k]) held[n++] = e.tensors[k];
      const bool one = is_one_run(held, n);
      for (int k = 0; k < u.lists; k++) {
        if (!e.tensors[k]) continue;
        if (!one && !lamella::is_contiguous(e.tensors[k])) e.packed[k] = copy_of(e.tensors[k]);
        e.at[k] = e.packed[k].defined() ? e.packed[k].data_ptr() : data_of<void>(e.tensors[k]);
        while (width > 1 && reinterpret_cast<uintptr_t>(e.at[k]) % (static_cast<uintptr_t>(width) * item)) width = 1;
        runs.at[k][runs.count] = e.at[k];
      }
      const int64_t size = e.tensors[0]->numel;
      runs.sizes[runs.count] = size;
      runs.first_piece[runs.count++] = pieces;
      pieces += static_cast<uint32_t>((size + update_piece - 1) / update_piece);
    }
    runs.first_piece[runs.count] = pieces;
    Kernel& kernel = names.elements->get(
        {dtype, width}, [&] { return text("update<", names.type, ", ", type_name(dtype), ", ", width, ">"); });
    if (lamella_status st =
            launch(kernel, like, {pieces}, {256}, 0, runs, plans + begin * sizeof(DevicePlan), scale, maximize))
      return st;
    for (size_t k = begin; k < i; k++)
      for (int l = 0; l < u.lists; l++)
        if (entries[k].packed[l].defined() && (l != 1 || scaled))
          if (lamella_status st = assign(entries[k].tensors[l], entries[k].packed[l].get())) return st;
  }
  return LAMELLA_OK;
}

lamella_status run_update(const Update& u, const Names& names, const lamella_value* args) {
  const uint32_t n = args[0].length;
  if (n == 0) return LAMELLA_OK;
  const lamella_tensor* like = args[0].as.tensors[0];
  const lamella_value* o = args + u.first_option();
  Steps steps;
  double options[most_options] = {};
  for (int k = 0; k < u.options; k++) {
    steps.options[k] = number_of(o[k], like);
    options[k] = steps.options[k].value;
  }
  steps.stop = number_of(args[u.found_inf()], like);
  if (!steps.stop.at && steps.stop.value != 0) return LAMELLA_OK;
  Number scale = number_of(args[u.grad_scale()], like);
  const bool scaled = args[u.grad_scale()].tag == LAMELLA_TENSOR;
  Tensor scale_there;
  if (scaled && !scale.at) {  // the kernel divides by a number in memory
    lamella_tensor* t = args[u.grad_scale()].as.tensor;
    scale_there = empty_on(like, {1}, t->dtype);
    enter(index_of(like));
    if (lamella_status st =
            checked(driver().copy_to_device(reinterpret_cast<CUdeviceptr>(scale_there.data_ptr()), t->dl.data,
                                            static_cast<size_t>(item_of(t->dtype)), current_stream(index_of(like))),
                    "a number copied to the device"))
      return st;
    if (lamella_status st =
            checked(driver().stream_synchronize(current_stream(index_of(like))), "a number copied to the device"))
      return st;
    scale = number_of(lamella::value(scale_there.get()), like);
  }
  // Which state a variant holds depends on the options alone: plan once with the first step.
  const double none[most_kept] = {};
  const unsigned variant = u.plan(options, 1, none).variant;
  std::vector<Entry> entries(n);
  for (uint32_t i = 0; i < n; i++)
    for (int k = 0; k < u.lists; k++)
      if (k < 2 || u.holds(variant, k - 2)) entries[i].tensors[k] = args[k].as.tensors[i];
  const Tensor plans = space_on(like, static_cast<int64_t>(n * sizeof(DevicePlan)));
  Kernel& plan_kernel = names.plans->get({}, [&] { return text("make_plans<", names.type, ">"); });
  for (uint32_t begin = 0; begin < n; begin += plans_each) {
    steps.count = static_cast<int32_t>(std::min<uint32_t>(plans_each, n - begin));
    std::vector<Tensor> kept_there;  // numbers that are kept on the host, for the kernel to change
    for (int i = 0; i < steps.count; i++) {
      if (u.counts) steps.steps[i] = number_of(lamella::value(args[u.step_list()].as.tensors[begin + i]), like);
      for (int k = 0; k < u.kept; k++) {
        lamella_tensor* t = args[u.lists + k].as.tensors[begin + i];
        steps.kept[k][i] = number_of(lamella::value(t), like);
      }
    }
    // Numbers on the host are changed there, by the same plan.
    for (int i = 0; i < steps.count; i++) {
      double kept[most_kept] = {};
      bool host = false;
      for (int k = 0; k < u.kept; k++) {
        host = host || !steps.kept[k][i].at;
        kept[k] = steps.kept[k][i].value;
      }
      if (!host) continue;
      LAMELLA_CHECK(u.counts && !steps.steps[i].at && !steps.stop.at,
                    "cuda: numbers that an update keeps must lie where its steps and found_inf do: all on the device, "
                    "or all on the host");
      const Plan made = u.plan(options, steps.steps[i].value, kept);
      for (int k = 0; k < u.kept; k++) {
        LAMELLA_CHECK(!steps.kept[k][i].at, "cuda: the numbers that an update keeps must all be on one device");
        set_host_number(args[u.lists + k].as.tensors[begin + i], made.kept[k]);
      }
    }
    if (lamella_status st =
            launch(plan_kernel, like, {1}, {plans_each}, 0, steps, data_of(plans) + begin * sizeof(DevicePlan)))
      return st;
  }
  const bool maximize = options[u.maximize] != 0;
  if (n == 1 || !overlap(entries, u.lists)) return run(u, names, entries, 0, n, data_of(plans), scale, maximize);
  for (uint32_t i = 0; i < n; i++)
    if (lamella_status st = run(u, names, entries, i, i + 1, data_of(plans), scale, maximize)) return st;
  return LAMELLA_OK;
}

#define LAMELLA_NAME_UPDATE(n, U, name) #U,
constexpr const char* type_names[] = {LAMELLA_UPDATES(LAMELLA_NAME_UPDATE)};
#undef LAMELLA_NAME_UPDATE

template <class U, int Number>
lamella_status update(lamella_frame*, const lamella_value* args, lamella_value*) {
  static Kernels plans("updates.cu");
  static Kernels elements("updates.cu");
  static constexpr Update u = update_of<U>(Number);
  return lamella::guarded([&] { return run_update(u, {type_names[Number], &plans, &elements}, args); });
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
#define LAMELLA_ADD_UPDATE(n, U, name) \
  m.impl(name, "cuda", update<U, n>);  \
  if (n < updates_of_tensor_lr) m.impl(name ".tensor_lr", "cuda", update<U, n>);
  LAMELLA_UPDATES(LAMELLA_ADD_UPDATE)
#undef LAMELLA_ADD_UPDATE
}

}  // namespace cuda
