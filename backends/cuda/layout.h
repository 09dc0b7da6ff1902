// The walks of kernels over several operands, as arguments of the kernels; neighbouring dimensions are joined.
#pragma once

#include <lamella/operands.h>

#include "kernels/layout.h"
#include "kernels/walk.h"
#include "launch.h"

namespace cuda {

constexpr int item_sizes[LAMELLA_PLAIN_DTYPES] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};

// Returns the layout of the innermost dimensions, of at most layout_dims.
template <int Operands>
Layout layout_of(const lamella::Dimensions<Operands>& dims) {
  Layout l;
  l.dims = dims.count() < layout_dims ? dims.count() : layout_dims;
  int64_t elements = 1;
  for (int d = 0; d < l.dims; d++) {
    const auto& from = dims[dims.count() - 1 - d];
    elements *= l.sizes[d] = from.size;
    l.quotients[d] = lamella::quotient_by(from.size);
    for (int k = 0; k < Operands; k++) l.steps[k][d] = from.steps[k];
  }
  l.small = !(elements >> 31);
  return l;
}

// Returns a layout of all dimensions. Throws if there are more than a layout holds; `who` names the kernel.
template <int Operands>
Layout layout_of(const lamella::Dimensions<Operands>& dims, const char* who) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(dims.count() <= layout_dims, "cuda: ", who, " of a tensor whose dimensions form ",
                                dims.count(), " groups in memory, more than ", layout_dims,
                                ", is not supported: take a contiguous copy of it");
  return layout_of(dims);
}

// Returns the walk of the first operands, with steps in elements. Throws if there are more than walk_dims dimensions.
template <int Operands, int All>
Walk<Operands> walk_of(const lamella::Dimensions<All>& dims) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(dims.count() <= walk_dims, "cuda: the tensors' dimensions form ", dims.count(),
                                " groups in memory, more than ", walk_dims, "; make the tensors contiguous");
  Walk<Operands> w{};
  w.ndim = dims.count();
  w.count = dims.elements();
  w.wide = w.count >> 31 != 0;
  for (int d = 0; d < w.ndim; d++) {
    w.sizes[d] = dims[d].size;
    w.quotients[d] = lamella::quotient_by(dims[d].size);
    for (int k = 0; k < Operands; k++) w.strides[k][d] = dims[d].steps[k];
  }
  return w;
}

// The operands of one kernel, the output first. Each is broadcast to the output's shape.
class Plan {
 public:
  // A null tensor is an operand without memory, which the walk ignores.
  Plan(const lamella_tensor* out, const lamella_tensor* const* inputs, int count);

  int64_t count() const { return dims_.elements(); }
  // is_flat(): operands are without gaps in one order, or single elements. moving(), if is_flat(): a bit for each input
  // that is not a single element.
  bool is_flat() const { return flat_; }
  int moving() const { return moving_; }
  char* data(int operand) const { return data_[operand]; }
  // Returns, if is_flat(), whether the addresses of the output and of each input in moving() are aligned for loads of
  // `width` elements.
  bool packs(int width) const;
  const Layout& layout() const { return layout_; }
  // Calls body(offsets) with the operands' offsets in bytes for each part of the walk: layout() holds the dimensions of
  // one part, and all of them unless there are more than layout_dims.
  template <class Body>
  lamella_status parts(Body body) const {
    const int outer = dims_.count() - layout_.dims;
    int64_t at[LAMELLA_MAX_DIMS] = {}, offsets[layout_operands] = {};
    for (;;) {
      if (const lamella_status st = body(offsets)) return st;
      int d = outer - 1;
      for (; d >= 0; at[d--] = 0) {
        for (int k = 0; k < operands_; k++) offsets[k] += dims_[d].steps[k];
        if (++at[d] < dims_[d].size) break;
        for (int k = 0; k < operands_; k++) offsets[k] -= dims_[d].size * dims_[d].steps[k];
      }
      if (d < 0) return LAMELLA_OK;
    }
  }
  int64_t part() const { return part_; }  // elements of each part

 private:
  int operands_;
  int64_t part_ = 1;
  bool flat_ = false;
  int moving_ = 0, items_[layout_operands] = {};
  char* data_[layout_operands] = {};
  lamella::Dimensions<layout_operands> dims_;
  Layout layout_;
};

}  // namespace cuda
