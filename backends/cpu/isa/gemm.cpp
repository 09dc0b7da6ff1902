// Products of matrices and of images' windows. See Note [Tiles]; Note [Instruction sets] is in backends/cpu/isa.h.
//
// Note [Tiles]  A tile of c, a few rows by a few vectors, stays in registers while k runs; rows of a are broadcast
//   against vectors of b. k is cut into blocks of `block_k`, whatever the sizes, and each element of c is added up in
//   the order of k. So values depend neither on the tile that an element falls in, nor on whether operands are packed,
//   nor on how the threads share the work. This file and windows.cpp are compiled with contraction of x * y + z.
#include "backends/cpu/gemm.h"
#include "backends/cpu/isa/square.h"
#include "backends/cpu/isa/tile.h"

namespace lamella::cpu {
namespace {

constexpr int64_t block_k = 256;

// The left operand of a tile; if packed, the `Rows` elements of one k are neighbours.
template <class T>
struct Left {
  const T* data;
  int64_t row, column;
};

template <class T, int Rows, int Vectors, bool Packed>
__attribute__((noinline)) void tile(int64_t k, const Left<T>& left, const T* b, int64_t b_row,
                                    const Target<T>& target) {
  typedef Vector<T> V;
  const Target<T> t = target;
  constexpr int n = lanes<T>;
  V sum[Rows][Vectors] = {};
  const int64_t row = Packed ? 1 : left.row, column = Packed ? Rows : left.column;
  // One base for three rows each, since four addresses fit into the registers.
  const T* base[(Rows + 2) / 3];
#pragma GCC unroll 8
  for (int i = 0; i < (Rows + 2) / 3; i++) base[i] = left.data + 3 * i * row;
  for (int64_t p = 0; p < k; p++) {
    V y[Vectors];
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; j++) y[j] = *reinterpret_cast<const V*>(b + j * n);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; i++) {
      const T x = base[i / 3][i % 3 * row];
#pragma GCC unroll 4
      for (int j = 0; j < Vectors; j++) sum[i][j] += x * y[j];
    }
#pragma GCC unroll 8
    for (int i = 0; i < (Rows + 2) / 3; i++) base[i] += column;
    b += b_row;
  }
  store<T, Rows, Vectors>(sum, t);
}

// The addresses of one vector of places: lanes below `at` are read at `first`, in one row of outputs, the others at
// `second`, in the next row. The unused lanes of `second` are still in the image, since its rows are longer than those
// of outputs.
template <class T>
struct Places {
  const T *first, *second;
  int64_t at;
};

// Returns whether every vector of places that begins at a multiple of its lanes lies in at most two rows.
template <class T>
INLINE bool two_rows_at_most(int64_t columns) {
  int64_t common = 1;
  while (common < lanes<T> && columns % (2 * common) == 0) common *= 2;
  return columns + common >= lanes<T>;
}

template <class T>
INLINE Places<T> places_at(const Windows& w, int64_t place) {
  const int64_t r = place / w.columns, q = place % w.columns, at = w.columns - q;
  const T *image = static_cast<const T*>(w.image), *first = image + w.row[r] + q;
  if (at >= lanes<T> || r + 1 == w.rows) return {first, first, lanes<T>};
  return {first, image + w.row[r + 1] - at, at};
}

