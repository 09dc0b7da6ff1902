// Products of numbers of 8 or 16 bits. Neighbours along k are packed as one element of 32 bits, a group, and one
// instruction multiplies the numbers of two groups and adds them up. The tiles are those of Note [Tiles] in gemm.cpp.
//
// A file includes this inside the region that is compiled for its instruction, after tile.h and square.h, and has a
// struct Kind:
//   Number, Sum          the type of the operands' numbers, and that of the sums
//   size                 numbers in a group
//   dense                whether the numbers of a group lie in memory as they do in the group
//   widens               where they do not: whether widened<Left>(numbers) gives a vector of groups of neighbours
//   flipped              bits that are inverted in the left operand's groups
//   left, right          the group of `count` numbers, `along` apart; the numbers after the count are zeros
//   interleave           groups of `width` neighbouring columns
//   add                  adds the products of two vectors of groups to a vector of sums
//   narrow               writes the first `count` of a vector of sums as numbers of 16 bits, if `narrows` is true
//   offsets              writes the numbers to add to the sums of the columns; needed only if `flipped` is not 0
#include <cstring>
#include <type_traits>

namespace lamella::cpu {
namespace {

constexpr int64_t block_groups = 512, block_m = 20 * tile_rows, block_n = 2048;
constexpr int width = tile_columns<uint32_t>;

template <class Number>
struct Numbers {
  const Number* data;
  int64_t row, column;  // strides in elements

  const Number* at(int64_t i, int64_t j) const { return data + i * row + j * column; }
};

// Transposes four rows of four groups.
INLINE void transpose_four(uint32_t* to, int64_t to_row, const char* from, int64_t from_row) {
#ifdef __SSE2__
  __m128i a[4], b[4];
  for (int i = 0; i < 4; i++) a[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * from_row));
  for (int i = 0; i < 4; i += 2) {
    b[i] = _mm_unpacklo_epi32(a[i], a[i + 1]);
    b[i + 1] = _mm_unpackhi_epi32(a[i], a[i + 1]);
  }
  for (int i = 0; i < 2; i++) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 2 * i * to_row), _mm_unpacklo_epi64(b[i], b[i + 2]));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + (2 * i + 1) * to_row), _mm_unpackhi_epi64(b[i], b[i + 2]));
  }
#else
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) std::memcpy(to + j * to_row + i, from + i * from_row + 4 * j, 4);
#endif
}

// Packs rows of a, panel by panel: group p of row i of a panel of r rows goes to p * r + i.
template <class Kind>
void pack_left(const Numbers<typename Kind::Number>& a, int64_t m, int64_t k, uint32_t* to) {
  const int64_t groups = (k + Kind::size - 1) / Kind::size, bytes = sizeof(typename Kind::Number);
  for (int64_t i = 0; i < m;) {
    const int r = rows_of(m - i);
    const int64_t fours = Kind::dense && a.column == 1 ? k / Kind::size / 4 * 4 : 0;
    for (int64_t p = 0; p < fours; p += 4)
      for (int q = 0; q + 4 <= r; q += 4)
        transpose_four(to + p * r + q, r, reinterpret_cast<const char*>(a.at(i + q, p * Kind::size)), a.row * bytes);
    for (int q = 0; q < r; q++)
      for (int64_t p = q < r / 4 * 4 ? fours : 0; p < groups; p++)
        to[p * r + q] = Kind::left(a.at(i + q, p * Kind::size), a.column, least(k - p * Kind::size, Kind::size));
    if constexpr (Kind::flipped)
      for (int64_t p = 0; p < r * groups; p++) to[p] ^= Kind::flipped;
    i += r;
    to += r * groups;
  }
}

// Returns the first `count` numbers of a vector of groups; the others are zeros.
template <class Kind, bool Left>
INLINE Vector<uint32_t> load_groups(const typename Kind::Number* from, int64_t count) {
  constexpr int64_t step = lanes<uint32_t> * Kind::size;
  if constexpr (Kind::dense) {
    Vector<uint32_t> v = {};  // bytes need not lie at a multiple of four
    if (count >= step)
      std::memcpy(&v, from, sizeof v);
    else
      std::memcpy(&v, from, count * sizeof *from);
    return v;
  } else {
    typename Kind::Number all[step] = {};
    if (count < step) std::memcpy(all, from, count * sizeof *from);
    return Kind::template widened<Left>(count < step ? all : from);
  }
}

