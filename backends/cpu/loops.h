// Loops compiled once per instruction set and chosen at the first use: casts, packing of blocks, and copies past the
// caches.
#pragma once

#include <lamella/c_api.h>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

// Converts n elements from one dtype to another; strides in bytes.
using CastLoop = void (*)(int64_t n, char* dst, int64_t dst_stride, const char* src, int64_t src_stride);

// Copies a block of elements of one size, with any strides, to rows without gaps that are `dst_row` bytes apart.
using PackLoop = void (*)(int64_t rows, int64_t cols, char* dst, int64_t dst_row, const char* src, int64_t src_row,
                          int64_t src_col);

struct Loops {
  const char* isa;
  CastLoop cast[LAMELLA_PLAIN_DTYPES][LAMELLA_PLAIN_DTYPES];  // [from][to]
  PackLoop pack[5];                                           // [base-2 logarithm of the element's size in bytes]
  void (*stream)(char* dst, const char* src, int64_t bytes);  // writes past the caches; a caller ends with fence
  void (*fence)();
};

const Loops& loops();  // the loops of the chosen instruction set

// The element sizes of the plain dtypes, in bytes.
inline constexpr int64_t dtype_bytes[LAMELLA_PLAIN_DTYPES] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
CastLoop same_loop(int dtype);  // for any dtype: moves elements without conversion
inline PackLoop pack_of(int64_t bytes) { return loops().pack[__builtin_ctzll(bytes)]; }

}  // namespace lamella::cpu

LAMELLA_DECLARE_ISA(void, fill_loops, (Loops&))
LAMELLA_DECLARE_ISA(void, fill_casts, (Loops&))
LAMELLA_DECLARE_ISA(void, fill_tiles, (Loops&))
