// Loops of linear layers whose weight is integers with scales, once for each instruction set.
#pragma once

#include <cstdint>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

// A few rows of floats, times rows of codes. Each row of codes has `groups` groups of neighbours with a scale each.
struct FewRows {
  int64_t rows, depth, groups;  // at most most_rows rows
  const float* x;               // the rows as `arrange` writes them
};

constexpr int64_t most_rows = 4;

// The loops of codes of one width.
struct WeightLoops {
  // Returns the room, in floats, that a row of x takes as `multiply` reads it.
  int64_t (*arranged)(int64_t depth);
  // Writes a row of x in the layout that `multiply` reads.
  void (*arrange)(int64_t depth, const float* x, float* to);
  // Multiplies by n rows of codes; out (rows, n) has `out_row` floats from row to row.
  void (*multiply)(const FewRows& f, int64_t n, const void* codes, const float* scales, float* out, int64_t out_row);
  // Returns whether `multiply` takes groups of this size.
  bool (*serves)(int64_t depth, int64_t groups);
};

struct AllWeightLoops {
  WeightLoops int8, int4;
};

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const ::lamella::cpu::AllWeightLoops&, weight_loops, ())
