// Eigenvalues of small symmetric matrices and singular values of small matrices, with vectors. See Note [Interleaved
// matrices] in backends/cpu/small_matrices.h; Note [Instruction sets] is in backends/cpu/isa.h.
#include "backends/cpu/isa/interleaved.h"

namespace lamella::cpu {
namespace {
namespace interleaved {

// ---- common steps ----

// Scales m×n vectors to magnitudes of about 1, by a power of two for each matrix. Returns the matrices with an infinity
// or a NaN, which become the identity, for which all loops end.
template <class T>
Mask<T> scale(int64_t m, int64_t n, Pack<T>* x, Pack<T>& back) {
  Mask<T> most = {};
  for (int64_t i = 0; i < m * n; i++) {
    const Mask<T> bits = (Mask<T>)magnitude<T>(x[i]);
    most = bits > most ? bits : most;
  }
  const Mask<T> bad = most >= Types<T>::infinity;
  Pack<T> down;
  powers<T>(most, down, back);
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      x[i * n + j] = bad ? Pack<T>{} + T(i == j) : x[i * n + j] * down;
    }
  }
  return bad;
}

// Counts, for each of n numbers, those that come before it in order; of equal ones the first comes first.
template <class T>
void ranks(int64_t n, const Pack<T>* x, bool descending, Mask<T>* rank) {
  for (int64_t i = 0; i < n; i++) rank[i] = Mask<T>{};
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = i + 1; j < n; j++) {
      const Mask<T> second_first = descending ? x[j] > x[i] : x[j] < x[i];
      rank[i] -= second_first;
      rank[j] += 1 + second_first;
    }
  }
}

// Writes numbers by their ranks, element rank[i] of row b of `to` being x[i].
template <class T>
void store_ranked(int64_t n, const Pack<T>* x, const Mask<T>* rank, const Group<T>& g, T* to) {
  for (int l = 0; l < g.present(); l++) {
    for (int64_t i = 0; i < n; i++) to[(g.first + l) * n + rank[i][l]] = x[i][l];
  }
}
// Writes m×n vectors, element (i, j) being x[i * row + j * column], with their columns by ranks.
template <class T>
__attribute__((noinline)) void store_columns(int64_t m, int64_t n, const Pack<T>* x, int64_t row, int64_t column,
                                             const Mask<T>* rank, const Matrices<T>& to, const Group<T>& g) {
  for (int l = 0; l < g.present(); l++) {
    T* base = to.data + (g.first + l) * to.matrix;
    for (int64_t j = 0; j < n; j++) {
      T* at = base + rank[j][l] * to.column;
      for (int64_t i = 0; i < m; i++) at[i * to.row] = x[i * row + j * column][l];
    }
  }
}
// Gives all zeros the same sign, which may depend on the number of rotations by an angle of 0, and the results of
// `bad` matrices the value NaN.
template <class T>
LAMELLA_INLINE void finish(int64_t n, Pack<T>* x, const Mask<T>& bad) {
  const Pack<T> nothing = (Pack<T>)(bad & (Types<T>::infinity | (Types<T>::infinity >> 1)));
  for (int64_t i = 0; i < n; i++) x[i] = (x[i] + T(0)) + nothing;
}

// ---- symmetric matrices ----

// Reduces the lower triangle of x to tridiagonal form, diagonal d and subdiagonal e: Golub and Van Loan, algorithm
// 8.3.1. The reflections remain in x and tau; that of step k begins at row k + 1.
template <class T>
__attribute__((noinline)) void tridiagonalize(int64_t n, Pack<T>* x, Pack<T>* d, Pack<T>* e, Pack<T>* tau) {
  Pack<T> v[small_matrix], p[small_matrix];
  for (int64_t k = 0; k < n; k++) {
    d[k] = x[k * n + k];
    e[k] = Pack<T>{};
    if (k + 1 == n) break;
    const int64_t rest = n - k - 1;
    Pack<T>* column = x + (k + 1) * n + k;
    tau[k] = reflection<T>(rest, column, n);
    e[k] = column[0];
    Pack<T>* y = column + 1;  // the rest of the matrix
    v[0] = Pack<T>{} + T(1);
    for (int64_t i = 1; i < rest; i++) v[i] = column[i * n];
    for (int64_t i = 0; i < rest; i++) {
      Pack<T> s = y[i * n + i] * v[i];
      for (int64_t j = 0; j < i; j++) {
        const Pack<T> z = y[i * n + j];
        s += z * v[j];
        p[j] += z * v[i];
      }
      p[i] = s;
    }
    Pack<T> dot = {};
    for (int64_t i = 0; i < rest; i++) {
      p[i] *= tau[k];
      dot += p[i] * v[i];
    }
    dot *= tau[k] * T(0.5);
    for (int64_t i = 0; i < rest; i++) {
      p[i] -= dot * v[i];
      for (int64_t j = 0; j <= i; j++) y[i * n + j] -= v[i] * p[j] + p[i] * v[j];
    }
  }
}

