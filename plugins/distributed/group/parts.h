// Parts of several ranks that are reduced to one, in the order of ranks.
#pragma once

#include <lamella/tensor.h>

#include "group/work.h"

namespace lamella::distributed {

// Reduces tensors of one shape and dtype; narrow floats are added and multiplied in float32. With `mean` the result is
// divided by their number.
Tensor reduced(const std::vector<Tensor>& parts, int reduction, bool mean);

// Reduces memory: out[i] becomes that of the parts' elements i. It gives the same bits as `reduced`.
class PartsReducer {
 public:
  PartsReducer(int dtype, int reduction, bool mean);
  // `out` overlaps no part.
  void operator()(const std::vector<const char*>& parts, char* out, int64_t n) const;

 private:
  int dtype_, reduction_;
  bool mean_;
  int64_t itemsize_;
  lamella_loop loop_ = nullptr, quotient_ = nullptr;  // null: by operators
};

}  // namespace lamella::distributed
