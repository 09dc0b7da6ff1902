// Plans of walks over several operands.
#include "layout.h"

#include <algorithm>

namespace cuda {

void set_divisors(Layout& l) {
  int64_t elements = 1;
  for (int d = 0; d < l.dims; d++) {
    elements *= l.sizes[d];
    l.divisors[d] = divisor_of(l.sizes[d]);
  }
  l.small = !(elements >> 31);
}

Plan::Plan(const lamella_tensor* out, const lamella_tensor* const* inputs, int count) : operands_(count + 1) {
  const lamella_tensor* all[layout_operands] = {out};
  for (int k = 0; k < count; k++) all[k + 1] = inputs[k];
  Dimension dims[LAMELLA_MAX_DIMS];
  int n = 0;
  for (int d = out->dl.ndim - 1; d >= 0; d--) {
    const int64_t size = out->dl.shape[d];
    count_ *= size;
    if (size == 1) continue;
    Dimension& now = dims[n++];
    now.size = size;
    for (int k = 0; k < operands_; k++) {
      const int at = all[k] ? d - (out->dl.ndim - all[k]->dl.ndim) : -1;
      const bool moves = at >= 0 && all[k]->dl.shape[at] != 1;
      now.steps[k] = moves ? all[k]->dl.strides[at] * item_sizes[all[k]->dtype] : 0;
    }
  }
  for (int k = 0; k < operands_; k++)
    if (all[k]) {
      data_[k] = static_cast<char*>(all[k]->dl.data);
      items_[k] = item_sizes[all[k]->dtype];
    }
  if (!count_) return;
  // The innermost is where the output's steps are smallest, so that neighbouring threads write side by side.
  std::stable_sort(dims, dims + n, [](const Dimension& a, const Dimension& b) { return a.steps[0] < b.steps[0]; });
  int joined = 0;
  for (int d = 0; d < n; d++) {
    bool joins = joined > 0;
    for (int k = 0; joins && k < operands_; k++)
      joins = dims[d].steps[k] == dims[joined - 1].steps[k] * dims[joined - 1].size;
    if (joins)
      dims[joined - 1].size *= dims[d].size;
    else
      dims[joined++] = dims[d];
  }
  flat_ = joined < 2;
  for (int k = 0; flat_ && k < operands_; k++) {
    const int64_t step = joined ? dims[0].steps[k] : 0;
    flat_ = !all[k] || step == items_[k] || (step == 0 && (k > 0 || count_ == 1));
    if (k > 0 && all[k] && step) moving_ |= 1 << (k - 1);
  }
  if (joined > layout_dims) outer_.assign(dims + layout_dims, dims + joined);
  layout_.dims = std::min(joined, layout_dims);
  for (int d = 0; d < layout_.dims; d++) {
    const int64_t size = dims[d].size;
    part_ *= size;
    layout_.sizes[d] = size;
    for (int k = 0; k < operands_; k++) layout_.steps[k][d] = dims[d].steps[k];
  }
  set_divisors(layout_);
}

bool Plan::packs(int width) const {
  for (int k = 0; k < operands_; k++)
    if (items_[k] && (k == 0 || moving_ >> (k - 1) & 1) &&
        reinterpret_cast<uintptr_t>(data_[k]) % (static_cast<uintptr_t>(width) * items_[k]))
      return false;
  return true;
}

}  // namespace cuda
