// What is compiled once per instruction set and chosen at load: casts and the pointwise loops.
#pragma once

#include <lattis/c_api.h>

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
  const PointwiseEntry* pointwise;                      // null: the catalogue's own loops serve
  int num_pointwise;
};

const Loops& baseline_loops();  // x86-64
const Loops& v3_loops();        // x86-64-v3: AVX2, FMA, F16C
const Loops& loops();           // the best this machine runs, or what LATTIS_CPU_ISA names

}  // namespace lattis::cpu
