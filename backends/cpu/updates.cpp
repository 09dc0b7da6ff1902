// The optimizers' updates: lists of tensors in one pass over the memory, whose elements are shared among the threads as
// if the tensors lay one behind the other. See Note [Updates] in <lamella/updates/base.h>.
#include "backends/cpu/updates.h"

#include <lamella/updates/host.h>

#include <algorithm>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"

namespace lamella::cpu {
namespace {

using namespace updates;

constexpr int64_t piece = 1024;  // elements that are converted, or unscaled, at once

// An entry with its loop, and where its elements lie among those of all entries.
struct Part : Entry {
  TensorRef packed[most_lists];  // contiguous copies of the tensors that need one; else null
  char* at[most_lists] = {};
  int64_t begin = 0, n = 0;
  int dtype = 0;
  UpdateLoop loop = nullptr;
  Plan plan;
};

struct Work {
  const Update& update;
  double sign = 1, scale = 1;
  bool scaled = false;  // the gradients are divided by `scale`, also in memory
  std::vector<Part> entries;

  bool written(int k) const { return k != 1 || scaled; }
  lamella_status pack(Part& e) const;
  lamella_status unpack(const Part& e) const;
  void run(const Part& e, int64_t begin, int64_t end) const;
  void run_pieces(const Part& e, int64_t begin, int64_t end) const;
  lamella_status over(size_t first, size_t last);
};

lamella_status Work::pack(Part& e) const {
  const bool run = is_one_run(e);
  for (int k = 0; k < update.lists; k++) {
    if (!e.tensors[k]) continue;
    const lamella_tensor* t = e.tensors[k];
    if (!run && !is_contiguous(t)) {
      e.packed[k] = allocate_like(t, e.dtype);
      if (lamella_status st = copy_into(e.packed[k].get(), t)) return st;
      t = e.packed[k].get();
    }
    e.at[k] = static_cast<char*>(t->dl.data);
  }
  return LAMELLA_OK;
}

lamella_status Work::unpack(const Part& e) const {
  for (int k = 0; k < update.lists; k++)
    if (e.packed[k] && written(k))
      if (lamella_status st = copy_into(e.tensors[k], e.packed[k].get())) return st;
  return LAMELLA_OK;
}

template <class T>
void divide(int64_t n, char* at, double by) {
  T* x = reinterpret_cast<T*>(at);
  const T d = static_cast<T>(by);
  for (int64_t i = 0; i < n; i++) x[i] /= d;
}

// Half precision goes through float32, and gradients are unscaled, while the elements are in the nearest cache.
void Work::run_pieces(const Part& e, int64_t begin, int64_t end) const {
  const bool wide = e.dtype == LAMELLA_FLOAT64, half = !wide && e.dtype != LAMELLA_FLOAT32;
  const int64_t item = dtype_bytes[e.dtype];
  alignas(64) float made[most_lists][piece];
  for (int64_t i = begin; i < end; i += piece) {
    const int64_t n = std::min(piece, end - i);
    char* at[most_lists] = {};
    for (int k = 0; k < update.lists; k++) {
      if (!e.at[k]) continue;
      at[k] = e.at[k] + i * item;
      if (!half) continue;
      char* to = reinterpret_cast<char*>(made[k]);
      loops().cast[e.dtype][LAMELLA_FLOAT32](n, to, 4, at[k], item);
      at[k] = to;
    }
    if (scaled) wide ? divide<double>(n, at[1], scale) : divide<float>(n, at[1], scale);
    e.loop(n, at, sign, e.plan);
    for (int k = 0; half && k < update.lists; k++)
      if (e.at[k] && written(k)) loops().cast[LAMELLA_FLOAT32][e.dtype](n, e.at[k] + i * item, item, at[k], 4);
  }
}

void Work::run(const Part& e, int64_t begin, int64_t end) const {
  if (scaled || (e.dtype != LAMELLA_FLOAT32 && e.dtype != LAMELLA_FLOAT64)) return run_pieces(e, begin, end);
  char* at[most_lists] = {};
  for (int k = 0; k < update.lists; k++)
    if (e.at[k]) at[k] = e.at[k] + begin * dtype_bytes[e.dtype];
  e.loop(end - begin, at, sign, e.plan);
}

// Updates entries [first, last), which share no memory.
lamella_status Work::over(size_t first, size_t last) {
  for (size_t i = first; i < last; i++)
    if (lamella_status st = pack(entries[i])) return st;
  auto body = [&](int64_t begin, int64_t end) -> lamella_status {
    auto e = std::upper_bound(entries.begin() + first, entries.begin() + last, begin,
                              [](int64_t at, const Part& x) { return at < x.begin; }) -
             1;
    for (; begin < end; ++e) {
      const int64_t stop = std::min(end, e->begin + e->n);
      if (stop > begin) run(*e, begin - e->begin, stop - e->begin);
      begin = std::max(begin, stop);
    }
    return LAMELLA_OK;
  };
  const int64_t begin = entries[first].begin, end = entries[last - 1].begin + entries[last - 1].n;
  lamella_status st = end - begin <= grain ? body(begin, end) : parallel_for(begin, end, grain, body);
  for (size_t i = first; !st && i < last; i++) st = unpack(entries[i]);
  return st;
}

lamella_status run_update(const Update& u, const lamella_value* args) {
  const uint32_t n = args[0].length;
  const lamella_value *o = args + u.first_option(), &scale = args[u.grad_scale()], &stop = args[u.found_inf()];
  if (n == 0 || (stop.tag == LAMELLA_TENSOR && number_in(stop.as.tensor) != 0)) return LAMELLA_OK;
  double options[most_options];
  for (int k = 0; k < u.options; k++)
    options[k] = o[k].tag == LAMELLA_TENSOR ? number_in(o[k].as.tensor) : as_double(o[k]);
  Work work{u};
  work.sign = options[u.maximize] != 0 ? -1 : 1;
  work.scaled = scale.tag == LAMELLA_TENSOR;
  if (work.scaled) work.scale = number_in(scale.as.tensor);
  work.entries = std::vector<Part>(n);
  int64_t total = 0;
  for (uint32_t i = 0; i < n; i++) {
    Part& e = work.entries[i];
    double kept[most_kept] = {};
    for (int k = 0; k < u.kept; k++) kept[k] = number_in(args[u.lists + k].as.tensors[i]);
    e.plan = u.plan(options, u.counts ? number_in(args[u.step_list()].as.tensors[i]) : 0, kept);
    for (int k = 0; k < u.kept; k++) set_number(args[u.lists + k].as.tensors[i], e.plan.kept[k]);
    fill(e, u, args, e.plan.variant, i);
    e.dtype = e.tensors[0]->dtype;
    e.loop = LAMELLA_BY_ISA(update_loop)(u.number, e.plan.variant, e.dtype);
    e.begin = total;
    e.n = e.tensors[0]->numel;
    total += e.n;
  }
  if (n == 1 || !overlap(work.entries)) return work.over(0, n);
  for (uint32_t i = 0; i < n; i++)
    if (lamella_status st = work.over(i, i + 1)) return st;
  return LAMELLA_OK;
}

template <int number>
lamella_status update(lamella_frame* f, const lamella_value* args, lamella_value*) {
  return detail::guarded_in(f, [&] { return run_update(update_table[number], args); });
}

template <int number = 0>
void add_all(Library& m) {
  for (int overload = 0; overload < update_table[number].overload_count(); overload++)
    m.impl(operator_name(update_table[number], overload).c_str(), "cpu", update<number>);
  if constexpr (number + 1 < update_count) add_all<number + 1>(m);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) { add_all(m); }

}  // namespace lamella::cpu