// Computes a tile of places, and reads their elements in the image itself.
template <class T, int Rows, int Vectors, bool Joined>
__attribute__((noinline)) void window_tile(int64_t k, const Left<T>& left, const int64_t* taps, const Places<T>* places,
                                           const Target<T>& target) {
  typedef Vector<T> V;
  const Target<T> t = target;  // a copy: a store could change `target`
  V sum[Rows][Vectors] = {};
  const int64_t row = left.row, column = left.column;
  const T* base[(Rows + 2) / 3];
#pragma GCC unroll 8
  for (int i = 0; i < (Rows + 2) / 3; i++) base[i] = left.data + 3 * i * row;
  Places<T> at[Vectors];
  Lanes<T> behind[Vectors];
#pragma GCC unroll 4
  for (int j = 0; j < Vectors; j++) {
    at[j] = places[j];
    behind[j] = lanes_from<T>(at[j].at);
  }
  for (int64_t p = 0; p < k; p++) {
    V y[Vectors];
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; j++) {
      y[j] = *reinterpret_cast<const V*>(at[j].first + taps[p]);
      if (Joined) y[j] = load_into<T>(y[j], behind[j], at[j].second + taps[p]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < Rows; i++) {
      const T x = base[i / 3][i % 3 * row];
#pragma GCC unroll 4
      for (int j = 0; j < Vectors; j++) sum[i][j] += x * y[j];
    }
#pragma GCC unroll 8
    for (int i = 0; i < (Rows + 2) / 3; i++) base[i] += column;
  }
  store<T, Rows, Vectors>(sum, t);
}

template <class T>
INLINE void any_tile(int rows, bool packed, int64_t k, const Left<T>& left, const T* b, int64_t b_row,
                     const Target<T>& t) {
  const bool two = t.columns > lanes<T>;
  with_rows(rows, [&]<int Rows>() {
    if (packed)
      return two ? tile<T, Rows, 2, true>(k, left, b, b_row, t) : tile<T, Rows, 1, true>(k, left, b, b_row, t);
    two ? tile<T, Rows, 2, false>(k, left, b, b_row, t) : tile<T, Rows, 1, false>(k, left, b, b_row, t);
  });
}

template <class T>
INLINE void any_window_tile(int rows, bool joined, int64_t k, const Left<T>& left, const int64_t* taps,
                            const Places<T>* places, const Target<T>& t) {
  const bool two = t.columns > lanes<T>;
  with_rows(rows, [&]<int Rows>() {
    if (joined)
      return two ? window_tile<T, Rows, 2, true>(k, left, taps, places, t)
                 : window_tile<T, Rows, 1, true>(k, left, taps, places, t);
    two ? window_tile<T, Rows, 2, false>(k, left, taps, places, t)
        : window_tile<T, Rows, 1, false>(k, left, taps, places, t);
  });
}

// Packs rows of a, panel by panel: element (i, p) of a panel of r rows goes to p * r + i.
template <class T>
void pack_left(const T* a, int64_t row, int64_t column, int64_t m, int64_t k, T* to) {
  for (int64_t i = 0; i < m;) {
    const int r = rows_of(m - i);
    const T* from = a + i * row;
    if (r == tile_rows) {
      for (int64_t p = 0; p < k; p++)
#pragma GCC unroll 16
        for (int q = 0; q < tile_rows; q++) to[p * tile_rows + q] = from[q * row + p * column];
    } else {
      for (int64_t p = 0; p < k; p++)
        for (int q = 0; q < r; q++) to[p * r + q] = from[q * row + p * column];
    }
    i += r;
    to += r * k;
  }
}

// Packs `columns` columns of b side by side, filled up with zeros to the width of a tile.
template <class T>
void pack_right(const T* b, int64_t row, int64_t column, int64_t k, int64_t columns, T* to) {
  constexpr int width = tile_columns<T>;
  if (columns == width && column == 1) {
    for (int64_t p = 0; p < k; p++)
#pragma GCC unroll 4
      for (int j = 0; j < 2; j++)
        *reinterpret_cast<Vector<T>*>(to + p * width + j * lanes<T>) =
            *reinterpret_cast<const Vector<T>*>(b + p * row + j * lanes<T>);
    return;
  }
  if (row == 1) {  // the elements along k are neighbours
    constexpr int64_t side = square<sizeof(T)>;
    int64_t p0 = 0;
    if constexpr (side > 0) {
      if (columns == width)
        for (; p0 + side <= k; p0 += side)
          for (int64_t j = 0; j < width; j += side)
            transpose_square<sizeof(T)>(reinterpret_cast<char*>(to + p0 * width + j), width * sizeof(T),
                                        reinterpret_cast<const char*>(b + p0 + j * column), column * sizeof(T));
    }
    b += p0;
    to += p0 * width;
    k -= p0;
    for (int64_t j = 0; j < width; j++)
      for (int64_t p = 0; p < k; p++) to[p * width + j] = j < columns ? b[p + j * column] : T(0);
    return;
  }
  for (int64_t p = 0; p < k; p++)
    for (int64_t j = 0; j < width; j++) to[p * width + j] = j < columns ? b[p * row + j * column] : T(0);
}

