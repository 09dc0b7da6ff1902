// Groups of matrices in vectors: element (i, j) of all of them is one vector. See Note [Interleaved matrices] in
// backends/cpu/small_matrices.h.
#pragma once

#include <cstdint>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "backends/cpu/isa/registers.h"
#include "backends/cpu/small_matrices.h"

namespace lamella::cpu {
namespace {
namespace interleaved {

#ifndef LAMELLA_INLINE
#define LAMELLA_INLINE inline __attribute__((always_inline))
#endif

template <class T>
struct Types;
template <>
struct Types<float> {
  using Pack = float __attribute__((vector_size(vector_bytes)));
  using Mask = int32_t __attribute__((vector_size(vector_bytes)));
  using Int = int32_t;
  static constexpr int mantissa = 23;
  static constexpr Int infinity = 0x7f800000;
  static constexpr float epsilon = 0x1p-23f;
  static constexpr float least_square = 1e-30f;  // squares below it may have lost digits
  static constexpr float negligible = 1e-14f;    // numbers below it do not change 1; its square is above least_square
};
template <>
struct Types<double> {
  using Pack = double __attribute__((vector_size(vector_bytes)));
  using Mask = int64_t __attribute__((vector_size(vector_bytes)));
  using Int = int64_t;
  static constexpr int mantissa = 52;
  static constexpr Int infinity = 0x7ff0000000000000;
  static constexpr double epsilon = 0x1p-52;
  static constexpr double least_square = 1e-290;
  static constexpr double negligible = 1e-140;
};
template <class T>
using Pack = typename Types<T>::Pack;
template <class T>
using Mask = typename Types<T>::Mask;
template <class T>
using Int = typename Types<T>::Int;
template <class T>
constexpr int width = vector_bytes / static_cast<int>(sizeof(T));
template <class T>
constexpr Int<T> sign_bit = static_cast<Int<T>>(1ull << (sizeof(T) * 8 - 1));

// ---- arithmetic ----

template <class T>
LAMELLA_INLINE Pack<T> root(const Pack<T>& x) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return (Pack<T>)_mm512_maskz_sqrt_ps(static_cast<__mmask16>(-1), (__m512)x);
  else
    return (Pack<T>)_mm512_maskz_sqrt_pd(static_cast<__mmask8>(-1), (__m512d)x);
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4)
    return (Pack<T>)_mm256_sqrt_ps((__m256)x);
  else
    return (Pack<T>)_mm256_sqrt_pd((__m256d)x);
#elif defined(__x86_64__)
  if constexpr (sizeof(T) == 4)
    return (Pack<T>)_mm_sqrt_ps((__m128)x);
  else
    return (Pack<T>)_mm_sqrt_pd((__m128d)x);
#else
  Pack<T> r;
  for (int l = 0; l < width<T>; l++) r[l] = sizeof(T) == 4 ? __builtin_sqrtf(x[l]) : __builtin_sqrt(x[l]);
  return r;
#endif
}
template <class T>
LAMELLA_INLINE Pack<T> magnitude(const Pack<T>& x) {
  return (Pack<T>)((Mask<T>)x & ~sign_bit<T>);
}
// Returns x with the sign of y.
template <class T>
LAMELLA_INLINE Pack<T> with_sign(const Pack<T>& x, const Pack<T>& y) {
  return (Pack<T>)(((Mask<T>)x & ~sign_bit<T>) | ((Mask<T>)y & sign_bit<T>));
}
template <class T>
LAMELLA_INLINE bool any(const Mask<T>& m) {
#if defined(__AVX2__) && !defined(__AVX512F__)
  return !_mm256_testz_si256((__m256i)m, (__m256i)m);
#else
  int64_t words[vector_bytes / 8], all = 0;
  __builtin_memcpy(words, &m, sizeof words);
  for (const int64_t w : words) all |= w;
  return all != 0;
#endif
}

// The powers of two that bring the largest magnitude to at least 1 and less than 4, and back. `most` is the largest
// of the bits of magnitudes. Both factors are normal numbers.
template <class T>
LAMELLA_INLINE void powers(const Mask<T>& most, Pack<T>& down, Pack<T>& up) {
  constexpr Int<T> one = Int<T>(1) << Types<T>::mantissa;
  constexpr Int<T> last = Types<T>::infinity - 2 * one;
  Mask<T> bits = most & Types<T>::infinity;
  bits = bits < one ? Mask<T>{} + one : bits;
  bits = bits > last ? Mask<T>{} + last : bits;
  up = (Pack<T>)bits;
  down = (Pack<T>)(last + one - bits);
}

// ---- copies between matrices and vectors ----

// The matrices of a group: first, first + 1, ..., of which those before `count` exist.
template <class T>
struct Group {
  int64_t first, count;
  LAMELLA_INLINE int64_t at(int l) const { return first + l < count ? first + l : count - 1; }
  LAMELLA_INLINE int present() const { return count - first < width<T> ? static_cast<int>(count - first) : width<T>; }
};

template <class P>
LAMELLA_INLINE void halves(P& low, P& high, const P& a, const P& b) {
  constexpr int n = sizeof(P) / sizeof(a[0]);
  if constexpr (n == 2) {
    low = __builtin_shufflevector(a, b, 0, 2);
    high = __builtin_shufflevector(a, b, 1, 3);
  } else if constexpr (n == 4) {
    low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  } else if constexpr (n == 8) {
    low = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    high = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  } else {
    low = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    high = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  }
}
// Transposes a square: each round interleaves vector i with vector i + n / 2.
template <class P>
LAMELLA_INLINE void transpose(P* x) {
  constexpr int n = sizeof(P) / sizeof(x[0][0]);
  for (int round = 1; round < n; round *= 2) {
    P y[n];
#pragma GCC unroll 8
    for (int i = 0; i < n / 2; i++) halves(y[2 * i], y[2 * i + 1], x[i], x[i + n / 2]);
#pragma GCC unroll 16
    for (int i = 0; i < n; i++) x[i] = y[i];
  }
}

// The order in which both copies go through a matrix: runs of neighbours in memory, as long as possible.
struct Runs {
  int64_t count, length, step, each;   // in memory, in elements: from run to run, and within a run
  int64_t vectors_step, vectors_each;  // in vectors
};
template <class T>
LAMELLA_INLINE Runs runs(const Matrices<T>& a, int64_t m, int64_t n, int64_t row, int64_t column) {
  Runs r = {m, n, a.row, a.column, row, column};
  if (a.column != 1 && a.row == 1) r = {n, m, a.column, a.row, column, row};
  if (r.each == 1 && r.step == r.length && r.vectors_step == r.length * r.vectors_each)
    r.length *= r.count, r.count = 1;
  return r;
}

// Copies a group of m×n matrices to vectors: element (i, j) to x[i * row + j * column].
template <class T>
__attribute__((noinline)) void load(Pack<T>* x, int64_t row, int64_t column, const Matrices<const T>& a,
                                    const Group<T>& g, int64_t m, int64_t n) {
  constexpr int w = width<T>;
  const T* base[w];
  for (int l = 0; l < w; l++) base[l] = a.data + g.at(l) * a.matrix;
  const Runs r = runs(a, m, n, row, column);
  for (int64_t i = 0; i < r.count; i++) {
    const int64_t from = i * r.step;
    Pack<T>* to = x + i * r.vectors_step;
    if (r.each == 1 && r.length >= w) {
      for (int64_t j = 0; j < r.length; j += w) {
        const int64_t k = j + w > r.length ? r.length - w : j;  // the last square overlaps the one before
        Pack<T> square[w];
#pragma GCC unroll 16
        for (int l = 0; l < w; l++) __builtin_memcpy(&square[l], base[l] + from + k, sizeof square[l]);
        transpose(square);
#pragma GCC unroll 16
        for (int l = 0; l < w; l++) to[(k + l) * r.vectors_each] = square[l];
      }
    } else {
      for (int64_t j = 0; j < r.length; j++) {
        for (int l = 0; l < w; l++) to[j * r.vectors_each][l] = base[l][from + j * r.each];
      }
    }
  }
}

// Copies vectors back to the matrices of the group that exist.
template <class T>
__attribute__((noinline)) void store(const Pack<T>* x, int64_t row, int64_t column, const Matrices<T>& a,
                                     const Group<T>& g, int64_t m, int64_t n) {
  constexpr int w = width<T>;
  const int present = g.present();
  T* base = a.data + g.first * a.matrix;
  const Runs r = runs(a, m, n, row, column);
  for (int64_t i = 0; i < r.count; i++) {
    const int64_t to = i * r.step;
    const Pack<T>* from = x + i * r.vectors_step;
    if (r.each == 1 && r.length >= w && present == w) {
      for (int64_t j = 0; j < r.length; j += w) {
        const int64_t k = j + w > r.length ? r.length - w : j;
        Pack<T> square[w];
#pragma GCC unroll 16
        for (int l = 0; l < w; l++) square[l] = from[(k + l) * r.vectors_each];
        transpose(square);
#pragma GCC unroll 16
        for (int l = 0; l < w; l++) __builtin_memcpy(base + l * a.matrix + to + k, &square[l], sizeof square[l]);
      }
    } else {
      for (int64_t j = 0; j < r.length; j++) {
        for (int l = 0; l < present; l++) base[l * a.matrix + to + j * r.each] = from[j * r.vectors_each][l];
      }
    }
  }
}

// ---- Householder reflections ----

// Computes the reflection 1 - tau v vᵀ, v[0] = 1, that maps a column to (beta, 0, ...), with LAPACK's signs. The column
// has n >= 1 elements at x[i * step]; afterwards x[0] is beta and the others are those of v. Magnitudes are at most
// about 1; a rest of less than the root of `least_square` is taken as zero.
template <class T>
LAMELLA_INLINE Pack<T> reflection(int64_t n, Pack<T>* x, int64_t step) {
  Pack<T> rest = {};
  for (int64_t i = 1; i < n; i++) rest += x[i * step] * x[i * step];
  const Mask<T> none = rest < Types<T>::least_square;
  const Pack<T> alpha = x[0];
  const Pack<T> beta = -with_sign<T>(root<T>(alpha * alpha + rest), alpha);
  const Pack<T> zero = {}, one = zero + T(1);
  const Pack<T> factor = one / (none ? one : alpha - beta);
  for (int64_t i = 1; i < n; i++) x[i * step] = none ? zero : x[i * step] * factor;
  x[0] = none ? alpha : beta;
  return none ? zero : (beta - alpha) / beta;
}

// Applies the reflection of v, v[0] being taken as 1, to n vectors of m elements: element i of vector j is
// x[i * row + j * column].
template <class T>
__attribute__((noinline)) void reflect(int64_t m, int64_t n, const Pack<T>* v, int64_t step, const Pack<T>& tau,
                                       Pack<T>* x, int64_t row, int64_t column) {
  int64_t j = 0;
  for (; j + 4 <= n; j += 4) {
    Pack<T>*y0 = x + j * column, *y1 = y0 + column, *y2 = y1 + column, *y3 = y2 + column;
    Pack<T> s0 = *y0, s1 = *y1, s2 = *y2, s3 = *y3;
    for (int64_t i = 1; i < m; i++) {
      const Pack<T> u = v[i * step];
      s0 += u * y0[i * row], s1 += u * y1[i * row], s2 += u * y2[i * row], s3 += u * y3[i * row];
    }
    s0 *= tau, s1 *= tau, s2 *= tau, s3 *= tau;
    *y0 -= s0, *y1 -= s1, *y2 -= s2, *y3 -= s3;
    for (int64_t i = 1; i < m; i++) {
      const Pack<T> u = v[i * step];
      y0[i * row] -= u * s0, y1[i * row] -= u * s1, y2[i * row] -= u * s2, y3[i * row] -= u * s3;
    }
  }
  for (; j < n; j++) {
    Pack<T>* y = x + j * column;
    Pack<T> s = *y;
    for (int64_t i = 1; i < m; i++) s += v[i * step] * y[i * row];
    s *= tau;
    *y -= s;
    for (int64_t i = 1; i < m; i++) y[i * row] -= v[i * step] * s;
  }
}

// Makes x, m×n, the identity times k reflections, of which reflection i leaves the first `skip` + i rows as they are.
// The vector of the first begins at v, that of the next at v + next.
template <class T>
__attribute__((noinline)) void product(int64_t m, int64_t n, int64_t k, int64_t skip, const Pack<T>* v, int64_t next,
                                       int64_t step, const Pack<T>* tau, Pack<T>* x) {
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) x[i * n + j] = Pack<T>{} + T(i == j);
  }
  for (int64_t i = k; i-- > 0;) {
    const int64_t at = skip + i;
    reflect<T>(m - at, n - at, v + i * next, step, tau[i], x + at * n + at, n, 1);
  }
}

template <class T>
LAMELLA_INLINE Pack<T>* aligned(void* space) {
  return reinterpret_cast<Pack<T>*>((reinterpret_cast<uintptr_t>(space) + vector_bytes - 1) & -uintptr_t(vector_bytes));
}

}  // namespace interleaved
}  // namespace
}  // namespace lamella::cpu