// Multiplies columns first ... last of z by the rotations of columns i and i + 1, from the last i to the first.
template <class T>
__attribute__((noinline)) void rotate_columns(int64_t n, Pack<T>* z, const Pack<T>* c, const Pack<T>* s, int64_t first,
                                              int64_t last) {
  int64_t r = 0;
  for (; r + 4 <= n; r += 4) {
    Pack<T>*a = z + r * n, *b = a + n, *p = b + n, *q = p + n;
    Pack<T> a1 = a[last], b1 = b[last], p1 = p[last], q1 = q[last];
    for (int64_t i = last; i-- > first;) {
      const Pack<T> ci = c[i], si = s[i];
      const Pack<T> a0 = a[i], b0 = b[i], p0 = p[i], q0 = q[i];
      a[i + 1] = si * a0 + ci * a1, b[i + 1] = si * b0 + ci * b1;
      p[i + 1] = si * p0 + ci * p1, q[i + 1] = si * q0 + ci * q1;
      a1 = ci * a0 - si * a1, b1 = ci * b0 - si * b1;
      p1 = ci * p0 - si * p1, q1 = ci * q0 - si * q1;
    }
    a[first] = a1, b[first] = b1, p[first] = p1, q[first] = q1;
  }
  for (; r < n; r++) {
    Pack<T>* a = z + r * n;
    Pack<T> a1 = a[last];
    for (int64_t i = last; i-- > first;) {
      const Pack<T> a0 = a[i];
      a[i + 1] = s[i] * a0 + c[i] * a1;
      a1 = c[i] * a0 - s[i] * a1;
    }
    a[first] = a1;
  }
}

// Makes d the eigenvalues of a tridiagonal matrix, by QL steps with Wilkinson's shift (Golub and Van Loan, section 8.3;
// the steps are those of EISPACK's imtql2), and multiplies the rows of z, if not null, by the rotations. All matrices
// search for eigenvalue l at the same time; each has its own end m of the block, and where i >= m its rotation is none.
template <class T>
__attribute__((noinline)) Mask<T> ql(int64_t n, Pack<T>* d, Pack<T>* e, Pack<T>* z) {
  constexpr int most_steps = 60;
  const Pack<T> zero = {}, one = zero + T(1);
  Pack<T> c[small_matrix], s[small_matrix];
  Mask<T> failures = {};
  for (int64_t l = 0; l + 1 < n; l++) {
    for (int step = 0;; step++) {
      Mask<T> m = Mask<T>{} + static_cast<Int<T>>(n - 1);
      int64_t last = l;  // the largest m
      for (int64_t i = n - 1; i-- > l;) {
        const Pack<T> scale = magnitude<T>(d[i]) + magnitude<T>(d[i + 1]);
        const Mask<T> small = magnitude<T>(e[i]) <= Types<T>::epsilon * T(0.5) * scale + Types<T>::negligible;
        m = small ? Mask<T>{} + static_cast<Int<T>>(i) : m;
      }
      const Mask<T> active = m > static_cast<Int<T>>(l);
      if (!any<T>(active)) break;
      if (step == most_steps) {
        failures -= active;
        break;
      }
      for (int k = 0; k < width<T>; k++) last = m[k] > last ? m[k] : last;
      // The shift: the eigenvalue of the first 2×2 block that is nearer to d[l].
      const Pack<T> el = active ? e[l] : one;
      Pack<T> g = (d[l + 1] - d[l]) / (el + el);
      const Pack<T> r = root<T>(one + g * g);
      const Pack<T> shift = d[l] - el / (g + with_sign<T>(r, g));
      g = zero;
      Pack<T> sine = one, cosine = one, p = zero;
      for (int64_t i = last; i-- > l;) {
        const Mask<T> on = m > static_cast<Int<T>>(i);
        const Mask<T> begins = m == static_cast<Int<T>>(i + 1);
        g = begins ? d[i + 1] - shift : g;
        const Pack<T> f = sine * e[i], b = cosine * e[i];
        const Pack<T> square = f * f + g * g;
        const Mask<T> turns = on & (square > Types<T>::least_square);
        const Pack<T> length = turns ? root<T>(square) : one;
        const Pack<T> si = turns ? f / length : zero, ci = turns ? g / length : one;
        e[i + 1] = on ? (turns & ~begins ? length : zero) : e[i + 1];
        const Pack<T> next = d[i + 1] - p;
        const Pack<T> t = (d[i] - next) * si + T(2) * ci * b;
        const Pack<T> q = si * t;
        d[i + 1] = on ? next + q : d[i + 1];
        p = on ? q : p;
        g = on ? ci * t - b : g;
        sine = on ? si : sine;
        cosine = on ? ci : cosine;
        s[i] = si;
        c[i] = ci;
      }
      d[l] = active ? d[l] - p : d[l];
      e[l] = active ? g : e[l];
      if (z) rotate_columns<T>(n, z, c, s, l, last);
    }
  }
  return failures;
}

