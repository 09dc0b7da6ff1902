/* The host's side of updates: the names of their operators, and the tensors at one place of their lists. */
#ifndef LAMELLA_UPDATES_HOST_H
#define LAMELLA_UPDATES_HOST_H

#include <lamella/half.h>
#include <lamella/library.h>
#include <lamella/updates.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

namespace lamella::updates {
namespace {

/* "_fused_adam_.tensor_lr" */
inline std::string operator_name(const Update& u, int overload) {
  std::string name = "_fused_";
  for (const char* c = u.type; *c; c++) name += static_cast<char>(std::tolower(*c));
  return name + "_" + overloads[overload];
}

/* A parameter, its gradient and its state; null for a state that the variant does not hold. */
struct Entry {
  const lamella_tensor* tensors[most_lists] = {};
};

/* Fills an entry with the tensors at place i of the lists. */
inline void fill(Entry& e, const Update& u, const lamella_value* args, unsigned variant, uint32_t i) {
  for (int k = 0; k < u.lists; k++)
    if (k < 2 || u.holds(variant, k - 2)) e.tensors[k] = args[k].as.tensors[i];
}

/* Reads the first element of a tensor of a floating dtype in host memory. */
inline double number_in(const lamella_tensor* t) {
  switch (t->dtype) {
    case LAMELLA_FLOAT64:
      return *static_cast<const double*>(t->dl.data);
    case LAMELLA_FLOAT32:
      return *static_cast<const float*>(t->dl.data);
    case LAMELLA_BFLOAT16:
      return static_cast<float>(*static_cast<const bfloat16*>(t->dl.data));
    default:
      return static_cast<float>(*static_cast<const float16*>(t->dl.data));
  }
}
inline void set_number(const lamella_tensor* t, double x) {
  switch (t->dtype) {
    case LAMELLA_FLOAT64:
      *static_cast<double*>(t->dl.data) = x;
      break;
    case LAMELLA_FLOAT32:
      *static_cast<float*>(t->dl.data) = static_cast<float>(x);
      break;
    case LAMELLA_BFLOAT16:
      *static_cast<bfloat16*>(t->dl.data) = bfloat16(static_cast<float>(x));
      break;
    default:
      *static_cast<float16*>(t->dl.data) = float16(static_cast<float>(x));
  }
}

/* Returns whether the elements of all tensors of an entry lie in the same order and without gaps, so that they are one
 * run. */
inline bool is_one_run(const Entry& e) {
  const lamella_tensor* first = e.tensors[0];
  bool plain = true;
  for (const lamella_tensor* t : e.tensors) plain &= !t || is_contiguous(t);
  if (plain) return true;
  std::pair<int64_t, int64_t> dims[LAMELLA_MAX_DIMS]; /* stride, size */
  int rank = 0;
  for (int d = 0; d < first->dl.ndim; d++) {
    const int64_t size = first->dl.shape[d], stride = first->dl.strides[d];
    if (size == 1) continue;
    for (const lamella_tensor* t : e.tensors)
      if (t && t->dl.strides[d] != stride) return false;
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

/* Returns whether the addresses of a tensor overlap those of a tensor of another entry, as ranges from the first to the
 * last byte: such entries must be updated one after another. */
template <class E>
bool overlap(const std::vector<E>& entries) {
  struct Range {
    const char *begin, *end;
    size_t entry;
  };
  std::vector<Range> ranges;
  ranges.reserve(entries.size() * most_lists);
  for (size_t i = 0; i < entries.size(); i++)
    for (const lamella_tensor* t : entries[i].tensors) {
      if (!t || t->numel == 0) continue;
      int64_t last = 0;
      for (int d = 0; d < t->dl.ndim; d++) last += (t->dl.shape[d] - 1) * t->dl.strides[d];
      const char* begin = static_cast<const char*>(t->dl.data);
      ranges.push_back({begin, begin + (last + 1) * (t->dl.dtype.bits / 8), i});
    }
  std::sort(ranges.begin(), ranges.end(), [](const Range& x, const Range& y) { return x.begin < y.begin; });
  const char* end = nullptr;
  for (size_t i = 0; i < ranges.size(); i++) {
    if (i > 0 && ranges[i].begin < end && ranges[i].entry != ranges[i - 1].entry) return true;
    end = std::max(end, ranges[i].end);
  }
  return false;
}

}  // namespace
}  // namespace lamella::updates

#endif
