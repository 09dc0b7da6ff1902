// Scans: running sums and products over a row or over neighbouring columns, compiled once per instruction set.
#pragma once

#include <lamella/c_api.h>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

struct Scan {
  int carry_bytes;  // the size of the carry from element to element, at most 16
  void (*start)(int64_t n, void* carry);
  void (*join)(void* carry, const void* later);
  // Scans a piece of a row: joins each element to the carry, and writes `offset` joined with the carry. A neutral
  // offset and the carry of the piece before continue a row.
  void (*row)(int64_t n, const void* in, void* out, const void* offset, void* carry);
  // Computes the carry that `row` computes, to the bit, and writes nothing else.
  void (*total)(int64_t n, const void* in, void* out, const void* offset, void* carry);
  // Scans each column of rows of `width` columns; strides in elements.
  void (*columns)(int64_t rows, int64_t width, const void* in, int64_t in_stride, void* out, int64_t out_stride,
                  void* carry);
};

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(const Scan*, scan, (bool product, int dtype))
