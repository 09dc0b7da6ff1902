// Makes the walks of kernels/walk.cuh: neighbouring dimensions that every operand steps through alike become one.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/walk.cuh"
#include "operands.h"

namespace cuda {

inline Divisor divisor_of(int64_t by) {
  if (by < 1 || by >> 31) return {1, 1, 0};  // never divided by
  uint32_t shift = 0;
  while ((uint64_t{1} << shift) < static_cast<uint64_t>(by)) shift++;
  const uint64_t factor =
      ((uint64_t{1} << 32) * ((uint64_t{1} << shift) - static_cast<uint64_t>(by))) / static_cast<uint64_t>(by) + 1;
  return {static_cast<uint32_t>(by), static_cast<uint32_t>(factor), shift};
}

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
