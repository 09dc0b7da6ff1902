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
// Makes negative zeros positive, since the sign of a zero depends on the number of rotations by an angle of 0, and
// makes the results of `bad` matrices NaN.
template <class T>
LAMELLA_INLINE void finish(int64_t n, Pack<T>* x, const Mask<T>& bad) {
  const Pack<T> nothing = (Pack<T>)(bad & (Types<T>::infinity | (Types<T>::infinity >> 1)));
  for (int64_t i = 0; i < n; i++) x[i] = (x[i] + T(0)) + nothing;
}

// Multiplies z, m×n, by `count` rotations of neighbouring columns: the first is of columns `at` and at + step, where
// `step` is 1 or -1, and each next one is a column further.
template <class T>
__attribute__((noinline)) void rotate_columns(int64_t m, int64_t n, Pack<T>* z, const Pack<T>* c, const Pack<T>* s,
                                              int64_t count, int64_t at, int64_t step) {
  int64_t r = 0;
  for (; r + 4 <= m; r += 4) {
    Pack<T>*a = z + r * n + at, *b = a + n, *p = b + n, *q = p + n;
    Pack<T> a1 = *a, b1 = *b, p1 = *p, q1 = *q;
    for (int64_t k = 0; k < count; k++) {
      const Pack<T> ck = c[k], sk = s[k];
      const Pack<T> a0 = a[step], b0 = b[step], p0 = p[step], q0 = q[step];
      *a = sk * a0 + ck * a1, *b = sk * b0 + ck * b1, *p = sk * p0 + ck * p1, *q = sk * q0 + ck * q1;
      a1 = ck * a0 - sk * a1, b1 = ck * b0 - sk * b1, p1 = ck * p0 - sk * p1, q1 = ck * q0 - sk * q1;
      a += step, b += step, p += step, q += step;
    }
    *a = a1, *b = b1, *p = p1, *q = q1;
  }
  for (; r < m; r++) {
    Pack<T>* a = z + r * n + at;
    Pack<T> a1 = *a;
    for (int64_t k = 0; k < count; k++) {
      const Pack<T> a0 = a[step];
      *a = s[k] * a0 + c[k] * a1;
      a1 = c[k] * a0 - s[k] * a1;
      a += step;
    }
    *a = a1;
  }
}