template <class T>
void eigh(int64_t count, int64_t n, Matrices<const T> a, bool upper, T* w, Matrices<T> v, int32_t* info, void* space) {
  Pack<T>*x = aligned<T>(space), *z = v.data ? x + n * n : nullptr;
  Pack<T> d[small_matrix], e[small_matrix], tau[small_matrix];
  Mask<T> rank[small_matrix];
  const int64_t row = upper ? 1 : n, column = upper ? n : 1;
  for (int64_t first = 0; first < count; first += width<T>) {
    const Group<T> g = {first, count};
    load<T>(x, row, column, a, g, n, n);
    for (int64_t i = 0; i < n; i++) {
      for (int64_t j = i + 1; j < n; j++) x[i * n + j] = Pack<T>{};
    }
    Pack<T> back;
    const Mask<T> bad = scale<T>(n, n, x, back);
    tridiagonalize<T>(n, x, d, e, tau);
    if (z) {  // the first reflection leaves row 0 as it is
      for (int64_t i = 0; i < n; i++) z[i] = z[i * n] = Pack<T>{} + T(i == 0);
      for (int64_t i = 1; i < n; i++) {
        for (int64_t j = 1; j < n; j++) z[i * n + j] = Pack<T>{} + T(i == j);
      }
      for (int64_t k = n - 2; k-- > 0;) {
        Pack<T>* corner = z + (k + 1) * n + k + 1;
        reflect<T>(n - k - 1, n - k - 1, x + (k + 1) * n + k, n, tau[k], corner, n);
      }
    }
    const Mask<T> failures = ql<T>(n, d, e, z);
    for (int64_t i = 0; i < n; i++) d[i] *= back;
    ranks<T>(n, d, false, rank);
    finish<T>(n, d, bad);
    store_ranked<T>(n, d, rank, g, w);
    if (z) {
      finish<T>(n * n, z, bad);
      store_columns<T>(n, n, z, n, 1, rank, v, g);
    }
    for (int l = 0; l < g.present(); l++) info[first + l] = bad[l] ? -1 : static_cast<int32_t>(failures[l]);
  }
}

// ---- singular values ----

// Columns whose square is below it are taken as zero: they are shorter than the rounding errors of the longest.
template <class T>
constexpr T no_column = sizeof(T) == 4 ? T(1e-18) : T(1e-200);

template <class T>
LAMELLA_INLINE Pack<T> dot(int64_t n, const Pack<T>* x, const Pack<T>* y) {
  Pack<T> s0 = {}, s1 = {};
  int64_t i = 0;
  for (; i + 2 <= n; i += 2) s0 += x[i] * y[i], s1 += x[i + 1] * y[i + 1];
  if (i < n) s0 += x[i] * y[i];
  return s0 + s1;
}
template <class T>
LAMELLA_INLINE void rotate(int64_t n, Pack<T>* x, Pack<T>* y, const Pack<T>& c, const Pack<T>& s) {
  for (int64_t i = 0; i < n; i++) {
    const Pack<T> u = x[i], v = y[i];
    x[i] = c * u - s * v;
    y[i] = s * u + c * v;
  }
}

