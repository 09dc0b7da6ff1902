// Lines of complex numbers in the lanes of vectors: shuffles between both, reading and writing. Note [Instruction sets]
// is in backends/cpu/isa.h.
#pragma once

#include <utility>

#include "backends/cpu/fourier.h"
#include "backends/cpu/isa/lanes.h"

namespace lamella::cpu {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif
using FloatLanes = float __attribute__((vector_size(vector_bytes)));
using DoubleLanes = double __attribute__((vector_size(vector_bytes)));

template <class T>
struct LanesOf;
template <>
struct LanesOf<float> {
  using V = FloatLanes;
};
template <>
struct LanesOf<double> {
  using V = DoubleLanes;
};

template <class T>
struct WaveLines {
  using V = typename LanesOf<T>::V;
  static constexpr int L = vector_bytes / sizeof(T);
  using Each = std::make_index_sequence<L>;
  struct C {
    V r, i;
  };
  struct Root {
    T r, i;
  };

  // ---- shuffles ----

  template <int D, size_t... I>
  static LAMELLA_INLINE V keep_low(V a, V b,
                                   std::index_sequence<I...>) {  // a, with b's lower neighbours in its upper ones
    return __builtin_shufflevector(a, b,
                                   (static_cast<int>(I) & D ? L + static_cast<int>(I) - D : static_cast<int>(I))...);
  }
  template <int D, size_t... I>
  static LAMELLA_INLINE V keep_high(V a, V b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b,
                                   (static_cast<int>(I) & D ? L + static_cast<int>(I) : static_cast<int>(I) + D)...);
  }
  // Even and odd elements of two vectors are taken within groups of 16 bytes, in one instruction. So the lines lie in
  // the lanes in an order of their own: lane l holds line order(l).
  static constexpr int G = 16 / sizeof(T);
  static constexpr int order(int l) {
    const int first = l / G * (G / 2) + l % G % (G / 2);
    return l % G < G / 2 ? first : L / 2 + first;
  }
  static constexpr int second(int l, int first) {
    return l / G * G + l % (G / 2) * 2 + first + (l % G < G / 2 ? 0 : L);
  }
  static constexpr int between(int l, bool high) {
    return l / G * G + l % G / 2 + (high ? G / 2 : 0) + (l % 2 ? L : 0);
  }
  template <int First, size_t... I>
  static LAMELLA_INLINE V every_second(V a, V b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b, (second(static_cast<int>(I), First))...);
  }
  // Undoes every_second: the first or second half of pairs of a and b.
  template <bool High, size_t... I>
  static LAMELLA_INLINE V alternate(V a, V b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b, (between(static_cast<int>(I), High))...);
  }
  template <size_t... I>
  static LAMELLA_INLINE V ordered(V a, std::index_sequence<I...>) {  // lines into lanes
    return __builtin_shufflevector(a, a, (order(static_cast<int>(I)))...);
  }
  static constexpr int place(int line) {
    for (int l = 0; l < L; l++)
      if (order(l) == line) return l;
    return 0;
  }
  template <size_t... I>
  static LAMELLA_INLINE V unordered(V a, std::index_sequence<I...>) {  // lanes into lines
    return __builtin_shufflevector(a, a, (place(static_cast<int>(I)))...);
  }
  template <size_t... I>
  static LAMELLA_INLINE V backwards(V a, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, a, (L - 1 - static_cast<int>(I))...);
  }

  template <int D>
  static LAMELLA_INLINE void exchange(V* v) {
#pragma GCC unroll 16
    for (int i = 0; i < L; i++) {
      if (i & D) continue;
      const V a = v[i], b = v[i + D];
      v[i] = keep_low<D>(a, b, Each());
      v[i + D] = keep_high<D>(a, b, Each());
    }
  }
  // Transposes a square of lanes, exchanging parts of half, a quarter, … of its size.
  static LAMELLA_INLINE void transpose(V* v) {
    if constexpr (L >= 16) exchange<8>(v);
    if constexpr (L >= 8) exchange<4>(v);
    if constexpr (L >= 4) exchange<2>(v);
    exchange<1>(v);
  }

  // ---- reading and writing lines ----

  static LAMELLA_INLINE T get(const char* at) {
    T x;
    __builtin_memcpy(&x, at, sizeof x);
    return x;
  }
  static LAMELLA_INLINE void put(char* at, T x) { __builtin_memcpy(at, &x, sizeof x); }
  static LAMELLA_INLINE void store(char* at, const V& v) { __builtin_memcpy(at, &v, sizeof v); }

  static bool adjacent(const fourier::Side& s, int64_t item) {
    for (int l = 1; l < L; l++)
      if (s.at[l] != s.at[0] + l * item) return false;
    return true;
  }

  static void read(const fourier::Side& s, int lanes, int64_t n, C* to) {
    constexpr int64_t item = sizeof(T);
    const int64_t whole = 2 * item;
    const bool paired = s.imag == item || s.imag == -item;
    const bool swapped = s.imag < 0;
    if (lanes == L && paired && adjacent(s, whole)) {
      const char* at = s.at[0] - (swapped ? item : 0);
      for (int64_t k = 0; k < n; k++, at += s.step) {
        V a, b;
        load(a, at);
        load(b, at + sizeof(V));
        const V even = every_second<0>(a, b, Each()), odd = every_second<1>(a, b, Each());
        to[k].r = swapped ? odd : even;
        to[k].i = swapped ? even : odd;
      }
      return;
    }
    if (lanes == L && !paired && adjacent(s, item)) {
      const char* at = s.at[0];
      for (int64_t k = 0; k < n; k++, at += s.step) {
        V r, i = {};
        load(r, at);
        if (s.imag) load(i, at + s.imag);
        to[k] = {ordered(r, Each()), ordered(i, Each())};
      }
      return;
    }
    int64_t k = 0;
    if (lanes == L && paired && s.step == whole) {
      const int64_t back = swapped ? item : 0;
      for (; k + L <= n; k += L) {
        V low[L], high[L];
#pragma GCC unroll 16
        for (int l = 0; l < L; l++) {
          load(low[l], s.at[order(l)] - back + k * whole);
          load(high[l], s.at[order(l)] - back + k * whole + sizeof(V));
        }
        transpose(low);
        transpose(high);
#pragma GCC unroll 16
        for (int l = 0; l < L; l += 2) {
          to[k + l / 2] = swapped ? C{low[l + 1], low[l]} : C{low[l], low[l + 1]};
          to[k + L / 2 + l / 2] = swapped ? C{high[l + 1], high[l]} : C{high[l], high[l + 1]};
        }
      }
    }
    for (; k < n; k++)
      for (int l = 0; l < L; l++) {
        const char* at = s.at[order(l) < lanes ? order(l) : 0] + k * s.step;
        reinterpret_cast<T*>(&to[k].r)[l] = get(at);
        reinterpret_cast<T*>(&to[k].i)[l] = s.imag ? get(at + s.imag) : T(0);
      }
  }

  static void write(const fourier::Side& s, int lanes, int64_t n, const C* from) {
    constexpr int64_t item = sizeof(T);
    const int64_t whole = 2 * item;
    const bool paired = s.imag == item || s.imag == -item;
    const bool swapped = s.imag < 0;
    if (lanes == L && paired && adjacent(s, whole)) {
      char* at = s.at[0] - (swapped ? item : 0);
      for (int64_t k = 0; k < n; k++, at += s.step) {
        const V r = swapped ? from[k].i : from[k].r, i = swapped ? from[k].r : from[k].i;
        store(at, alternate<false>(r, i, Each()));
        store(at + sizeof(V), alternate<true>(r, i, Each()));
      }
      return;
    }
    if (lanes == L && !paired && adjacent(s, item)) {
      char* at = s.at[0];
      for (int64_t k = 0; k < n; k++, at += s.step) {
        store(at, unordered(from[k].r, Each()));
        if (s.imag) store(at + s.imag, unordered(from[k].i, Each()));
      }
      return;
    }
    int64_t k = 0;
    if (lanes == L && paired && s.step == whole) {
      const int64_t back = swapped ? item : 0;
      for (; k + L <= n; k += L) {
        V low[L], high[L];
#pragma GCC unroll 16
        for (int l = 0; l < L; l += 2) {
          const C a = from[k + l / 2], b = from[k + L / 2 + l / 2];
          low[l] = swapped ? a.i : a.r;
          low[l + 1] = swapped ? a.r : a.i;
          high[l] = swapped ? b.i : b.r;
          high[l + 1] = swapped ? b.r : b.i;
        }
        transpose(low);
        transpose(high);
#pragma GCC unroll 16
        for (int l = 0; l < L; l++) {
          store(s.at[order(l)] - back + k * whole, low[l]);
          store(s.at[order(l)] - back + k * whole + sizeof(V), high[l]);
        }
      }
    }
    for (; k < n; k++)
      for (int l = 0; l < L; l++) {
        if (order(l) >= lanes) continue;
        char* at = s.at[order(l)] + k * s.step;
        put(at, reinterpret_cast<const T*>(&from[k].r)[l]);
        if (s.imag) put(at + s.imag, reinterpret_cast<const T*>(&from[k].i)[l]);
      }
  }
};

}  // namespace
}  // namespace lamella::cpu
