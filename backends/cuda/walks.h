// Makes the walks of kernels/walk.h: neighbouring dimensions that every operand steps through alike become one.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/walk.h"
#include "operands.h"

namespace cuda {

// Dimensions with the steps of any number of operands.
class Dimensions {
 public:
  // From the outermost on.
  void add(int64_t size, std::initializer_list<int64_t> steps) { add(size, std::vector<int64_t>(steps)); }
  void add(int64_t size, std::vector<int64_t> steps) {
    count_ *= size;
    if (size == 1) return;
    if (!all_.empty()) {
      One& before = all_.back();
      bool joins = true;
      for (size_t k = 0; k < steps.size(); k++) joins = joins && before.steps[k] == steps[k] * size;
      if (joins) {
        before.size *= size;
        before.steps = std::move(steps);
        return;
      }
    }
    all_.push_back({size, std::move(steps)});
  }
  int64_t count() const { return count_; }
  int ndim() const { return static_cast<int>(all_.size()); }
  int64_t step(int operand, int d) const { return all_[d].steps[operand]; }

  // The walk of the first operands.
  template <int Operands>
  Walk<Operands> walk() const {
    LAMELLA_CHECK_NOT_IMPLEMENTED(ndim() <= walk_dims, "cuda: more than ", walk_dims,
                                  " dimensions that cannot be joined; make the tensors contiguous");
    Walk<Operands> w{};
    w.ndim = ndim();
    w.count = count_;
    w.wide = count_ >> 31 != 0;
    for (int d = 0; d < w.ndim; d++) {
      w.sizes[d] = all_[d].size;
      w.divisors[d] = divisor_of(all_[d].size);
      for (int k = 0; k < Operands; k++) w.strides[k][d] = all_[d].steps[k];
    }
    return w;
  }

 private:
  struct One {
    int64_t size;
    std::vector<int64_t> steps;
  };
  std::vector<One> all_;
  int64_t count_ = 1;
};

}  // namespace cuda