// A run of neighbouring places within a panel.
struct Run {
  int64_t at, length, from;
};

// Packs the panel of windows for places [first, first + columns) and rows [p0, p0 + k) of b. Only whole vectors are
// written: each overwrites the excess of the one before, and the buffer has `slack` after its end. Columns after the
// last are zeros.
template <class T>
void pack_windows(const Windows& w, int64_t first, int64_t columns, int64_t p0, int64_t k, T* to) {
  constexpr int width = tile_columns<T>, n = lanes<T>;
  Run runs[width];
  int count = 0;
  for (int64_t j = 0; j < columns;) {
    const int64_t r = (first + j) / w.columns, q = (first + j) % w.columns, length = least(w.columns - q, columns - j);
    runs[count++] = {j, length, w.row[r] + q};
    j += length;
  }
  int64_t channel = p0 / w.taps, tap = p0 % w.taps;
  const T* plane = static_cast<const T*>(w.image) + channel * w.plane;
  for (int64_t p = 0; p < k; p++) {
    const T* from = plane + w.tap[tap];
    T* row = to + p * width;
    for (int r = 0; r < count; r++)
      for (int64_t i = 0; i < runs[r].length; i += n)
        *reinterpret_cast<Vector<T>*>(row + runs[r].at + i) =
            *reinterpret_cast<const Vector<T>*>(from + runs[r].from + i);
    for (int64_t j = columns; j < width; j++) row[j] = 0;
    if (++tap == w.taps) {
      tap = 0;
      plane += w.plane;
    }
  }
}

constexpr int64_t block_m = 20 * tile_rows, block_n = 2048;

template <class T>
int64_t space(int64_t m, int64_t n, int64_t k) {
  const int64_t kb = least(k, block_k), nb = least(n + tile_columns<T>, block_n), mb = least(m, block_m);
  return static_cast<int64_t>(sizeof(T)) * (kb * (nb + mb) + 2 * slack);
}

template <class T>
struct Product {
  const Gemm& g;
  const Windows* windows;
  int64_t first_place;
  T *right_space, *left_space;
  bool pack_a, pack_b, direct = false;

  INLINE const T* a(int64_t i, int64_t p) const { return static_cast<const T*>(g.a) + i * g.a_row + p * g.a_column; }

  INLINE void pack_panel(int64_t p0, int64_t kb, int64_t j, int64_t columns, T* to) const {
    if (windows)
      pack_windows<T>(*windows, first_place + j, columns, p0, kb, to);
    else
      pack_right<T>(static_cast<const T*>(g.b) + p0 * g.b_row + j * g.b_column, g.b_row, g.b_column, kb, columns, to);
  }

  // Multiplies all rows of the block by one panel of b after another, so that the panel stays in the first-level cache.
  void block(int64_t i0, int64_t mb, int64_t p0, int64_t kb, int64_t j0, int64_t nb) const {
    constexpr int width = tile_columns<T>;
    const bool last = p0 + kb == g.k;
    if (pack_a) pack_left<T>(a(i0, p0), g.a_row, g.a_column, mb, kb, left_space);
    if (direct) return window_block(i0, mb, p0, kb, j0, nb);
    for (int64_t j = 0; j < nb; j += width) {
      const int64_t columns = least(width, nb - j);
      const bool packed = pack_b || columns < width;
      T* panel = right_space + (g.m > block_m ? j * kb : 0);  // used again by further rows, if there are any
      const T* b = packed ? panel : static_cast<const T*>(g.b) + p0 * g.b_row + j0 + j;
      const int64_t b_row = packed ? width : g.b_row;
      if (i0 == 0 && packed) pack_panel(p0, kb, j0 + j, columns, panel);
      Target<T> t{static_cast<T*>(g.c) + j0 + j,
                  g.c_row,
                  columns,
                  p0 == 0 && !g.adds,
                  nullptr,
                  last && g.column_bias ? static_cast<const T*>(g.column_bias) + j0 + j : nullptr};
      for (int64_t i = 0; i < mb;) {
        const int rows = rows_of(mb - i);
        t.c = static_cast<T*>(g.c) + (i0 + i) * g.c_row + j0 + j;
        t.row_bias = last && g.row_bias ? static_cast<const T*>(g.row_bias) + i0 + i : nullptr;
        const Left<T> left{pack_a ? left_space + i * kb : a(i0 + i, p0), g.a_row, g.a_column};
        any_tile<T>(rows, pack_a, kb, left, b, b_row, t);
        i += rows;
      }
    }
  }