// Computes the rotation that maps (f, g) to (r, 0) where `on`, and no rotation elsewhere or where both are nearly zero.
template <class T>
LAMELLA_INLINE void rotation(const Pack<T>& f, const Pack<T>& g, const Mask<T>& on, Pack<T>& c, Pack<T>& s,
                             Pack<T>& r) {
  const Pack<T> one = Pack<T>{} + T(1), square = f * f + g * g;
  const Mask<T> turns = on & (square > Types<T>::least_square);
  const Pack<T> length = root<T>(turns ? square : one);
  c = turns ? f / length : one;
  s = turns ? g / length : Pack<T>{};
  r = turns ? length : f;
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

template <class T>
LAMELLA_INLINE void exchange(const Mask<T>& where, Pack<T>& x, Pack<T>& y) {
  const Pack<T> u = x, v = y;
  x = where ? v : u;
  y = where ? u : v;
}
// Reverses the order of rows and columns of the tridiagonal matrices whose first element is larger than the last, and
// the columns of z: QL steps converge sooner where small elements come first.
template <class T>
__attribute__((noinline)) void reverse(int64_t n, Pack<T>* d, Pack<T>* e, Pack<T>* z) {
  const Mask<T> where = magnitude<T>(d[0]) > magnitude<T>(d[n - 1]);
  for (int64_t i = 0; i < n / 2; i++) {
    const int64_t j = n - 1 - i;
    exchange<T>(where, d[i], d[j]);
    if (i < j - 1) exchange<T>(where, e[i], e[j - 1]);
    for (int64_t r = 0; z && r < n; r++) exchange<T>(where, z[r * n + i], z[r * n + j]);
  }
}

// Makes d the eigenvalues of a tridiagonal matrix, by QL steps with Wilkinson's shift (Golub and Van Loan, section 8.3;
// the steps are those of EISPACK's imtql2), and multiplies the rows of z, if not null, by the rotations. All matrices
// compute eigenvalue l at the same time; each has its own end m of the block, and its rotation is the identity where
// i >= m.
template <class T>
__attribute__((noinline)) Mask<T> ql(int64_t n, Pack<T>* d, Pack<T>* e, Pack<T>* z) {
  const int64_t most_steps = 30 + 6 * n;
  const Pack<T> zero = {}, one = zero + T(1);
  Pack<T> c[small_matrix], s[small_matrix];
  Mask<T> failures = {};
  for (int64_t l = 0; l + 1 < n; l++) {
    for (int64_t step = 0;; step++) {
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
        Pack<T> ci, si, length;
        rotation<T>(g, f, on, ci, si, length);
        e[i + 1] = on ? (begins ? zero : length) : e[i + 1];
        const Pack<T> next = d[i + 1] - p;
        const Pack<T> t = (d[i] - next) * si + T(2) * ci * b;
        const Pack<T> q = si * t;
        d[i + 1] = on ? next + q : d[i + 1];
        p = on ? q : p;
        g = on ? ci * t - b : g;
        sine = on ? si : sine;
        cosine = on ? ci : cosine;
        s[last - 1 - i] = si;
        c[last - 1 - i] = ci;
      }
      d[l] = active ? d[l] - p : d[l];
      e[l] = active ? g : e[l];
      if (z) rotate_columns<T>(n, n, z, c, s, last - l, last, -1);
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
    if (z) product<T>(n, n, n - 1, 1, x + n, n + 1, n, tau, z);
    if (n > 1) reverse<T>(n, d, e, z);
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

// Reduces x, m×n with m >= n, to bidiagonal form, diagonal d and e above it: Golub and Van Loan, algorithm 5.4.2. The
// reflections remain in x, `left` and `right`.
template <class T>
__attribute__((noinline)) void bidiagonalize(int64_t m, int64_t n, Pack<T>* x, Pack<T>* d, Pack<T>* e, Pack<T>* left,
                                             Pack<T>* right) {
  for (int64_t k = 0; k < n; k++) {
    Pack<T>* corner = x + k * n + k;
    left[k] = reflection<T>(m - k, corner, n);
    reflect<T>(m - k, n - k - 1, corner, n, left[k], corner + 1, n, 1);
    d[k] = *corner;
    if (k + 1 == n) break;
    right[k] = reflection<T>(n - k - 1, corner + 1, 1);
    reflect<T>(n - k - 1, m - k - 1, corner + 1, 1, right[k], corner + n + 1, 1, n);
    e[k] = corner[1];
  }
}

// Makes d the singular values, in no order and of any sign, of a bidiagonal matrix by QR steps with implicit shifts
// (Golub and Van Loan, algorithm 8.6.2; the shift is the smaller singular value of the last 2×2 block), and multiplies
// u, m×n, and v, n×n, if not null, by the rotations. All matrices compute value h at the same time; each has its own
// start l of the block, and where i < l its rotation is the identity.
template <class T>
__attribute__((noinline)) Mask<T> qr_steps(int64_t m, int64_t n, Pack<T>* d, Pack<T>* e, Pack<T>* u, Pack<T>* v) {
  const int64_t most_steps = 30 + 6 * n;
  const Pack<T> zero = {}, one = zero + T(1);
  Pack<T> cu[small_matrix], su[small_matrix], cv[small_matrix], sv[small_matrix];
  Mask<T> failures = {};
  for (int64_t h = n; h-- > 1;) {
    for (int64_t step = 0;; step++) {
      Mask<T> l = {};
      Pack<T> top = d[0], least = magnitude<T>(d[0]), most = least;
      for (int64_t i = 0; i < h; i++) {
        const Pack<T> next = magnitude<T>(d[i + 1]), size = magnitude<T>(d[i]) + next;
        const Mask<T> small = magnitude<T>(e[i]) <= Types<T>::epsilon * T(0.5) * size + Types<T>::negligible;
        l = small ? Mask<T>{} + static_cast<Int<T>>(i + 1) : l;
        top = small ? d[i + 1] : top;
        least = small | (next < least) ? next : least;
        most = small | (size > most) ? (small ? next : size) : most;
      }
      const Mask<T> active = l < static_cast<Int<T>>(h);
      if (!any<T>(active)) break;
      if (step == most_steps) {
        failures -= active;
        break;
      }
      int64_t first = h;
      for (int k = 0; k < width<T>; k++) first = l[k] < first ? l[k] : first;
      const Pack<T> a = magnitude<T>(d[h - 1]), b = magnitude<T>(d[h]), sum = a + b, gap = a - b;
      const Pack<T> off = e[h - 1] * e[h - 1];
      const Pack<T> twice = root<T>(sum * sum + off) + root<T>(gap * gap + off);
      // A step without a shift separates a value that is nearly zero beside the others of its block.
      const Mask<T> shifts = active & (least > Types<T>::epsilon * most);
      const Pack<T> shift = shifts ? T(2) * a * b / (shifts ? twice : one) : zero;
      const Pack<T> ratio = shift / (shifts ? top : one);
      Pack<T> f = (magnitude<T>(top) - shift) * (with_sign<T>(one, top) + ratio), g = zero;
      const Pack<T> start = shifts ? f : top;
      for (int64_t i = first; i < h; i++) {
        const Mask<T> on = l <= static_cast<Int<T>>(i), begins = l == static_cast<Int<T>>(i);
        f = begins ? start : f;
        g = begins ? e[i] : g;
        Pack<T> c, s, r;
        rotation<T>(f, g, on, c, s, r);
        if (i) e[i - 1] = on & ~begins ? r : e[i - 1];
        cv[i - first] = c;
        sv[i - first] = s;
        const Pack<T> ei = c * e[i] - s * d[i], next = c * d[i + 1];
        rotation<T>(c * d[i] + s * e[i], s * d[i + 1], on, c, s, r);
        cu[i - first] = c;
        su[i - first] = s;
        d[i] = on ? r : d[i];
        f = c * ei + s * next;
        d[i + 1] = on ? c * next - s * ei : d[i + 1];
        if (i + 1 == h) break;
        g = s * e[i + 1];
        e[i + 1] = c * e[i + 1];
      }
      e[h - 1] = active ? f : e[h - 1];
      if (!u) continue;
      rotate_columns<T>(m, n, u, cu, su, h - first, first, 1);
      rotate_columns<T>(n, n, v, cv, sv, h - first, first, 1);
    }
  }
  return failures;
}

template <class T>
void svd(int64_t count, int64_t m, int64_t n, Matrices<const T> a, Matrices<T> u, T* s, Matrices<T> vh, int32_t* info,
         void* space) {
  if (m < n) {  // aᵀ = V diag(s) Uᵀ
    const Matrices<const T> turned = {a.data, a.matrix, a.column, a.row};
    const Matrices<T> left = {vh.data, vh.matrix, vh.column, vh.row}, right = {u.data, u.matrix, u.column, u.row};
    return svd<T>(count, n, m, turned, left, s, right, info, space);
  }
  const Matrices<T> v = {vh.data, vh.matrix, vh.column, vh.row};
  Pack<T>*x = aligned<T>(space), *y = u.data ? x + m * n : nullptr, *z = u.data ? y + m * n : nullptr;
  Pack<T> d[small_matrix], e[small_matrix], left[small_matrix], right[small_matrix];
  Mask<T> rank[small_matrix];
  for (int64_t first = 0; first < count; first += width<T>) {
    const Group<T> g = {first, count};
    load<T>(x, n, 1, a, g, m, n);
    Pack<T> back;
    const Mask<T> bad = scale<T>(m, n, x, back);
    bidiagonalize<T>(m, n, x, d, e, left, right);
    if (y) {
      product<T>(m, n, n, 0, x, n + 1, n, left, y);
      product<T>(n, n, n - 1, 1, x + 1, n + 1, 1, right, z);
    }
    const Mask<T> failures = qr_steps<T>(m, n, d, e, y, z);
    for (int64_t j = 0; j < n; j++) {
      const Mask<T> negative = d[j] < 0;
      d[j] = magnitude<T>(d[j]) * back;
      for (int64_t i = 0; z && i < n; i++) z[i * n + j] = negative ? -z[i * n + j] : z[i * n + j];
    }
    ranks<T>(n, d, true, rank);
    finish<T>(n, d, bad);
    store_ranked<T>(n, d, rank, g, s);
    if (y) {
      finish<T>(m * n, y, bad);
      store_columns<T>(m, n, y, n, 1, rank, u, g);
      finish<T>(n * n, z, bad);
      store_columns<T>(n, n, z, n, 1, rank, v, g);
    }
    for (int l = 0; l < g.present(); l++) info[first + l] = bad[l] ? -1 : static_cast<int32_t>(failures[l]);
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
