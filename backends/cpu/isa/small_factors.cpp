// Cholesky, LU and QR of small matrices, and solutions by them. See Note [Interleaved matrices] in
// backends/cpu/small_matrices.h; Note [Instruction sets] is in backends/cpu/isa.h. The algorithms are those of Golub
// and Van Loan, Matrix Computations, chapters 3 to 5.
#include "backends/cpu/isa/interleaved.h"

namespace lamella::cpu {
namespace {
namespace interleaved {

constexpr int64_t most_columns = 32;  // right-hand sides that are solved at once

// ---- Cholesky ----

template <class T>
void cholesky(int64_t count, int64_t n, Matrices<const T> a, Matrices<T> l, int32_t* info, void* space) {
  Pack<T>* x = aligned<T>(space);
  for (int64_t first = 0; first < count; first += width<T>) {
    const Group<T> g = {first, count};
    load<T>(x, n, 1, a, g, n, n);
    Mask<T> failed = {};
    for (int64_t j = 0; j < n; j++) {
      Pack<T>* row = x + j * n;
      Pack<T> d = row[j];
      for (int64_t k = 0; k < j; k++) d -= row[k] * row[k];
      failed = (failed == 0) & ~(d > 0) ? Mask<T>{} + static_cast<Int<T>>(j + 1) : failed;
      const Mask<T> good = failed == 0;
      d = root<T>(good ? d : Pack<T>{} + T(1));
      row[j] = good ? d : row[j];
      for (int64_t i = j + 1; i < n; i++) {
        Pack<T>* other = x + i * n;
        Pack<T> s = other[j];
        for (int64_t k = 0; k < j; k++) s -= other[k] * row[k];
        other[j] = good ? s / d : other[j];
      }
      for (int64_t k = j + 1; k < n; k++) row[k] = Pack<T>{};
    }
    store<T>(x, n, 1, l, g, n, n);
    for (int k = 0; k < g.present(); k++) info[first + k] = static_cast<int32_t>(failed[k]);
  }
}

// ---- LU ----

// Factors x, m×n. pivots[k] gets the row that was exchanged with row k, from 0.
template <class T>
__attribute__((noinline)) Mask<T> factor(int64_t m, int64_t n, Pack<T>* x, Mask<T>* pivots) {
  Mask<T> info = {};
  const Pack<T> one = Pack<T>{} + T(1);
  for (int64_t k = 0; k < m && k < n; k++) {
    Pack<T>* top = x + k * n;
    Pack<T> best = magnitude<T>(top[k]);
    Mask<T> at = Mask<T>{} + static_cast<Int<T>>(k);
    for (int64_t i = k + 1; i < m; i++) {
      const Pack<T> size = magnitude<T>(x[i * n + k]);
      const Mask<T> larger = size > best;
      best = larger ? size : best;
      at = larger ? Mask<T>{} + static_cast<Int<T>>(i) : at;
    }
    pivots[k] = at;
    const Mask<T> zero = best == 0;
    info = (info == 0) & zero ? Mask<T>{} + static_cast<Int<T>>(k + 1) : info;
    for (int64_t i = k + 1; i < m; i++) {
      const Mask<T> here = at == static_cast<Int<T>>(i);
      if (!any<T>(here)) continue;
      Pack<T>* row = x + i * n;
      for (int64_t j = 0; j < n; j++) {
        const Pack<T> u = top[j], v = row[j];
        top[j] = here ? v : u;
        row[j] = here ? u : v;
      }
    }
    const Pack<T> pivot = zero ? one : top[k];
    for (int64_t i = k + 1; i < m; i++) {
      Pack<T>* row = x + i * n;
      const Pack<T> f = row[k] / pivot;
      row[k] = f;
      for (int64_t j = k + 1; j < n; j++) row[j] -= f * top[j];
    }
  }
  return info;
}

template <class T>
void store_pivots(const Mask<T>* from, int32_t* to, int64_t k, const Group<T>& g) {
  for (int l = 0; l < g.present(); l++) {
    for (int64_t i = 0; i < k; i++) to[(g.first + l) * k + i] = static_cast<int32_t>(from[i][l]) + 1;
  }
}
// Makes order[i] the row of B that becomes row i by the exchanges of rows.
template <class T>
LAMELLA_INLINE void exchanges(int64_t n, const Mask<T>* pivots, Mask<T>* order) {
  for (int64_t i = 0; i < n; i++) order[i] = Mask<T>{} + static_cast<Int<T>>(i);
  for (int l = 0; l < width<T>; l++) {
    for (int64_t i = 0; i < n; i++) {
      const Int<T> p = pivots[i][l], at = order[i][l];
      order[i][l] = order[p][l];
      order[p][l] = at;
    }
  }
}

// ---- substitution ----

// Subtracts, for k columns of x from x[i * k] on, the products of a's elements from `begin` to `end` with their rows.
template <class T>
LAMELLA_INLINE void eliminate(int64_t i, int64_t begin, int64_t end, int64_t k, const Pack<T>* a, int64_t step,
                              Pack<T>* x, const Pack<T>* divisor) {
  int64_t c = 0;
  for (; c + 4 <= k; c += 4) {
    Pack<T>* to = x + i * k + c;
    Pack<T> s0 = to[0], s1 = to[1], s2 = to[2], s3 = to[3];
    for (int64_t j = begin; j < end; j++) {
      const Pack<T> f = a[j * step];
      const Pack<T>* y = x + j * k + c;
      s0 -= f * y[0], s1 -= f * y[1], s2 -= f * y[2], s3 -= f * y[3];
    }
    if (divisor) s0 /= *divisor, s1 /= *divisor, s2 /= *divisor, s3 /= *divisor;
    to[0] = s0, to[1] = s1, to[2] = s2, to[3] = s3;
  }
  for (; c < k; c++) {
    Pack<T> s = x[i * k + c];
    for (int64_t j = begin; j < end; j++) s -= a[j * step] * x[j * k + c];
    x[i * k + c] = divisor ? s / *divisor : s;
  }
}
// Solves a triangular system for k columns of x in place. Element (i, j) of the triangle is a[i * row + j * column].
template <class T>
__attribute__((noinline)) void substitute(int64_t n, int64_t k, const Pack<T>* a, int64_t row, int64_t column,
                                          Pack<T>* x, bool upper, bool unit) {
  for (int64_t r = 0; r < n; r++) {
    const int64_t i = upper ? n - 1 - r : r;
    eliminate<T>(i, upper ? i + 1 : 0, upper ? n : i, k, a + i * row, column, x,
                 unit ? nullptr : a + i * row + i * column);
  }
}
template <class T>
LAMELLA_INLINE Matrices<T> from_column(const Matrices<T>& a, int64_t c) {
  return {a.data + c * a.column, a.matrix, a.row, a.column};
}
LAMELLA_INLINE int64_t block(int64_t k, int64_t c) { return k - c < most_columns ? k - c : most_columns; }

// Copies rows of B to vectors, or of vectors to X: row order[i][l] of matrix l belongs to row i of the vectors.
template <class T>
__attribute__((noinline)) void load_rows(Pack<T>* x, const Matrices<const T>& b, const Group<T>& g,
                                         const Mask<T>* order, int64_t n, int64_t k) {
  for (int l = 0; l < width<T>; l++) {
    const T* from = b.data + g.at(l) * b.matrix;
    for (int64_t i = 0; i < n; i++) {
      for (int64_t c = 0; c < k; c++) x[i * k + c][l] = from[order[i][l] * b.row + c * b.column];
    }
  }
}
template <class T>
void store_rows(const Pack<T>* x, const Matrices<T>& b, const Group<T>& g, const Mask<T>* order, int64_t n, int64_t k) {
  for (int l = 0; l < g.present(); l++) {
    T* to = b.data + (g.first + l) * b.matrix;
    for (int64_t i = 0; i < n; i++) {
      for (int64_t c = 0; c < k; c++) to[order[i][l] * b.row + c * b.column] = x[i * k + c][l];
    }
  }
}

// Solves for all columns of B by the factors in `lu`, n×n vectors.
template <class T>
void solve_columns(const Group<T>& g, int64_t n, int64_t k, const Pack<T>* lu, const Mask<T>* order,
                   const Matrices<const T>& b, const Matrices<T>& x, bool transposed, Pack<T>* y) {
  for (int64_t c = 0; c < k; c += most_columns) {
    const int64_t some = block(k, c);
    if (transposed) {
      load<T>(y, some, 1, from_column(b, c), g, n, some);
      substitute<T>(n, some, lu, 1, n, y, false, false);
      substitute<T>(n, some, lu, 1, n, y, true, true);
      store_rows<T>(y, from_column(x, c), g, order, n, some);
    } else {
      load_rows<T>(y, from_column(b, c), g, order, n, some);
      substitute<T>(n, some, lu, n, 1, y, false, true);
      substitute<T>(n, some, lu, n, 1, y, true, false);
      store<T>(y, some, 1, from_column(x, c), g, n, some);
    }
  }
}

template <class T>
void lu(int64_t count, int64_t m, int64_t n, Matrices<const T> a, Matrices<T> lu, int32_t* pivots, int32_t* info,
        void* space) {
  Pack<T>* x = aligned<T>(space);
  Mask<T> rows[small_matrix];
  for (int64_t first = 0; first < count; first += width<T>) {
    const Group<T> g = {first, count};
    load<T>(x, n, 1, a, g, m, n);
    const Mask<T> zero = factor<T>(m, n, x, rows);
    store<T>(x, n, 1, lu, g, m, n);
    store_pivots<T>(rows, pivots, m < n ? m : n, g);
    for (int l = 0; l < g.present(); l++) info[first + l] = static_cast<int32_t>(zero[l]);
  }
}

template <class T>
void lu_solve(int64_t count, int64_t n, int64_t k, Matrices<const T> lu, const int32_t* pivots, Matrices<const T> b,
              Matrices<T> x, bool transposed, void* space) {
  Pack<T>*factors = aligned<T>(space), *y = factors + n * n;
  Mask<T> rows[small_matrix], order[small_matrix];
  for (int64_t first = 0; first < count; first += width<T>) {
    const Group<T> g = {first, count};
    load<T>(factors, n, 1, lu, g, n, n);
    for (int l = 0; l < width<T>; l++) {
      for (int64_t i = 0; i < n; i++) rows[i][l] = pivots[g.at(l) * n + i] - 1;
    }
    exchanges<T>(n, rows, order);
    solve_columns<T>(g, n, k, factors, order, b, x, transposed, y);
  }
}

template <class T>
void solve(int64_t count, int64_t n, int64_t k, Matrices<const T> a, Matrices<const T> b, Matrices<T> x, Matrices<T> lu,
           int32_t* pivots, int32_t* info, void* space) {
  Pack<T>*factors = aligned<T>(space), *y = factors + n * n;
  Mask<T> rows[small_matrix], order[small_matrix];
  for (int64_t first = 0; first < count; first += width<T>) {
    const Group<T> g = {first, count};
    load<T>(factors, n, 1, a, g, n, n);
    const Mask<T> zero = factor<T>(n, n, factors, rows);
    if (lu.data) store<T>(factors, n, 1, lu, g, n, n);
    if (pivots) store_pivots<T>(rows, pivots, n, g);
    for (int l = 0; l < g.present(); l++) info[first + l] = static_cast<int32_t>(zero[l]);
    exchanges<T>(n, rows, order);
    solve_columns<T>(g, n, k, factors, order, b, x, false, y);
  }
}

template <class T>
void inverse(int64_t count, int64_t n, Matrices<const T> a, Matrices<T> x, int32_t* info, void* space) {
  Pack<T>*factors = aligned<T>(space), *y = factors + n * n;
  Mask<T> rows[small_matrix], order[small_matrix];
  for (int64_t first = 0; first < count; first += width<T>) {
    const Group<T> g = {first, count};
    load<T>(factors, n, 1, a, g, n, n);
    const Mask<T> zero = factor<T>(n, n, factors, rows);
    for (int l = 0; l < g.present(); l++) info[first + l] = static_cast<int32_t>(zero[l]);
    exchanges<T>(n, rows, order);
    for (int64_t i = 0; i < n; i++) {
      for (int64_t j = 0; j < n; j++) {
        const Mask<T> here = order[i] == static_cast<Int<T>>(j);
        y[i * n + j] = here ? Pack<T>{} + T(1) : Pack<T>{};
      }
    }
    substitute<T>(n, n, factors, n, 1, y, false, true);
    substitute<T>(n, n, factors, n, 1, y, true, false);
    store<T>(y, n, 1, x, g, n, n);
  }
}

template <class T>
void triangular(int64_t count, int64_t n, int64_t k, Matrices<const T> a, Matrices<const T> b, Matrices<T> x,
                bool upper, bool transposed, bool unit, void* space) {
  Pack<T>*triangle = aligned<T>(space), *y = triangle + n * n;
  for (int64_t first = 0; first < count; first += width<T>) {
    const Group<T> g = {first, count};
    load<T>(triangle, n, 1, a, g, n, n);
    for (int64_t c = 0; c < k; c += most_columns) {
      const int64_t some = block(k, c);
      load<T>(y, some, 1, from_column(b, c), g, n, some);
      substitute<T>(n, some, triangle, transposed ? 1 : n, transposed ? n : 1, y, upper != transposed, unit);
      store<T>(y, some, 1, from_column(x, c), g, n, some);
    }
  }
}

// ---- QR ----

// Each column is scaled by a power of two, which changes R alone, so that squares neither overflow nor vanish.
template <class T>
void qr(int64_t count, int64_t m, int64_t n, int64_t columns, Matrices<const T> a, Matrices<T> q, Matrices<T> r,
        void* space) {
  const int64_t k = m < n ? m : n;
  Pack<T>*x = aligned<T>(space), *y = x + m * n;
  Pack<T> tau[small_matrix], back[small_matrix];
  for (int64_t first = 0; first < count; first += width<T>) {
    const Group<T> g = {first, count};
    load<T>(x, n, 1, a, g, m, n);
    for (int64_t j = 0; j < n; j++) {
      Mask<T> most = {};
      for (int64_t i = 0; i < m; i++) {
        const Mask<T> bits = (Mask<T>)magnitude<T>(x[i * n + j]);
        most = bits > most ? bits : most;
      }
      Pack<T> down;
      powers<T>(most, down, back[j]);
      for (int64_t i = 0; i < m; i++) x[i * n + j] *= down;
    }
    for (int64_t i = 0; i < k; i++) {
      Pack<T>* corner = x + i * n + i;
      tau[i] = reflection<T>(m - i, corner, n);
      reflect<T>(m - i, n - i - 1, corner, n, tau[i], corner + 1, n, 1);
    }
    if (q.data) {
      product<T>(m, columns, k, 0, x, n + 1, n, tau, y);
      store<T>(y, columns, 1, q, g, m, columns);
    }
    for (int64_t i = 0; i < columns; i++) {
      for (int64_t j = 0; j < n; j++) x[i * n + j] = j < i ? Pack<T>{} : x[i * n + j] * back[j];
    }
    store<T>(x, n, 1, r, g, columns, n);
  }
}

template <class T>
constexpr SmallFactors<T> factors_of() {
  return {cholesky<T>, lu<T>, lu_solve<T>, solve<T>, inverse<T>, triangular<T>, qr<T>};
}

}  // namespace interleaved
}  // namespace

namespace LAMELLA_ISA {
void add_small_factors(SmallMatrices& to) {
  to.factors_f32 = interleaved::factors_of<float>();
  to.factors_f64 = interleaved::factors_of<double>();
  to.vector_bytes = vector_bytes;
}
}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
