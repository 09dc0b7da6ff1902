// Vectors of fixed length for the files of this folder. The compiler splits them if registers are shorter, so that sums
// have the same order, and the same bits, with every instruction set.
#pragma once

#include <cstdint>

namespace lamella::cpu {
namespace {

using Floats = float __attribute__((vector_size(64)));
using Floats8 = float __attribute__((vector_size(32)));
using Floats4 = float __attribute__((vector_size(16)));
using Ints = int32_t __attribute__((vector_size(64)));
using Longs = int64_t __attribute__((vector_size(64)));
using Longs4 = int64_t __attribute__((vector_size(32)));
using Doubles = double __attribute__((vector_size(64)));
using Doubles4 = double __attribute__((vector_size(32)));
using Doubles2 = double __attribute__((vector_size(16)));

#define LAMELLA_INLINE inline __attribute__((always_inline))

template <class V>
LAMELLA_INLINE void load(V& v, const void* from) {
  __builtin_memcpy(&v, from, sizeof v);
}
// Loads eight floats as doubles.
LAMELLA_INLINE void load_wide(Doubles& v, const float* from) {
  Floats8 x;
  load(x, from);
  v = __builtin_convertvector(x, Doubles);
}
LAMELLA_INLINE void load_wide(Doubles& v, const double* from) { load(v, from); }

// Loads the last `rest` of the 16 floats that end at `end`; the lanes before them get the value `others`.
LAMELLA_INLINE void load_rest(Floats& v, const float* end, int64_t rest, float others) {
  load(v, end - 16);
  const Ints at = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  v = at >= static_cast<int32_t>(16 - rest) ? v : Floats{} + others;
}

LAMELLA_INLINE double add_up(const Doubles& v) {
  const Doubles4 a = __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
  const Doubles2 b = __builtin_shufflevector(a, a, 0, 1) + __builtin_shufflevector(a, a, 2, 3);
  return b[0] + b[1];
}
LAMELLA_INLINE bool any(const Longs& v) {
  const Longs4 a = __builtin_shufflevector(v, v, 0, 1, 2, 3) | __builtin_shufflevector(v, v, 4, 5, 6, 7);
  return ((a[0] | a[1]) | (a[2] | a[3])) != 0;
}
LAMELLA_INLINE void widen(Doubles& low, Doubles& high, const Floats& v) {
  low = __builtin_convertvector(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7), Doubles);
  high = __builtin_convertvector(__builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15), Doubles);
}

}  // namespace
}  // namespace lamella::cpu
