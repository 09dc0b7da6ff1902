// Common parts of the loops of pools: vectors of any length, and the parts of windows that lie in the image.
#pragma once

#include <lamella/half.h>

#include <limits>

#include "backends/cpu/isa/registers.h"
#include "backends/cpu/pool.h"

namespace lamella::cpu {
namespace {

#define INLINE inline __attribute__((always_inline))

template <class T>
constexpr T lowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                          : std::numeric_limits<T>::lowest();

template <class T, int N>
struct VectorOf {
  typedef T type __attribute__((vector_size(N * sizeof(T)), aligned(sizeof(T)), may_alias));
};

// The signed integer of as many bytes.
template <int Bytes>
using Signed = std::make_signed_t<Unsigned<Bytes>>;

INLINE int64_t clipped(int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; }

// Returns the first row or column of a window that lies in the image.
INLINE int64_t first_inside(int64_t begin, int64_t dilation) {
  return begin >= 0 ? begin : begin + (-begin + dilation - 1) / dilation * dilation;
}

// Returns whether the windows are neighbouring squares of two by two that lie in the image.
INLINE bool are_squares(const PoolPlane& p) {
  bool all = true;
  for (int d = 0; d < 2; d++)
    all &= p.kernel[d] == 2 && p.stride[d] == 2 && p.padding[d] == 0 && p.dilation[d] == 1 &&
           2 * p.places[d] <= p.image[d];
  return all;
}

}  // namespace
}  // namespace lamella::cpu
