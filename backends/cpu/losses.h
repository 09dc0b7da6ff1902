// Losses over runs, compiled once per instruction set, for float and double.
#pragma once

#include <lamella/c_api.h>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

// The numbers of _pair_loss's argument 'kind'.
enum class PairLoss { squared, absolute, huber, smooth_l1, count };

struct Losses {
  // Returns the sum of n losses of x and y. If `each` is not null, writes each loss to `each` instead, and returns 0.
  double (*pair[static_cast<int>(PairLoss::count)])(int64_t n, const void* x, const void* y, double width, void* each);
  // Writes the derivative of each loss by x, times `scale`, and times the numbers in g unless that is null.
  void (*pair_backward[static_cast<int>(PairLoss::count)])(int64_t n, const void* x, const void* y, const void* g,
                                                           double scale, double width, void* to);
};

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const Losses*, losses, (int dtype))
