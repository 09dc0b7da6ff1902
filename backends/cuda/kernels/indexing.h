// The arguments of kernels that read and write elements by indices.
#pragma once
#include "walk.h"

namespace cuda {

constexpr int most_indices = 8;  // the most index tensors of a call
constexpr int fold_piece = 32;   // sorted numbers that a thread folds

// Index tensors that broadcast over the walk's dimensions. An index times its `scale` is an offset in elements of self.
struct Indices {
  int32_t count = 0;
  const int64_t* at[most_indices] = {};
  int64_t strides[most_indices][walk_dims] = {};
  int64_t size[most_indices] = {}, scale[most_indices] = {};
};

}  // namespace cuda
