// The arguments of optimizers' updates: numbers in memory or by value, plans of tensors, and runs of elements.
#pragma once
#include <lamella/updates.h>

namespace cuda::updates {

// Tensors of a launch that makes plans, tensors of a launch that applies them, and elements of a block of the latter.
constexpr int plans_each = 32, tensors_each = 32, update_piece = 256 * 16;

// A number in the device's memory, of a floating dtype, or a value if `at` is null.
struct Number {
  const void* at = nullptr;
  int32_t bytes = 8;  // of the element; 3 for bfloat16
  double value = 0;
};

struct Steps {
  int32_t count = 0;
  Number options[lamella::updates::most_options], stop;
  Number steps[plans_each], kept[lamella::updates::most_kept][plans_each];
};

// A plan on the device. The variant ~0 means that nothing is changed.
struct DevicePlan {
  uint32_t variant, reserved;
  double decay, factors[lamella::updates::most_factors];
};

// Tensors as runs of elements. A launch cuts them into pieces of `update_piece`, with a block for each piece.
struct Runs {
  int32_t count = 0;
  uint32_t first_piece[tensors_each + 1] = {};
  int64_t sizes[tensors_each] = {};
  void* at[lamella::updates::most_lists][tensors_each] = {};
};

}  // namespace cuda::updates
