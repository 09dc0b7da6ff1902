// The transposition of squares of elements, in registers if there are instructions for it.
#pragma once

#include <cstdint>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace lamella::cpu {
namespace {

// square<Bytes> is the side of the squares that transpose_square() transposes, 0 if there are no instructions for it.
// Rows of the source become columns of the destination; dst_row and src_col, from row to row of each, are in bytes.
template <int Bytes>
constexpr int64_t square = 0;
template <int Bytes>
inline void transpose_square(char*, int64_t, const char*, int64_t) {}

#ifdef __AVX__
template <>
constexpr int64_t square<4> = 8;
template <>
inline void transpose_square<4>(char* dst, int64_t dst_row, const char* src, int64_t src_col) {
  __m256 a[8], b[8];
  for (int i = 0; i < 8; i++) a[i] = _mm256_loadu_ps(reinterpret_cast<const float*>(src + i * src_col));
  for (int i = 0; i < 8; i += 2) {
    b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
    b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    a[i] = _mm256_shuffle_ps(b[i], b[i + 2], 0x44);
    a[i + 1] = _mm256_shuffle_ps(b[i], b[i + 2], 0xee);
    a[i + 2] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0x44);
    a[i + 3] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0xee);
  }
  for (int i = 0; i < 4; i++) {
    _mm256_storeu_ps(reinterpret_cast<float*>(dst + i * dst_row), _mm256_permute2f128_ps(a[i], a[i + 4], 0x20));
    _mm256_storeu_ps(reinterpret_cast<float*>(dst + (i + 4) * dst_row), _mm256_permute2f128_ps(a[i], a[i + 4], 0x31));
  }
}

template <>
constexpr int64_t square<8> = 4;
template <>
inline void transpose_square<8>(char* dst, int64_t dst_row, const char* src, int64_t src_col) {
  __m256d a[4], b[4];
  for (int i = 0; i < 4; i++) a[i] = _mm256_loadu_pd(reinterpret_cast<const double*>(src + i * src_col));
  for (int i = 0; i < 4; i += 2) {
    b[i] = _mm256_unpacklo_pd(a[i], a[i + 1]);
    b[i + 1] = _mm256_unpackhi_pd(a[i], a[i + 1]);
  }
  for (int i = 0; i < 2; i++) {
    _mm256_storeu_pd(reinterpret_cast<double*>(dst + i * dst_row), _mm256_permute2f128_pd(b[i], b[i + 2], 0x20));
    _mm256_storeu_pd(reinterpret_cast<double*>(dst + (i + 2) * dst_row), _mm256_permute2f128_pd(b[i], b[i + 2], 0x31));
  }
}
#endif

#ifdef __SSE2__
template <>
constexpr int64_t square<2> = 8;
template <>
inline void transpose_square<2>(char* dst, int64_t dst_row, const char* src, int64_t src_col) {
  __m128i a[8], b[8];
  for (int i = 0; i < 8; i++) a[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(src + i * src_col));
  for (int i = 0; i < 4; i++) {
    b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
    b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
  }
  for (int i = 0; i < 4; i++) {
    a[2 * i] = _mm_unpacklo_epi16(b[i], b[i + 4]);
    a[2 * i + 1] = _mm_unpackhi_epi16(b[i], b[i + 4]);
  }
  for (int i = 0; i < 4; i++) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(dst + 2 * i * dst_row), _mm_unpacklo_epi16(a[i], a[i + 4]));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(dst + (2 * i + 1) * dst_row), _mm_unpackhi_epi16(a[i], a[i + 4]));
  }
}
#endif

}  // namespace
}  // namespace lamella::cpu