// Packs `columns` columns of b: group p of column j goes to p * width + j. Columns after the last are zeros.
template <class Kind>
void pack_right(const Numbers<typename Kind::Number>& b, int64_t k, int64_t columns, uint32_t* to) {
  int64_t p = 0;
  constexpr int64_t side = square<4>, step = side * Kind::size, bytes = sizeof(typename Kind::Number);
  if (columns == width && b.column == 1) {
    for (; p + Kind::size <= k; p += Kind::size, to += width) Kind::interleave(b.at(p, 0), b.row, to);
  } else if (side > 0 && Kind::dense && columns == width && b.row == 1) {
    for (; p + step <= k; p += step, to += side * width)
      for (int64_t j = 0; j < width; j += least(side, width))
        transpose_square<4>(reinterpret_cast<char*>(to + j), width * 4, reinterpret_cast<const char*>(b.at(p, j)),
                            b.column * bytes);
  }
  if constexpr (Kind::widens && side == lanes<uint32_t>) {
    uint32_t groups[side][side];  // of `side` columns
    for (; columns == width && b.row == 1 && p + step <= k; p += step, to += side * width)
      for (int64_t j = 0; j < width; j += side) {
        for (int64_t i = 0; i < side; i++)
          *reinterpret_cast<Vector<uint32_t>*>(groups[i]) = load_groups<Kind, false>(b.at(p, j + i), step);
        transpose_square<4>(reinterpret_cast<char*>(to + j), width * 4, reinterpret_cast<const char*>(groups),
                            side * 4);
      }
  }
  for (; p < k; p += Kind::size, to += width)
    for (int64_t j = 0; j < width; j++)
      to[j] = j < columns ? Kind::right(b.at(p, j), b.row, least(k - p, Kind::size)) : 0;
}

template <class Sum>
struct Place : Target<Sum> {
  bool narrow;  // c points to numbers of 16 bits
};

template <class Kind, int Rows, int Vectors>
__attribute__((noinline)) void tile(int64_t groups, const uint32_t* left, const uint32_t* right,
                                    const Place<typename Kind::Sum>& target) {
  typedef typename Kind::Sum Sum;
  const Target<Sum> t = target;
  Vector<Sum> sum[Rows][Vectors] = {};
  for (int64_t p = 0; p < groups; p++, left += Rows, right += width) {
    Vector<uint32_t> y[Vectors];
#pragma GCC unroll 2
    for (int j = 0; j < Vectors; j++) y[j] = *reinterpret_cast<const Vector<uint32_t>*>(right + j * lanes<uint32_t>);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; i++) {
      const Vector<uint32_t> x = Vector<uint32_t>{} + left[i];
#pragma GCC unroll 2
      for (int j = 0; j < Vectors; j++) sum[i][j] = Kind::add(sum[i][j], x, y[j]);
    }
  }
  if constexpr (Kind::narrows)
    if (target.narrow) {
#pragma GCC unroll 16
      for (int i = 0; i < Rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < Vectors; j++) {
          const int64_t at = j * lanes<Sum>, count = least(t.columns - at, lanes<Sum>);
          Vector<Sum> v = sum[i][j];
          if (t.row_bias) v = v + t.row_bias[i];
          if (t.column_bias) v = v + load_some(t.column_bias + at, count);
          Kind::narrow(v, reinterpret_cast<typename Kind::Number*>(t.c) + i * t.row + at, count);
        }
      return;
    }
  store<Sum, Rows, Vectors>(sum, t);
}