// Makes the columns of x, n×n, one after another, orthogonal by rotations of pairs: Golub and Van Loan, section 8.6.3.
// The columns of z, n×n, if not null, get the same rotations. The pairs of a round have no common column, so that the
// processor can compute one while it waits for another. `squares` become those of the columns' lengths.
template <class T>
__attribute__((noinline)) Mask<T> jacobi(int64_t n, Pack<T>* x, Pack<T>* z, Pack<T>* squares) {
  constexpr int most_sweeps = 40;
  const Pack<T> zero = {}, one = zero + T(1);
  const T tolerance = Types<T>::epsilon * T(2);
  const int64_t seats = n + n % 2, turn = seats - 1;
  Mask<T> rotated;
  for (int sweep = 0; sweep < most_sweeps; sweep++) {
    rotated = Mask<T>{};
    for (int64_t j = 0; j < n; j++) squares[j] = dot<T>(n, x + j * n, x + j * n);
    for (int64_t round = 0; round < turn; round++) {
      for (int64_t k = 0; k < seats / 2; k++) {
        int64_t p = round + k, q = k ? round + turn - k : turn;
        if (p >= turn) p -= turn;
        if (q >= turn && k) q -= turn;
        if (p > q) {
          const int64_t t = p;
          p = q;
          q = t;
        }
        if (q >= n) continue;
        const Pack<T> a = squares[p], b = squares[q];
        const Pack<T> g = dot<T>(n, x + p * n, x + q * n);
        const Mask<T> turns = (a > no_column<T>)&(b > no_column<T>)&(magnitude<T>(g) > tolerance * root<T>(a * b));
        if (!any<T>(turns)) continue;
        rotated |= turns;
        const Pack<T> zeta = (b - a) / (turns ? g + g : one);
        const Pack<T> tangent = one / (magnitude<T>(zeta) + root<T>(one + zeta * zeta));
        const Pack<T> t = turns ? with_sign<T>(tangent, zeta) : zero;
        const Pack<T> c = one / root<T>(one + t * t), s = c * t;
        const Pack<T> less = a - t * g;
        squares[p] = less > zero ? less : zero;
        const Pack<T> other = b + t * g;
        squares[q] = other > zero ? other : zero;
        rotate<T>(n, x + p * n, x + q * n, c, s);
        if (z) rotate<T>(n, z + p * n, z + q * n, c, s);
      }
    }
    if (!any<T>(rotated)) break;
  }
  return rotated;
}

// Makes the `missing` columns of matrix l of x unit vectors that are orthogonal to the others. Few matrices have such
// columns, so this is done for one matrix at a time.
template <class T>
__attribute__((noinline)) void complete(int64_t n, Pack<T>* x, int l, const Mask<T>* missing) {
  for (int64_t j = 0; j < n; j++) {
    if (!missing[j][l]) continue;
    // The unit vector that is farthest from the columns so far; zero columns count for nothing.
    int64_t at = 0;
    T least = 2;
    for (int64_t i = 0; i < n; i++) {
      T sum = 0;
      for (int64_t c = 0; c < n; c++) sum += x[c * n + i][l] * x[c * n + i][l];
      if (sum < least) {
        least = sum;
        at = i;
      }
    }
    T y[small_matrix] = {};
    y[at] = 1;
    for (int pass = 0; pass < 2; pass++) {  // the second pass removes the rounding errors of the first
      for (int64_t c = 0; c < n; c++) {
        T sum = 0;
        for (int64_t i = 0; i < n; i++) sum += x[c * n + i][l] * y[i];
        for (int64_t i = 0; i < n; i++) y[i] -= sum * x[c * n + i][l];
      }
    }
    Pack<T> square = {};
    for (int64_t i = 0; i < n; i++) square[0] += y[i] * y[i];
    const T length = root<T>(square)[0];
    for (int64_t i = 0; i < n; i++) x[j * n + i][l] = y[i] / length;
  }
}
// Makes the columns of x, n×n, one after another, unit vectors. `lengths` are their lengths.
template <class T>
LAMELLA_INLINE void normalize(int64_t n, Pack<T>* x, const Pack<T>* lengths) {
  const Pack<T> one = Pack<T>{} + T(1);
  Mask<T> missing[small_matrix], some = {};
  for (int64_t j = 0; j < n; j++) {
    missing[j] = lengths[j] * lengths[j] <= no_column<T>;
    some |= missing[j];
    const Pack<T> factor = missing[j] ? Pack<T>{} : one / (missing[j] ? one : lengths[j]);
    for (int64_t i = 0; i < n; i++) x[j * n + i] *= factor;
  }
  for (int l = 0; l < width<T>; l++) {
    if (some[l]) complete<T>(n, x, l, missing);
  }
}

