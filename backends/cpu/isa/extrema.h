// The larger or the smaller of two, and of many. For the files of this folder.
#pragma once

#include <limits>

#include "backends/cpu/isa/fold.h"

namespace lamella::cpu {
namespace {

template <class T>
constexpr T lowest() {
  if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::min();
}
template <class T>
constexpr T highest() {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::max();
}

template <bool Max, class T>
inline T better(T a, T b) {  // a NaN if either is one
  if constexpr (Max)
    return ((b > a) | (b != b)) != 0 ? b : a;
  else
    return ((b < a) | (b != b)) != 0 ? b : a;
}

// Extrema of floats. NaNs are noted in a mask of their own, so that one vector instruction chooses the better number.
template <class T, bool Max>
struct FloatExtremum {
  using V = std::conditional_t<std::is_same_v<T, float>, Floats, Doubles>;
  using Mask = std::conditional_t<std::is_same_v<T, float>, Ints, Longs>;
  static constexpr int64_t size = sizeof(V) / sizeof(T);
  static constexpr T worst = Max ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();

  static LAMELLA_INLINE void take(V& best, Mask& nan, const V& v) {
    best = Max ? (v > best ? v : best) : (v < best ? v : best);
    nan |= v != v;
  }

  template <class W>
  static LAMELLA_INLINE void keep(W& a, const W& b) {
    a = Max ? (b > a ? b : a) : (b < a ? b : a);
  }
  static LAMELLA_INLINE float across(const Floats& v) {
    Floats8 a = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7);
    keep(a, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15));
    Floats4 b = __builtin_shufflevector(a, a, 0, 1, 2, 3);
    keep(b, __builtin_shufflevector(a, a, 4, 5, 6, 7));
    return across(b);
  }
  static LAMELLA_INLINE double across(const Doubles& v) {
    Doubles4 a = __builtin_shufflevector(v, v, 0, 1, 2, 3);
    keep(a, __builtin_shufflevector(v, v, 4, 5, 6, 7));
    return across(a);
  }
  template <class W>
  static LAMELLA_INLINE T across(const W& four) {
    T a = four[0], b = four[2];
    keep(a, four[1]);
    keep(b, four[3]);
    keep(a, b);
    return a;
  }

  static T run(int64_t n, const T* x) {
    V best[4], v;
    Mask nan[4] = {};
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) best[k] = V{} + worst;
    int64_t i = 0;
    for (; i + 4 * size <= n; i += 4 * size)
#pragma GCC unroll 4
      for (int k = 0; k < 4; k++) {
        load(v, x + i + size * k);
        take(best[k], nan[k], v);
      }
    for (; i + size <= n; i += size) {
      load(v, x + i);
      take(best[0], nan[0], v);
    }
    if (i < n) {  // the last vector overlaps the one before
      load(v, x + n - size);
      take(best[0], nan[0], v);
    }
    for (int k = 1; k < 4; k++) {
      take(best[0], nan[0], best[k]);
      nan[0] |= nan[k];
    }
    return any((Longs)nan[0]) ? std::numeric_limits<T>::quiet_NaN() : across(best[0]);
  }

  template <int N>
  static LAMELLA_INLINE void strip(int64_t rows, const T* x, int64_t stride, T* a) {
    V best[N], v;
    Mask nan[N];
#pragma GCC unroll 8
    for (int k = 0; k < N; k++) {
      load(best[k], a + size * k);
      nan[k] = best[k] != best[k];
    }
#pragma GCC unroll 1
    for (int64_t r = 0; r < rows; r++, x += stride)
#pragma GCC unroll 8
      for (int k = 0; k < N; k++) {
        load(v, x + size * k);
        take(best[k], nan[k], v);
      }
#pragma GCC unroll 8
    for (int k = 0; k < N; k++) {
      best[k] = nan[k] ? V{} + std::numeric_limits<T>::quiet_NaN() : best[k];
      __builtin_memcpy(a + size * k, best + k, sizeof(V));
    }
  }
  // Compares each column of some rows with its extremum so far; narrow rows in the order of the memory: see chain.h.
  static void few_rows(int64_t rows, const T* x, int64_t stride, int64_t width, T* a) {
    int64_t k = 0;
    if (width <= 128) {
      for (; k + 8 * size <= width; k += 8 * size) strip<8>(rows, x + k, stride, a + k);
      for (; k + 4 * size <= width; k += 4 * size) strip<4>(rows, x + k, stride, a + k);
    }
    for (; k + size <= width; k += size) strip<1>(rows, x + k, stride, a + k);
    for (; k < width; k++)
      for (int64_t r = 0; r < rows; r++) a[k] = better<Max>(a[k], x[r * stride + k]);
  }
};

template <class T, bool Max>
struct Extremum : std::conditional_t<std::is_floating_point_v<T>, FloatExtremum<T, Max>, Nothing> {
  using In = T;
  using Acc = T;
  using Out = T;
  static Acc identity() { return Max ? lowest<T>() : highest<T>(); }
  static inline Acc lift(T x, double) { return x; }
  static inline Acc join(Acc a, Acc b) { return better<Max>(a, b); }
  static Out finish(Acc a, int64_t, double) { return a; }
};

}  // namespace
}  // namespace lamella::cpu
