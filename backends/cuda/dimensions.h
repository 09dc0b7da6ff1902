// Dimensions of two or three operands that are walked together: those that lie without gaps in all become one.
#pragma once

#include <algorithm>

#include "layout.h"

namespace cuda {

struct Dimension {
  int64_t size, steps[3];  // steps in bytes
};
struct Dimensions {
  Dimension all[LAMELLA_MAX_DIMS];
  int count = 0;
  int64_t elements = 1;

  // The innermost first.
  void add(const Dimension& d) {
    elements *= d.size;
    if (d.size != 1) all[count++] = d;
  }
  // Sorted by the first operand's steps, unless the order counts.
  void join(bool ordered) {
    if (!ordered)
      std::stable_sort(all, all + count,
                       [](const Dimension& a, const Dimension& b) { return a.steps[0] < b.steps[0]; });
    int n = 0;
    for (int d = 0; d < count; d++) {
      bool joins = n > 0;
      for (int k = 0; joins && k < 3; k++) joins = all[d].steps[k] == all[n - 1].steps[k] * all[n - 1].size;
      if (joins)
        all[n - 1].size *= all[d].size;
      else
        all[n++] = all[d];
    }
    count = n;
  }
  // Throws where they form too many groups; `who` names what walks.
  Layout layout(const char* who) const {
    LAMELLA_CHECK_NOT_IMPLEMENTED(count <= layout_dims, "cuda: ", who, " of a tensor whose dimensions form ", count,
                                  " groups in memory, more than ", layout_dims, ": take a contiguous copy of it");
    Layout l;
    l.dims = count;
    for (int d = 0; d < count; d++) {
      l.sizes[d] = all[d].size;
      for (int k = 0; k < 3; k++) l.steps[k][d] = all[d].steps[k];
    }
    set_divisors(l);
    return l;
  }
};

// Memory of the device for the time of a call: work that is queued may use it after its tensor is gone.
inline lamella::Tensor scratch_of(const lamella_tensor* on, int64_t bytes) {
  lamella_tensor* made = nullptr;
  lamella::check(api().tensor_empty(1, &bytes, nullptr, LAMELLA_UINT8, lamella::device_of(on), &made));
  return lamella::Tensor::steal(made);
}

}  // namespace cuda
