// The plan of a kernel's walk over several operands.
#include "layout.h"

namespace cuda {

Plan::Plan(const lamella_tensor* out, const lamella_tensor* const* inputs, int count) : operands_(count + 1) {
  const lamella_tensor* all[layout_operands] = {out};
  for (int k = 0; k < count; k++) all[k + 1] = inputs[k];
  for (int k = 0; k < operands_; k++)
    if (all[k]) {
      data_[k] = static_cast<char*>(all[k]->dl.data);
      items_[k] = item_sizes[all[k]->dtype];
    }
  dims_.add(out->dl.ndim, out->dl.shape, all, operands_);
  if (!dims_.elements()) return;
  // The innermost dimension is that of the output's smallest steps, so that neighbouring threads write side by side.
  dims_.sort();
  dims_.join();
  flat_ = dims_.count() < 2;
  for (int k = 0; flat_ && k < operands_; k++) {
    const int64_t step = dims_.count() ? dims_[0].steps[k] : 0;
    flat_ = !all[k] || step == items_[k] || (step == 0 && (k > 0 || dims_.elements() == 1));
    if (k > 0 && all[k] && step) moving_ |= 1 << (k - 1);
  }
  layout_ = layout_of(dims_);
  for (int d = 0; d < layout_.dims; d++) part_ *= layout_.sizes[d];
}

bool Plan::packs(int width) const {
  for (int k = 0; k < operands_; k++)
    if (items_[k] && (k == 0 || moving_ >> (k - 1) & 1) &&
        reinterpret_cast<uintptr_t>(data_[k]) % (static_cast<uintptr_t>(width) * items_[k]))
      return false;
  return true;
}

}  // namespace cuda