// Adds up the lanes of each of four vectors.
template <class Sum>
INLINE void add_lanes(const Vector<Sum> (&v)[4], Sum (&to)[4]) {
#ifdef __AVX2__
  if constexpr (std::is_same_v<Sum, uint32_t>) {
    __m256i half[4];
    for (int j = 0; j < 4; j++) {
#ifdef __AVX512F__
      half[j] = _mm256_add_epi32(_mm512_castsi512_si256((__m512i)v[j]), _mm512_extracti64x4_epi64((__m512i)v[j], 1));
#else
      half[j] = (__m256i)v[j];
#endif
    }
    const __m256i pairs = _mm256_hadd_epi32(_mm256_hadd_epi32(half[0], half[1]), _mm256_hadd_epi32(half[2], half[3]));
    const __m128i all = _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), all);
    return;
  }
#endif
  for (int j = 0; j < 4; j++) {
    to[j] = 0;
    for (int l = 0; l < lanes<Sum>; l++) to[j] += v[j][l];
  }
}

// Multiplies a few rows by columns whose elements are neighbours along k, as those of the rows, so that neither is
// packed. Takes four columns at once.
template <class Kind, int Rows>
__attribute__((noinline)) void dots(const Gemm& g, int64_t i0, int64_t j0, int64_t columns) {
  typedef typename Kind::Sum Sum;
  typedef typename Kind::Number Number;
  typedef Vector<uint32_t> V;
  constexpr int64_t step = lanes<uint32_t> * Kind::size;
  const Number *a[Rows], *b[4];
  for (int i = 0; i < Rows; i++) a[i] = static_cast<const Number*>(g.a) + (i0 + i) * g.a_row;
  for (int j = 0; j < 4; j++) b[j] = static_cast<const Number*>(g.b) + (j0 + least(j, columns - 1)) * g.b_column;
  Vector<Sum> sum[Rows][4] = {}, flipped[4] = {};
  for (int64_t p = 0; p < g.k; p += step) {
    V x[Rows];
#pragma GCC unroll 4
    for (int i = 0; i < Rows; i++) x[i] = load_groups<Kind, true>(a[i] + p, g.k - p) ^ Kind::flipped;
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
      const V y = load_groups<Kind, false>(b[j] + p, g.k - p);
#pragma GCC unroll 4
      for (int i = 0; i < Rows; i++) sum[i][j] = Kind::add(sum[i][j], x[i], y);
      if constexpr (Kind::flipped) flipped[j] = Kind::add(flipped[j], V{} + Kind::flipped, y);
    }
  }
  for (int i = 0; i < Rows; i++) {
    Sum totals[4];
    for (int j = 0; j < 4; j++) sum[i][j] -= flipped[j];
    add_lanes(sum[i], totals);
    for (int64_t j = 0; j < columns; j++) {
      const int64_t at = (i0 + i) * g.c_row + j0 + j;
      Sum total = totals[j];
      if (g.row_bias) total += static_cast<const Sum*>(g.row_bias)[i0 + i];
      if (g.column_bias) total += static_cast<const Sum*>(g.column_bias)[j0 + j];
      if constexpr (Kind::narrows)
        if (g.narrow) {
          Kind::narrow(Vector<Sum>{} + total, static_cast<Number*>(g.c) + at, 1);
          continue;
        }
      Sum* to = static_cast<Sum*>(g.c) + at;
      *to = g.adds ? *to + total : total;
    }
  }
}

template <class Kind>
int few_rows(const Gemm& g) {
  for (int64_t j = 0; j < g.n; j += 4) {
    const int64_t columns = least(4, g.n - j);
    for (int64_t i = 0; i < g.m;) {
      const int rows = g.m - i >= 4 ? 4 : g.m - i >= 2 ? 2 : 1;
      rows == 4   ? dots<Kind, 4>(g, i, j, columns)
      : rows == 2 ? dots<Kind, 2>(g, i, j, columns)
                  : dots<Kind, 1>(g, i, j, columns);
      i += rows;
    }
    if (g.interrupted && j % 256 == 0)
      if (int status = g.interrupted()) return status;
  }
  return 0;
}

template <class Kind>
int64_t space(int64_t m, int64_t n, int64_t k) {
  const int64_t groups = least((k + Kind::size - 1) / Kind::size, block_groups);
  return 4 * ((groups + 1) * least(n + width, block_n) + groups * least(m, block_m));
}

