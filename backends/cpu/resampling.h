// Resampling of planes, or of images of neighbouring channels, at other places: loops compiled once per instruction
// set.
#pragma once

#include <lamella/c_api.h>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

// Tap k of place i reads index[k * out + i], with the weight at the same position, an element of the plane's dtype.
// `count` is null, or the number of taps of each place; the entries beyond it have the index `in` and weight 0. If
// `first` is not null, the table has only the taps that count: those of place i follow each other from first[i] on.
// Without taps the axis is not resampled.
struct ResampleAxis {
  int64_t in, out, taps;
  const int32_t* index;
  const void* weight;
  const int32_t* count;
  const int64_t* first;

  int64_t at(int64_t k, int64_t i) const { return first ? first[i] + k : k * out + i; }
};

// One plane of rows and columns, whose elements are `depth` neighbours; rows [begin, end) of its output.
struct ResamplePlane {
  const void* in;
  void* out;
  int64_t depth;
  ResampleAxis rows, columns;
  int64_t begin, end;
  bool rows_first;  // needed if places have different numbers of taps
  int64_t slots;    // unless rows_first: the number of rows, resampled along their columns, that one place needs
  void* space;      // resample_space() elements
};

inline constexpr int64_t most_slots = 64;

static inline int64_t resample_space(const ResamplePlane& p) {
  return p.rows_first ? (p.columns.in + 1) * p.depth : p.slots * p.columns.out * p.depth;
}

struct Resampling {
  void (*mix[LAMELLA_PLAIN_DTYPES])(const ResamplePlane&);  // by weights; null where there is none
  void (*pick[5])(const ResamplePlane&);                    // one element for each place, by the log2 of its size
};

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const Resampling&, resampling, ())
