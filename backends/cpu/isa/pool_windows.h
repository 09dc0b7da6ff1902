// Common parts of the loops of pools: vectors of any length, and the parts of windows that lie in the image.
#pragma once

#include <limits>

#include "backends/cpu/pool.h"

namespace lamella::cpu {
namespace {

#define INLINE inline __attribute__((always_inline))

template <class T>
constexpr T lowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                          : std::numeric_limits<T>::lowest();

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

template <class T, int N>
struct VectorOf {
  typedef T type __attribute__((vector_size(N * sizeof(T)), aligned(sizeof(T)), may_alias));
};

template <int Bytes>
struct IndexOf;
template <>
struct IndexOf<1> {
  using type = int8_t;
};
template <>
struct IndexOf<2> {
  using type = int16_t;
};
template <>
struct IndexOf<4> {
  using type = int32_t;
};
template <>
struct IndexOf<8> {
  using type = int64_t;
};

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
