// The optimizers' updates over lists of tensors. Numbers that depend on the counts of steps are computed on the device,
// so that the host never waits for them. See Note [Updates] in <lamella/updates/base.h>.
#include <lamella/updates/host.h>

#include "kernels/updates.h"

#include <algorithm>

#include "operands.h"

namespace cuda {
namespace {

using namespace lamella::updates;
using namespace cuda::updates;

bool on_host(const lamella_tensor* t, const lamella_tensor* like) { return t->backend != like->backend; }

Number number_of(const lamella_value& v, const lamella_tensor* like) {
  if (v.tag != LAMELLA_TENSOR) return {nullptr, 8, v.tag == LAMELLA_NONE ? 0 : lamella::as_double(v)};
  const lamella_tensor* t = v.as.tensor;
  if (on_host(t, like)) return {nullptr, 8, number_in(t)};
  return {t->dl.data, t->dtype == LAMELLA_BFLOAT16 ? 3 : item_of(t->dtype), 0};
}

// An entry, with the memory that its kernel reads and writes.
struct Part : Entry {
  Tensor packed[most_lists];  // copies of tensors that are not contiguous
  void* at[most_lists] = {};
};

// The kernels of one update: of its plans, and of its elements by dtype and width.
struct Programs {
  Kernels* plans;
  Kernels* elements;
};

// Updates the entries from `first` to before `last`, whose plans lie at `plans`. A launch takes entries of one dtype,
// and at most tensors_each of them.
lamella_status run(const Update& u, const Programs& programs, std::vector<Part>& entries, size_t first, size_t last,
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
      Part& e = entries[i];
      const bool one = is_one_run(e);
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
    Kernel& kernel = programs.elements->get(
        {dtype, width}, [&] { return text("update<", u.type, ", ", type_name(dtype), ", ", width, ">"); });
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

lamella_status run_update(const Update& u, const Programs& programs, const lamella_value* args) {
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
  if (scaled && !scale.at) {  // the kernel reads this number from memory
    lamella_tensor* t = args[u.grad_scale()].as.tensor;
    scale_there = empty_on(like, {1}, t->dtype);
    enter(index_of(like));
    if (lamella_status st =
            checked(driver().copy_to_device(reinterpret_cast<CUdeviceptr>(scale_there.data_ptr()), t->dl.data,
                                            static_cast<size_t>(item_of(t->dtype)), current_stream(index_of(like))),
                    "cuda: copying a number to the device"))
      return st;
    if (lamella_status st = checked(driver().stream_synchronize(current_stream(index_of(like))),
                                    "cuda: copying a number to the device"))
      return st;
    scale = number_of(lamella::value(scale_there.get()), like);
  }
  // The plan of a later step may have another variant, but one that holds the same state, since the options alone decide
  // that. So the lists of the state that are used follow from the variant of a first step.
  const double none[most_kept] = {};
  const unsigned variant = u.plan(options, 1, none).variant;
  std::vector<Part> entries(n);
  for (uint32_t i = 0; i < n; i++) fill(entries[i], u, args, variant, i);
  const Tensor plans = space_on(like, static_cast<int64_t>(n * sizeof(DevicePlan)));
  Kernel& plan_kernel = programs.plans->get({}, [&] { return text("make_plans<", u.type, ">"); });
  for (uint32_t begin = 0; begin < n; begin += plans_each) {
    steps.count = static_cast<int32_t>(std::min<uint32_t>(plans_each, n - begin));
    for (int i = 0; i < steps.count; i++) {
      if (u.counts) steps.steps[i] = number_of(lamella::value(args[u.step_list()].as.tensors[begin + i]), like);
      for (int k = 0; k < u.kept; k++) {
        lamella_tensor* t = args[u.lists + k].as.tensors[begin + i];
        steps.kept[k][i] = number_of(lamella::value(t), like);
      }
    }
    // The host changes those kept numbers that lie in its memory, by the same plan.
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
        set_number(args[u.lists + k].as.tensors[begin + i], made.kept[k]);
      }
    }
    if (lamella_status st =
            launch(plan_kernel, like, {1}, {plans_each}, 0, steps, data_of(plans) + begin * sizeof(DevicePlan)))
      return st;
  }
  const bool maximize = options[u.maximize] != 0;
  if (n == 1 || !overlap(entries)) return run(u, programs, entries, 0, n, data_of(plans), scale, maximize);
  for (uint32_t i = 0; i < n; i++)
    if (lamella_status st = run(u, programs, entries, i, i + 1, data_of(plans), scale, maximize)) return st;
  return LAMELLA_OK;
}

template <int number>
lamella_status update(lamella_frame*, const lamella_value* args, lamella_value*) {
  static Kernels plans("updates.cu");
  static Kernels elements("updates.cu");
  return lamella::guarded([&] { return run_update(update_table[number], {&plans, &elements}, args); });
}

template <int number = 0>
void add_all(lamella::Library& m) {
  for (int overload = 0; overload < update_table[number].overload_count(); overload++)
    m.impl(operator_name(update_table[number], overload).c_str(), "cuda", update<number>);
  if constexpr (number + 1 < update_count) add_all<number + 1>(m);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) { add_all(m); }

}  // namespace cuda
