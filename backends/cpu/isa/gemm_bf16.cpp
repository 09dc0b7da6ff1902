// Products of bfloat16 matrices, summed in float32 by the instruction that multiplies and adds pairs of numbers. The
// tiles are those of Note [Tiles] in gemm.cpp; two neighbours along k are packed as one element of 32 bits.
#include <cstring>

#include "backends/cpu/gemm.h"
#include "backends/cpu/isa/square.h"
#include "backends/cpu/isa/tile.h"

namespace lamella::cpu {
namespace {

#ifdef __AVX512F__
#pragma GCC push_options
#pragma GCC target("avx512bf16")

constexpr int64_t block_k = 512, block_m = 20 * tile_rows, block_n = 2048;
constexpr int width = tile_columns<float>;

// A matrix of bfloat16 as its bits; strides in elements.
struct Bits {
  const uint16_t* data;
  int64_t row, column;

  // Elements p and p + 1 along k of one row or column, whose step along k is `along`; behind the end is a zero.
  static uint32_t pair(const uint16_t* first, int64_t along, bool both) {
    if (both && along == 1) {
      uint32_t bits;
      std::memcpy(&bits, first, sizeof bits);
      return bits;
    }
    return first[0] | (both ? static_cast<uint32_t>(first[along]) << 16 : 0);
  }
};

// Rows of a, panel by panel: pair p of row i of a panel of r rows lies at p * r + i.
void pack_left(const Bits& a, int64_t m, int64_t k, uint32_t* to) {
  for (int64_t i = 0; i < m;) {
    const int r = rows_of(m - i);
    for (int64_t p = 0; p < k; p += 2)
      for (int q = 0; q < r; q++) *to++ = Bits::pair(a.data + (i + q) * a.row + p * a.column, a.column, p + 1 < k);
    i += r;
  }
}

// `columns` columns of b: pair p of column j lies at p * width + j. Columns behind the last one are zeros.
void pack_right(const Bits& b, int64_t k, int64_t columns, uint32_t* to) {
  int64_t p = 0;
  if (columns == width && b.column == 1) {
    for (; p + 2 <= k; p += 2, to += width)
      for (int j = 0; j < width; j += lanes<float>) {
        auto row = [&](int64_t at) {
          return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b.data + at * b.row + j)));
        };
        _mm512_storeu_si512(to + j, _mm512_or_si512(row(p), _mm512_slli_epi32(row(p + 1), 16)));
      }
  } else if (columns == width && b.row == 1) {
    constexpr int64_t side = square<4>;
    for (; p + 2 * side <= k; p += 2 * side, to += side * width)
      for (int64_t j = 0; j < width; j += side)
        transpose_square<4>(reinterpret_cast<char*>(to + j), width * 4,
                            reinterpret_cast<const char*>(b.data + p + j * b.column), b.column * 2);
  }
  for (; p < k; p += 2, to += width)
    for (int64_t j = 0; j < width; j++)
      to[j] = j < columns ? Bits::pair(b.data + p * b.row + j * b.column, b.row, p + 1 < k) : 0;
}

template <int Rows, int Vectors>
__attribute__((noinline)) void tile(int64_t pairs, const uint32_t* left, const uint32_t* right,
                                    const Target<float>& target) {
  const Target<float> t = target;
  Vector<float> sum[Rows][Vectors] = {};
  for (int64_t p = 0; p < pairs; p++, left += Rows, right += width) {
    __m512bh y[Vectors];
#pragma GCC unroll 2
    for (int j = 0; j < Vectors; j++) y[j] = (__m512bh)_mm512_loadu_si512(right + j * lanes<float>);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; i++) {
      const auto x = (__m512bh)_mm512_set1_epi32(static_cast<int>(left[i]));
#pragma GCC unroll 2
      for (int j = 0; j < Vectors; j++) sum[i][j] = (Vector<float>)_mm512_dpbf16_ps((__m512)sum[i][j], x, y[j]);
    }
  }
  store<float, Rows, Vectors>(sum, t);
}

int64_t pairs_of(int64_t k) { return (k + 1) / 2; }

int64_t space(int64_t m, int64_t n, int64_t k) {
  const int64_t pairs = pairs_of(least(k, block_k));
  return 4 * pairs * (least(n + width, block_n) + least(m, block_m));
}

int multiply(const Gemm& g, void* space) {
  const int64_t most = pairs_of(least(g.k, block_k));
  auto* right = static_cast<uint32_t*>(space);
  uint32_t* left = right + most * least(g.n + width, block_n);
  auto* c = static_cast<float*>(g.c);
  auto part = [&](int64_t i0, int64_t p0, int64_t j0) {
    const int64_t mb = least(block_m, g.m - i0), kb = least(block_k, g.k - p0), nb = least(block_n, g.n - j0);
    const int64_t pairs = pairs_of(kb);
    const bool last = p0 + kb == g.k;
    pack_left({static_cast<const uint16_t*>(g.a) + i0 * g.a_row + p0 * g.a_column, g.a_row, g.a_column}, mb, kb, left);
    for (int64_t j = 0; j < nb; j += width) {
      const int64_t columns = least(width, nb - j);
      uint32_t* panel = right + (g.m > block_m ? j * pairs : 0);  // used again by further rows, if there are any
      if (i0 == 0)
        pack_right({static_cast<const uint16_t*>(g.b) + p0 * g.b_row + (j0 + j) * g.b_column, g.b_row, g.b_column}, kb,
                   columns, panel);
      const auto* bias = static_cast<const float*>(g.column_bias);
      Target<float> t{nullptr, g.c_row, columns, p0 == 0 && !g.adds, nullptr, last && bias ? bias + j0 + j : nullptr};
      for (int64_t i = 0; i < mb;) {
        const int rows = rows_of(mb - i);
        t.c = c + (i0 + i) * g.c_row + j0 + j;
        t.row_bias = last && g.row_bias ? static_cast<const float*>(g.row_bias) + i0 + i : nullptr;
        const uint32_t* from = left + i * pairs;
        with_rows(rows, [&]<int Rows>() {
          columns > lanes<float> ? tile<Rows, 2>(pairs, from, panel, t) : tile<Rows, 1>(pairs, from, panel, t);
        });
        i += rows;
      }
    }
  };
  for (int64_t j0 = 0; j0 < g.n; j0 += block_n)
    for (int64_t p0 = 0; p0 < g.k; p0 += block_k)
      for (int64_t i0 = 0; i0 < g.m; i0 += block_m) {
        part(i0, p0, j0);
        if (g.interrupted)
          if (int status = g.interrupted()) return status;
      }
  return 0;
}

#pragma GCC pop_options
constexpr GemmKernels kernels = {space, multiply, nullptr};
#else
constexpr GemmKernels kernels = {};
#endif

}  // namespace

namespace LAMELLA_ISA {
const GemmKernels& bf16_gemm() { return kernels; }
}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