// A product, with the addresses in its space of the packed operands and of the offsets.
template <class Kind>
struct Grouped {
  typedef typename Kind::Number Number;
  typedef typename Kind::Sum Sum;
  const Gemm& g;
  uint32_t *right, *left;
  Sum* offsets;

  // Returns the numbers that are added to the columns of a panel: the bias, with the last block, and the offsets for
  // flipped bits.
  const Sum* added(const uint32_t* panel, int64_t groups, int64_t j, int64_t columns, bool last, bool fresh) const {
    const auto* bias = last && g.column_bias ? static_cast<const Sum*>(g.column_bias) + j : nullptr;
    if constexpr (Kind::flipped) {
      Sum* to = offsets + (g.m > block_m ? j % block_n : 0);
      if (!fresh) return to;
      Kind::offsets(panel, groups, to);
      for (int64_t i = 0; bias && i < columns; i++) to[i] += bias[i];
      return to;
    }
    return bias;
  }

  void block(int64_t i0, int64_t p0, int64_t j0) const {
    constexpr int64_t block_k = block_groups * Kind::size;
    const int64_t mb = least(block_m, g.m - i0), kb = least(block_k, g.k - p0), nb = least(block_n, g.n - j0);
    const int64_t groups = (kb + Kind::size - 1) / Kind::size;
    const bool last = p0 + kb == g.k;
    const Numbers<Number> a{static_cast<const Number*>(g.a), g.a_row, g.a_column},
        b{static_cast<const Number*>(g.b), g.b_row, g.b_column};
    pack_left<Kind>({a.at(i0, p0), a.row, a.column}, mb, kb, left);
    for (int64_t j = 0; j < nb; j += width) {
      const int64_t columns = least(width, nb - j);
      uint32_t* panel = right + (g.m > block_m ? j * groups : 0);  // used again by further rows, if there are any
      if (i0 == 0) pack_right<Kind>({b.at(p0, j0 + j), b.row, b.column}, kb, columns, panel);
      const Sum* more = added(panel, groups, j0 + j, columns, last, i0 == 0);
      Place<Sum> t{{nullptr, g.c_row, columns, p0 == 0 && !g.adds, nullptr, more}, g.narrow};
      for (int64_t i = 0; i < mb;) {
        const int rows = rows_of(mb - i);
        const int64_t size = g.narrow ? sizeof(Number) : sizeof(Sum);
        t.c = reinterpret_cast<Sum*>(static_cast<char*>(g.c) + ((i0 + i) * g.c_row + j0 + j) * size);
        t.row_bias = last && g.row_bias ? static_cast<const Sum*>(g.row_bias) + i0 + i : nullptr;
        const uint32_t* from = left + i * groups;
        with_rows(rows, [&]<int Rows>() {
          columns > lanes<uint32_t> ? tile<Kind, Rows, 2>(groups, from, panel, t)
                                    : tile<Kind, Rows, 1>(groups, from, panel, t);
        });
        i += rows;
      }
    }
  }
};

template <class Kind>
int multiply(const Gemm& g, void* space) {
  if constexpr (Kind::dense || Kind::widens)
    if (g.few_rows && g.a_column == 1 && g.b_row == 1 && g.k >= 256) return few_rows<Kind>(g);
  const int64_t groups = least((g.k + Kind::size - 1) / Kind::size, block_groups), wide = least(g.n + width, block_n);
  auto* right = static_cast<uint32_t*>(space);
  uint32_t* left = right + groups * wide;
  const Grouped<Kind> product{g, right, left + wide, reinterpret_cast<typename Kind::Sum*>(left)};
  for (int64_t j0 = 0; j0 < g.n; j0 += block_n)
    for (int64_t p0 = 0; p0 < g.k; p0 += block_groups * Kind::size)
      for (int64_t i0 = 0; i0 < g.m; i0 += block_m) {
        product.block(i0, p0, j0);
        if (g.interrupted)
          if (int status = g.interrupted()) return status;
      }
  return 0;
}

template <class Kind>
constexpr GemmKernels kernels_of() {
  return {space<Kind>, multiply<Kind>, nullptr};
}

}  // namespace
}  // namespace lamella::cpu
