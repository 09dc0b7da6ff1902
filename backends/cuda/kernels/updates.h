// The arguments of optimizers' updates: numbers in memory or by value, plans of tensors, and runs of elements.
#pragma once
#include <lamella/updates.h>

namespace cuda::updates {

// Tensors of a launch that makes plans, and of one that applies them; elements of a block of the latter.
constexpr int plans_each = 32, tensors_each = 32, update_piece = 256 * 16;

// A number in memory of the device, of one of the floating dtypes, or a value where `at` is null.
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

// A plan on the device; a variant of ~0 says that nothing is to be changed.
struct DevicePlan {
  uint32_t variant, reserved;
  double decay, factors[lamella::updates::most_factors];
};

// Tensors as runs of elements; those of a launch are cut into pieces of `update_piece`, a block each.
struct Runs {
  int32_t count = 0;
  uint32_t first_piece[tensors_each + 1] = {};
  int64_t sizes[tensors_each] = {};
  void* at[lamella::updates::most_lists][tensors_each] = {};
};

}  // namespace cuda::updates
