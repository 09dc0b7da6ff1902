// Vectors for tiles of sums: their width and a tile's size, by the instruction set and its registers; loads and stores.
#pragma once

#include <cstdint>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "backends/cpu/isa/registers.h"

namespace lamella::cpu {
namespace {

constexpr int tile_rows = vector_bytes == 64 ? 12 : vector_bytes == 32 ? 6 : 4;
#define INLINE inline __attribute__((always_inline))

template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(vector_bytes), aligned(sizeof(T)), may_alias));
};
template <class T>
using Vector = typename VectorOf<T>::type;
template <class T>
constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));
template <class T>
constexpr int tile_columns = 2 * lanes<T>;

INLINE int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

// Loads the first `count` elements of a vector; memory after them is not read.
template <class T>
INLINE Vector<T> load_some(const T* from, int64_t count) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return (Vector<T>)_mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << count) - 1), from);
  else
    return (Vector<T>)_mm512_maskz_loadu_epi64(static_cast<__mmask8>((1u << count) - 1), from);
#else
  Vector<T> v = {};
  for (int64_t i = 0; i < count; i++) v[i] = from[i];
  return v;
#endif
}
// The lanes of a vector from the at-th on, and a load into such lanes: the others keep their values. The memory of the
// others is not read where loads have masks; elsewhere it must be readable.
#if defined(__AVX512F__)
template <class T>
using Lanes = __mmask16;
template <class T>
INLINE Lanes<T> lanes_from(int64_t at) {
  return static_cast<__mmask16>(((1u << lanes<T>)-1) & ~((1u << at) - 1));
}
template <class T>
INLINE Vector<T> load_into(Vector<T> v, Lanes<T> some, const T* from) {
  if constexpr (sizeof(T) == 4)
    return (Vector<T>)_mm512_mask_loadu_epi32((__m512i)v, some, from);
  else
    return (Vector<T>)_mm512_mask_loadu_epi64((__m512i)v, static_cast<__mmask8>(some), from);
}
#else
template <int Size>
struct Index {
  typedef int32_t type __attribute__((vector_size(vector_bytes)));
};
template <>
struct Index<8> {
  typedef int64_t type __attribute__((vector_size(vector_bytes)));
};
template <class T>
using Lanes = typename Index<sizeof(T)>::type;
template <class T>
INLINE Lanes<T> lanes_from(int64_t at) {
  Lanes<T> all;
  for (int i = 0; i < lanes<T>; i++) all[i] = i < at ? 0 : -1;
  return all;
}
template <class T>
INLINE Vector<T> load_into(Vector<T> v, Lanes<T> some, const T* from) {
  const Lanes<T> other = (Lanes<T>)*reinterpret_cast<const Vector<T>*>(from);
  return (Vector<T>)((some & other) | (~some & (Lanes<T>)v));
}
#endif
template <class T>
INLINE void store_some(T* to, Vector<T> v, int64_t count) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    _mm512_mask_storeu_epi32(to, static_cast<__mmask16>((1u << count) - 1), (__m512i)v);
  else
    _mm512_mask_storeu_epi64(to, static_cast<__mmask8>((1u << count) - 1), (__m512i)v);
#else
  const T* lane = reinterpret_cast<const T*>(&v);
  for (int64_t i = 0; i < count; i++) to[i] = lane[i];
#endif
}

// The destination of a tile, of which `columns` columns are stored. The first block of k overwrites it unless the
// product is added to c; the last block adds the biases.
template <class T>
struct Target {
  T* c;
  int64_t row, columns;
  bool first;
  const T* row_bias;
  const T* column_bias;
};

// Stores `count` sums of one row, added to the numbers there unless `first`; a bias is added unless it is null.
template <class T>
INLINE void put(Vector<T> v, T* to, int64_t count, bool first, const T* row_bias, const T* column_bias) {
  typedef Vector<T> V;
  if (count >= lanes<T>) {
    if (!first) v = *reinterpret_cast<V*>(to) + v;
    if (row_bias) v = v + *row_bias;
    if (column_bias) v = v + *reinterpret_cast<const V*>(column_bias);
    *reinterpret_cast<V*>(to) = v;
    return;
  }
  if (!first) v = load_some(to, count) + v;
  if (row_bias) v = v + *row_bias;
  if (column_bias) v = v + load_some(column_bias, count);
  store_some(to, v, count);
}

template <class T, int Rows, int Vectors>
INLINE void store(const Vector<T> (&sum)[Rows][Vectors], const Target<T>& t) {
#pragma GCC unroll 16
  for (int i = 0; i < Rows; i++)
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; j++)
      put(sum[i][j], t.c + i * t.row + j * lanes<T>, t.columns - j * lanes<T>, t.first,
          t.row_bias ? t.row_bias + i : nullptr, t.column_bias ? t.column_bias + j * lanes<T> : nullptr);
}

// Calls body with the number of rows as a template argument.
template <class Body>
INLINE void with_rows(int rows, Body body) {
  if (rows == tile_rows) return body.template operator()<tile_rows>();
  if constexpr (tile_rows > 10)
    if (rows == 10) return body.template operator()<10>();
  if constexpr (tile_rows > 8)
    if (rows == 8) return body.template operator()<8>();
  if constexpr (tile_rows > 4)
    if (rows == 4) return body.template operator()<4>();
  if (rows == 2) return body.template operator()<2>();
  body.template operator()<1>();
}

// Returns the number of rows of the next tile if `left` rows are left.
INLINE int rows_of(int64_t left) {
  if (left == 16 && tile_rows > 8) return 8;  // twice eight rather than twelve and four
  if (left >= tile_rows) return tile_rows;
  if (left >= 10) return 10;
  return left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

}  // namespace
}  // namespace lamella::cpu