  // Does what `block` does for windows whose vectors lie in at most two rows; the image is not packed.
  void window_block(int64_t i0, int64_t mb, int64_t p0, int64_t kb, int64_t j0, int64_t nb) const {
    constexpr int width = tile_columns<T>;
    int64_t taps[block_k];
    for (int64_t p = 0; p < kb; p++) {
      const int64_t k = p0 + p;
      taps[p] = k / windows->taps * windows->plane + windows->tap[k % windows->taps];
    }
    const bool last = p0 + kb == g.k;
    for (int64_t j = j0; j < j0 + nb; j += width) {
      const int64_t columns = least(width, j0 + nb - j), place = first_place + j;
      const Places<T> first = places_at<T>(*windows, place);
      const Places<T> at[2] = {first, columns > lanes<T> ? places_at<T>(*windows, place + lanes<T>) : first};
      const bool joined = at[0].at < lanes<T> || at[1].at < lanes<T>;
      Target<T> t{nullptr, g.c_row,
                  columns, p0 == 0 && !g.adds,
                  nullptr, last && g.column_bias ? static_cast<const T*>(g.column_bias) + j : nullptr};
      for (int64_t i = 0; i < mb;) {
        const int rows = rows_of(mb - i);
        t.c = static_cast<T*>(g.c) + (i0 + i) * g.c_row + j;
        t.row_bias = last && g.row_bias ? static_cast<const T*>(g.row_bias) + i0 + i : nullptr;
        const Left<T> left =
            pack_a ? Left<T>{left_space + i * kb, 1, rows} : Left<T>{a(i0 + i, p0), g.a_row, g.a_column};
        any_window_tile<T>(rows, joined, kb, left, taps, at, t);
        i += rows;
      }
    }
  }

  int run() const {
    for (int64_t j0 = 0; j0 < g.n; j0 += block_n)
      for (int64_t p0 = 0; p0 < g.k; p0 += block_k)
        for (int64_t i0 = 0; i0 < g.m; i0 += block_m) {
          block(i0, least(block_m, g.m - i0), p0, least(block_k, g.k - p0), j0, least(block_n, g.n - j0));
          if (g.interrupted)
            if (int status = g.interrupted()) return status;
        }
    return 0;
  }
};

// Computes one element of c (m, 1): the dot product of a row of a with a vector, in four vectors of sums.
template <class T>
INLINE T dot(const T* x, const T* y, int64_t k) {
  typedef Vector<T> V;
  constexpr int n = lanes<T>;
  V sum[4] = {};
  int64_t p = 0;
  for (; p + 4 * n <= k; p += 4 * n)
#pragma GCC unroll 4
    for (int q = 0; q < 4; q++)
      sum[q] += *reinterpret_cast<const V*>(x + p + q * n) * *reinterpret_cast<const V*>(y + p + q * n);
  for (; p + n <= k; p += n) sum[0] += *reinterpret_cast<const V*>(x + p) * *reinterpret_cast<const V*>(y + p);
  V all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  T total = 0;
  for (int q = 0; q < n; q++) total += all[q];
  for (; p < k; p++) total += x[p] * y[p];
  return total;
}

