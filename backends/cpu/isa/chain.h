// Sums and products of many floats. For the files of this folder.
#pragma once

#include "backends/cpu/isa/lanes.h"

namespace lamella::cpu {
namespace {

// FloatChain adds (or multiplies) floats in chains of at most ten, joins four chains as floats, then goes on as double:
// as fast as the memory, and closer than pairwise. Plain and Square are its `map`.
struct Plain {
  LAMELLA_INLINE void operator()(Floats&) const {}
};
struct Square {
  LAMELLA_INLINE void operator()(Floats& v) const { v *= v; }
};
// `map` changes each vector first. `nothing` fills up the last vector: a number that does not change the result.
template <bool Product, class Map = Plain>
struct FloatChain {
  template <class V>
  static LAMELLA_INLINE void chain(V& a, const V& b) {
    if constexpr (Product)
      a *= b;
    else
      a += b;
  }
  static constexpr double neutral = Product ? 1 : 0;

  static double run(int64_t n, const float* x, Map map = {}, float nothing = Product) {
    auto get = [&](Floats & to, const float* from) __attribute__((always_inline)) {
      load(to, from);
      map(to);
    };
    Doubles total = Doubles{} + neutral;
    Floats a[4], v;
    // Not unrolled further: the prefetcher follows the order of the loads, each of which has a step of its own.
    auto four = [&](int64_t steps) __attribute__((always_inline)) {
#pragma GCC unroll 4
      for (int k = 0; k < 4; k++) a[k] = Floats{} + static_cast<float>(neutral);
#pragma GCC unroll 1
      for (; steps > 0; steps--, x += 64)
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) {
          get(v, x + 16 * k);
          chain(a[k], v);
        }
    };
    for (; n >= 512; n -= 512) {
      four(8);
      into(total, a);
    }
    if (n > 0) {
      four(n / 64);
      n %= 64;
      for (; n >= 16; n -= 16, x += 16) {
        get(v, x);
        chain(a[0], v);
      }
      if (n > 0) {
        load_rest(v, x + n, n, nothing);
        map(v);
        chain(a[1], v);
      }
      into(total, a);
    }
    Doubles4 half = __builtin_shufflevector(total, total, 0, 1, 2, 3);
    chain(half, __builtin_shufflevector(total, total, 4, 5, 6, 7));
    Doubles2 quarter = __builtin_shufflevector(half, half, 0, 1);
    chain(quarter, __builtin_shufflevector(half, half, 2, 3));
    return Product ? quarter[0] * quarter[1] : quarter[0] + quarter[1];
  }
  static LAMELLA_INLINE void into(Doubles& total, const Floats& v) {
    Doubles low, high;
    widen(low, high, v);
    chain(low, high);
    chain(total, low);
  }

  static LAMELLA_INLINE void into(Doubles& total, Floats (&a)[4]) {
    chain(a[0], a[1]);
    chain(a[2], a[3]);
    chain(a[0], a[2]);
    into(total, a[0]);
  }

  // Adds (or multiplies) eight rows, each column into its double. Narrow rows are read in the order of the memory: the
  // prefetcher does not follow eight streams within a page.
  static void eight_rows(const float* x, int64_t stride, int64_t width, double* a) {
    int64_t k = 0;
    if (width <= 128) {
      for (; k + 128 <= width; k += 128) strip<8>(x + k, stride, a + k);
      for (; k + 64 <= width; k += 64) strip<4>(x + k, stride, a + k);
      for (; k + 16 <= width; k += 16) strip<1>(x + k, stride, a + k);
    }
#pragma omp simd
    for (int64_t i = k; i < width; i++) {
      const float* at = x + i;
      float s = at[0];
      chain(s, at[stride]);
      chain(s, at[2 * stride]);
      chain(s, at[3 * stride]);
      chain(s, at[4 * stride]);
      chain(s, at[5 * stride]);
      chain(s, at[6 * stride]);
      chain(s, at[7 * stride]);
      chain(a[i], static_cast<double>(s));
    }
  }
  template <int N>
  static LAMELLA_INLINE void strip(const float* x, int64_t stride, double* a) {
    Floats s[N], v;
#pragma GCC unroll 8
    for (int k = 0; k < N; k++) load(s[k], x + 16 * k);
#pragma GCC unroll 1
    for (int row = 1; row < 8; row++) {
      x += stride;
#pragma GCC unroll 8
      for (int k = 0; k < N; k++) {
        load(v, x + 16 * k);
        chain(s[k], v);
      }
    }
#pragma GCC unroll 8
    for (int k = 0; k < N; k++) {
      Doubles half[2], sum[2];
      widen(half[0], half[1], s[k]);
      __builtin_memcpy(sum, a + 16 * k, sizeof sum);
      chain(sum[0], half[0]);
      chain(sum[1], half[1]);
      __builtin_memcpy(a + 16 * k, sum, sizeof sum);
    }
  }
};

// Returns the sum of a run; below 16 elements, added one by one in double.
double add_all(int64_t n, const float* x) {
  if (n >= 16) return FloatChain<false>::run(n, x);
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += static_cast<double>(x[i]);
  return sum;
}
double add_all(int64_t n, const double* x) {
  Doubles a[4] = {}, v;
  int64_t i = 0;
  for (; i + 32 <= n; i += 32)
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
      load(v, x + i + 8 * k);
      a[k] += v;
    }
  double rest = 0;
  for (; i < n; i++) rest += x[i];
  return add_up((a[0] + a[1]) + (a[2] + a[3])) + rest;
}

}  // namespace
}  // namespace lamella::cpu
