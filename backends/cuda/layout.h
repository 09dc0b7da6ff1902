// Walks several operands in one order: their dimensions are ordered by the output's steps and joined where all allow
// it.
#pragma once

#include <vector>

#include "kernels/layout.h"
#include "launch.h"

namespace cuda {

// Sets the divisors of a layout whose dims and sizes are set, and whether it is small.
void set_divisors(Layout&);

constexpr int item_sizes[LAMELLA_PLAIN_DTYPES] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};

// The operands of one kernel, the output first. Each is broadcast to the output's shape.
class Plan {
 public:
  // A null tensor is an operand without memory: it takes part in nothing.
  Plan(const lamella_tensor* out, const lamella_tensor* const* inputs, int count);

  int64_t count() const { return count_; }
  // All operands without gaps in one order, but for single elements; a bit for each input that moves.
  bool is_flat() const { return flat_; }
  int moving() const { return moving_; }
  char* data(int operand) const { return data_[operand]; }
  // Whether one load may read `width` elements of each operand that moves.
  bool packs(int width) const;
  const Layout& layout() const { return layout_; }
  // Dimensions beyond those of a layout: calls body(offsets) with the operands' offsets in bytes of each part.
  template <class Body>
  lamella_status parts(Body body) const {
    std::vector<int64_t> at(outer_.size());
    int64_t offsets[layout_operands] = {};
    for (;;) {
      if (const lamella_status st = body(offsets)) return st;
      size_t d = 0;
      for (; d < outer_.size(); at[d++] = 0) {
        for (int k = 0; k < operands_; k++) offsets[k] += outer_[d].steps[k];
        if (++at[d] < outer_[d].size) break;
        for (int k = 0; k < operands_; k++) offsets[k] -= outer_[d].size * outer_[d].steps[k];
      }
      if (d == outer_.size()) return LAMELLA_OK;
    }
  }
  int64_t part() const { return part_; }  // elements of each part

 private:
  struct Dimension {
    int64_t size;
    int64_t steps[layout_operands];
  };
  int operands_;
  int64_t count_ = 1, part_ = 1;
  bool flat_ = false;
  int moving_ = 0, items_[layout_operands] = {};
  char* data_[layout_operands] = {};
  Layout layout_;
  std::vector<Dimension> outer_;
};

}  // namespace cuda