// Computes c (1, n): adds up rows of b times numbers, a few rows in each pass.
template <class T>
void add_rows(const Gemm& g) {
  typedef Vector<T> V;
  constexpr int n = lanes<T>, pass = 8;
  constexpr int64_t chunk = 2048;
  T* c = static_cast<T*>(g.c);
  const T* x = static_cast<const T*>(g.a);
  for (int64_t j0 = 0; j0 < g.n; j0 += chunk) {
    const int64_t end = least(j0 + chunk, g.n);
    for (int64_t j = j0; j < end; j++) c[j] = 0;
    for (int64_t p = 0; p < g.k; p += pass) {
      T f[pass];
      const T* row[pass];
      for (int q = 0; q < pass; q++) {  // after the end, the last row times 0
        f[q] = p + q < g.k ? x[(p + q) * g.a_column] : T(0);
        row[q] = static_cast<const T*>(g.b) + least(p + q, g.k - 1) * g.b_row;
      }
      const int64_t rows = least(pass, g.k - p);
      int64_t j = j0;
      if (rows == pass)
        for (; j + n <= end; j += n) {
          V v = *reinterpret_cast<V*>(c + j);
#pragma GCC unroll 8
          for (int q = 0; q < pass; q++) v += f[q] * *reinterpret_cast<const V*>(row[q] + j);
          *reinterpret_cast<V*>(c + j) = v;
        }
      for (; j < end; j++)
        for (int64_t q = 0; q < rows; q++) c[j] += f[q] * row[q][j];
    }
    for (int64_t j = j0; j < end; j++) {
      if (g.row_bias) c[j] += *static_cast<const T*>(g.row_bias);
      if (g.column_bias) c[j] += static_cast<const T*>(g.column_bias)[j];
    }
  }
}

// Returns whether the product is large enough to pay for packing a.
template <class T>
INLINE bool packs_left(const Gemm& g) {
  return g.m * g.k > 16384 && g.n > 16 * tile_columns<T>;
}

// Computes a product. Rows of b are read in place if their elements are neighbours, unless each row is used often
// enough to pay for packing it.
template <class T>
int multiply(const Gemm& g, void* space) {
  if (g.n == 1 && g.a_column == 1 && g.b_row == 1) {
    for (int64_t i = 0; i < g.m; i++) {
      T v = dot<T>(static_cast<const T*>(g.a) + i * g.a_row, static_cast<const T*>(g.b), g.k);
      if (g.row_bias) v = v + static_cast<const T*>(g.row_bias)[i];
      if (g.column_bias) v = v + *static_cast<const T*>(g.column_bias);
      static_cast<T*>(g.c)[i * g.c_row] = v;
    }
    return 0;
  }
  if (g.m == 1 && g.b_column == 1) {
    add_rows<T>(g);
    return 0;
  }
  T* right = static_cast<T*>(space);
  T* left = right + least(g.k, block_k) * least(g.n + tile_columns<T>, block_n) + slack;
  const bool much_b = g.k * g.n * static_cast<int64_t>(sizeof(T)) > 131072 && g.m > 4 * tile_rows;
  return Product<T>{g, nullptr, 0, right, left, packs_left<T>(g), g.b_column != 1 || much_b}.run();
}

template <class T>
int convolve(const Gemm& g, const Windows& w, int64_t first_place, void* space) {
  T* right = static_cast<T*>(space);
  T* left = right + least(g.k, block_k) * least(g.n + tile_columns<T>, block_n) + slack;
  // Packing a panel costs as much as two or three rows of products; vectors in two rows cost a second load in each
  // tile.
  const bool direct = w.columns % lanes<T> == 0 || (g.m < 48 && two_rows_at_most<T>(w.columns));
  return Product<T>{g, &w, first_place, right, left, packs_left<T>(g), true, direct}.run();
}

template <class T>
constexpr GemmKernels kernels_of() {
  return {space<T>, multiply<T>, convolve<T>};
}

constexpr Gemms all = {kernels_of<float>(), kernels_of<double>(), kernels_of<unsigned>(), kernels_of<unsigned long>()};

}  // namespace

namespace LAMELLA_ISA {
const Gemms& gemms() { return all; }
}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