// Computes the decomposition of a = Q R from Rᵀ W = V diag(s) with orthogonal W: it is (Q W) diag(s) Vᵀ. The columns of
// Rᵀ are orthogonal after fewer rotations than those of a (Drmač and Veselić, New fast and accurate Jacobi SVD
// algorithm, 2008).
template <class T>
void svd(int64_t count, int64_t m, int64_t n, Matrices<const T> a, Matrices<T> u, T* s, Matrices<T> vh, int32_t* info,
         void* space) {
  if (m < n) {  // aᵀ = V diag(s) Uᵀ
    const Matrices<const T> turned = {a.data, a.matrix, a.column, a.row};
    const Matrices<T> left = {vh.data, vh.matrix, vh.column, vh.row}, right = {u.data, u.matrix, u.column, u.row};
    return svd<T>(count, n, m, turned, left, s, right, info, space);
  }
  const bool vectors = u.data;
  Pack<T>*x = aligned<T>(space), *y = x + m * n, *z = y + n * n, *q = z + n * n;
  Pack<T> tau[small_matrix], values[small_matrix], lengths[small_matrix];
  Mask<T> rank[small_matrix];
  for (int64_t first = 0; first < count; first += width<T>) {
    const Group<T> g = {first, count};
    load<T>(x, n, 1, a, g, m, n);
    Pack<T> back;
    const Mask<T> bad = scale<T>(m, n, x, back);
    for (int64_t i = 0; i < n; i++) {
      Pack<T>* corner = x + i * n + i;
      tau[i] = reflection<T>(m - i, corner, n);
      reflect<T>(m - i, n - i - 1, corner, n, tau[i], corner + 1, n);
    }
    for (int64_t i = 0; i < n; i++) {
      for (int64_t j = 0; j < n; j++) {
        y[i * n + j] = j < i ? Pack<T>{} : x[i * n + j];
        z[i * n + j] = Pack<T>{} + T(i == j);
      }
    }
    const Mask<T> failures = jacobi<T>(n, y, vectors ? z : nullptr, values);
    for (int64_t j = 0; j < n; j++) {
      values[j] = root<T>(values[j]);
      lengths[j] = values[j] * back;
    }
    ranks<T>(n, values, true, rank);
    finish<T>(n, lengths, bad);
    store_ranked<T>(n, lengths, rank, g, s);
    if (vectors) {
      normalize<T>(n, y, values);
      finish<T>(n * n, y, bad);
      store_columns<T>(n, n, y, 1, n, rank, Matrices<T>{vh.data, vh.matrix, vh.column, vh.row}, g);
      for (int64_t j = 0; j < n; j++) values[j] = root<T>(dot<T>(n, z + j * n, z + j * n));
      normalize<T>(n, z, values);
      for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) q[i * n + j] = i < n ? z[j * n + i] : Pack<T>{};
      }
      for (int64_t i = n; i-- > 0;) reflect<T>(m - i, n, x + i * n + i, n, tau[i], q + i * n, n);
      finish<T>(m * n, q, bad);
      store_columns<T>(m, n, q, n, 1, rank, u, g);
    }
    for (int l = 0; l < g.present(); l++) info[first + l] = bad[l] ? -1 : failures[l] ? 1 : 0;
  }
}

template <class T>
constexpr SmallSpectra<T> spectra_of() {
  return {eigh<T>, svd<T>};
}

}  // namespace interleaved
}  // namespace

namespace LAMELLA_ISA {
void add_small_spectra(SmallMatrices& to) {
  to.spectra_f32 = interleaved::spectra_of<float>();
  to.spectra_f64 = interleaved::spectra_of<double>();
}
}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
