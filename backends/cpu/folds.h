// Folds: the loops of reductions over a run of elements or neighbouring columns, compiled once per instruction set.
// The walk around them is in reduction.cpp.
#pragma once

#include <lamella/c_api.h>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

enum class Reduce {
  sum,
  mean,
  nansum,
  prod,
  amax,
  amin,
  aminmax,
  argmax,
  argmin,
  norm0,
  norm1,
  norm2,
  norm_max,
  norm_min,
  norm_p,
  var,
  std,
  logsumexp,
  count
};

// A fold computes each output in an accumulator: `start` begins it, `run` and `columns` add elements in any number of
// calls, `join` adds the accumulator of later elements, and `finish` makes the output of it.
struct Fold {
  int source;     // the dtype that run and columns read; others are cast to it, tile by tile
  int result[2];  // the dtypes that finish writes
  int bytes;      // the size of an accumulator
  bool indexed;   // the result depends on positions, so the order of elements must be kept
  void (*start)(int64_t n, void* acc);
  // Adds n neighbouring elements to one accumulator; `first` is the position of the first element.
  void (*run)(int64_t n, const void* x, int64_t first, double param, void* acc);
  // Adds rows of `width` neighbouring elements, each element to its column's accumulator.
  void (*columns)(int64_t rows, const void* x, int64_t row_stride, int64_t width, int64_t first, double param,
                  void* acc);
  void (*join)(int64_t n, void* acc, const void* later);
  void (*finish)(int64_t n, const void* acc, int64_t length, double param, void* out, void* second);
};

inline constexpr int64_t fold_width = 1024;  // columns at a time, at most

const Fold* fold(Reduce what, int dtype);  // null: there is no fold for this dtype

}  // namespace lamella::cpu

// Return the fold of a reduction for a dtype; null for another family's reduction, or if the dtype has none.
LAMELLA_DECLARE_ISA(const Fold*, sum_fold, (Reduce what, int dtype))
LAMELLA_DECLARE_ISA(const Fold*, extremum_fold, (Reduce what, int dtype))
LAMELLA_DECLARE_ISA(const Fold*, moment_fold, (Reduce what, int dtype))
