// The optimizers' updates: lists of tensors in one pass over the memory, whose elements are shared among the threads as
// if the tensors lay one behind the other. See Note [Updates] in <lamella/updates.h>.
#include "backends/cpu/updates.h"

#include <algorithm>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"

namespace lamella::cpu {
namespace {

using namespace updates;

constexpr int most_lists = most_state + 2;
constexpr int64_t piece = 1024;  // elements that are converted, or unscaled, at once

// One number of any dtype.
double number_in(const lamella_tensor* t) {
  double x = 0;
  loops().cast[t->dtype][LAMELLA_FLOAT64](1, reinterpret_cast<char*>(&x), 0, static_cast<const char*>(t->dl.data), 0);
  return x;
}
void set_number(const lamella_tensor* t, double x) {
  loops().cast[LAMELLA_FLOAT64][t->dtype](1, static_cast<char*>(t->dl.data), 0, reinterpret_cast<const char*>(&x), 0);
}

// Whether the elements of all lie in the same order and without gaps, so that they are one run.
bool is_one_run(const lamella_tensor* const* tensors, int n) {
  const lamella_tensor* first = tensors[0];
  bool plain = true;
  for (int k = 0; k < n; k++) plain &= is_contiguous(tensors[k]);
  if (plain) return true;
  std::pair<int64_t, int64_t> dims[LAMELLA_MAX_DIMS];  // stride, size
  int rank = 0;
  for (int d = 0; d < first->dl.ndim; d++) {
    const int64_t size = first->dl.shape[d], stride = first->dl.strides[d];
    if (size == 1) continue;
    for (int k = 1; k < n; k++)
      if (tensors[k]->dl.strides[d] != stride) return false;
    dims[rank++] = {stride, size};
  }
  std::sort(dims, dims + rank);
  int64_t next = 1;
  for (int d = 0; d < rank; d++) {
    if (dims[d].first != next) return false;
    next *= dims[d].second;
  }
  return true;
}

// A parameter, its gradient and its state.
struct Entry {
  const lamella_tensor* tensors[most_lists] = {};  // null where the variant holds nothing
  TensorRef packed[most_lists];                    // beside those that are no run
  char* at[most_lists] = {};
  int64_t begin = 0, n = 0;  // where its elements lie among all
  int dtype = 0;
  UpdateLoop loop = nullptr;
  Plan plan;
};

struct Work {
  const Update& update;
  double sign = 1, scale = 1;
  bool scaled = false;  // the gradients are divided by `scale`, also in memory
  std::vector<Entry> entries;

  bool written(int k) const { return k != 1 || scaled; }
  lamella_status pack(Entry& e) const;
  lamella_status unpack(const Entry& e) const;
  void run(const Entry& e, int64_t begin, int64_t end) const;
  void run_pieces(const Entry& e, int64_t begin, int64_t end) const;
  lamella_status over(size_t first, size_t last);
  bool overlap() const;
};

lamella_status Work::pack(Entry& e) const {
  const lamella_tensor* held[most_lists];
  int n = 0;
  for (int k = 0; k < update.lists; k++)
    if (e.tensors[k]) held[n++] = e.tensors[k];
  const bool run = is_one_run(held, n);
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

lamella_status Work::unpack(const Entry& e) const {
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
void Work::run_pieces(const Entry& e, int64_t begin, int64_t end) const {
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

void Work::run(const Entry& e, int64_t begin, int64_t end) const {
  if (scaled || (e.dtype != LAMELLA_FLOAT32 && e.dtype != LAMELLA_FLOAT64)) return run_pieces(e, begin, end);
  char* at[most_lists] = {};
  for (int k = 0; k < update.lists; k++)
    if (e.at[k]) at[k] = e.at[k] + begin * dtype_bytes[e.dtype];
  e.loop(end - begin, at, sign, e.plan);
}

// Some of the entries, which share no memory.
lamella_status Work::over(size_t first, size_t last) {
  for (size_t i = first; i < last; i++)
    if (lamella_status st = pack(entries[i])) return st;
  auto body = [&](int64_t begin, int64_t end) -> lamella_status {
    auto e = std::upper_bound(entries.begin() + first, entries.begin() + last, begin,
                              [](int64_t at, const Entry& x) { return at < x.begin; }) -
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

// Whether a tensor that is written shares memory with one of another entry: these must take turns.
bool Work::overlap() const {
  struct Range {
    const char *begin, *end;
    size_t entry;
  };
  std::vector<Range> ranges;
  ranges.reserve(entries.size() * update.lists);
  for (size_t i = 0; i < entries.size(); i++)
    for (int k = 0; k < update.lists; k++) {
      const lamella_tensor* t = entries[i].tensors[k];
      if (!t || t->numel == 0) continue;
      int64_t last = 0;
      for (int d = 0; d < t->dl.ndim; d++) last += (t->dl.shape[d] - 1) * t->dl.strides[d];
      const char* begin = static_cast<const char*>(t->dl.data);
      ranges.push_back({begin, begin + (last + 1) * dtype_bytes[t->dtype], i});
    }
  std::sort(ranges.begin(), ranges.end(), [](const Range& x, const Range& y) { return x.begin < y.begin; });
  const char* end = nullptr;
  for (size_t i = 0; i < ranges.size(); i++) {
    if (i > 0 && ranges[i].begin < end && ranges[i].entry != ranges[i - 1].entry) return true;
    end = std::max(end, ranges[i].end);
  }
  return false;
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
  work.entries = std::vector<Entry>(n);
  int64_t total = 0;
  for (uint32_t i = 0; i < n; i++) {
    Entry& e = work.entries[i];
    double kept[most_kept] = {};
    for (int k = 0; k < u.kept; k++) kept[k] = number_in(args[u.lists + k].as.tensors[i]);
    e.plan = u.plan(options, u.counts ? number_in(args[u.step_list()].as.tensors[i]) : 0, kept);
    for (int k = 0; k < u.kept; k++) set_number(args[u.lists + k].as.tensors[i], e.plan.kept[k]);
    for (int k = 0; k < u.lists; k++)
      if (k < 2 || u.holds(e.plan.variant, k - 2)) e.tensors[k] = args[k].as.tensors[i];
    e.dtype = e.tensors[0]->dtype;
    e.loop = LAMELLA_BY_ISA(update_loop)(u.number, e.plan.variant, e.dtype);
    e.begin = total;
    e.n = e.tensors[0]->numel;
    total += e.n;
  }
  if (n == 1 || !work.overlap()) return work.over(0, n);
  for (uint32_t i = 0; i < n; i++)
    if (lamella_status st = work.over(i, i + 1)) return st;
  return LAMELLA_OK;
}

template <class U, int Number>
lamella_status update(lamella_frame* f, const lamella_value* args, lamella_value*) {
  static constexpr Update u = update_of<U>(Number);
  return detail::guarded_in(f, [&] { return run_update(u, args); });
}

}  // namespace

void register_updates(Library& m) {
#define LAMELLA_ADD_UPDATE(n, U, name) \
  m.impl(name, "cpu", update<U, n>);   \
  if (n < updates_of_tensor_lr) m.impl(name ".tensor_lr", "cpu", update<U, n>);
  LAMELLA_UPDATES(LAMELLA_ADD_UPDATE)
#undef LAMELLA_ADD_UPDATE
}

}  // namespace lamella::cpu
