// What is compiled once per instruction set and chosen at load: casts and the pointwise loops.
#pragma once

#include <lattis/c_api.h>

#include "backends/cpu/isa.h"

namespace lattis::cpu {

// n elements from one dtype to another; strides in bytes.
using CastLoop = void (*)(int64_t n, char* dst, int64_t dst_stride, const char* src, int64_t src_stride);

struct PointwiseEntry {
  const char* name;  // of the operator, without overload
  lattis_pointwise meaning;
};

struct Loops {
  const char* isa;
  CastLoop cast[LATTIS_NUM_DTYPES][LATTIS_NUM_DTYPES];  // [from][to]
  const PointwiseEntry* pointwise;
  int num_pointwise;
};

const Loops& loops();  // of the chosen instruction set

}  // namespace lattis::cpu

LATTIS_DECLARE_ISA(const Loops&, loops, ())
