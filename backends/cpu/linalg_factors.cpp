// The factorizations of matrices: Cholesky, LU, QR, and the solvers that use them.
#include <cmath>

#include "backends/cpu/matrices.h"

namespace lamella::cpu {
namespace {

Status cholesky(const Tensor& self, bool upper, const Tensor& factor, const Tensor& info) {
  const MatrixSizes s(self);
  const ColumnResult l(factor);
  const Result codes(info);
  return with_number(self.get()->dtype, [&](auto number) -> Status {
    using T = decltype(number);
    if constexpr (!is_complex_number<T>)
      if (small_suits<T>(SmallKind::cholesky, s)) {
        const SmallOperand a(self);
        const Status st = for_small_matrices<T>(SmallKind::cholesky, s, [&](int64_t first, int64_t n, void* space) {
          small_factors<T>().cholesky(n, s.n, a.from<T>(first, upper),
                                      column_matrices(l.data<T>(), first, s.n, s.n, upper), codes.data<Int>() + first,
                                      space);
        });
        return st ? st : all_finished(l, codes);
      }
    if (lamella_status st = l.copy_from(self)) return st;
    const Lapack<T>& f = lapack<T>();
    const Status st = for_matrices(s.count, cube(s.n) / 3, [&](int64_t b, int64_t e) -> lamella_status {
      for (int64_t i = b; i < e; i++) {
        T* a = l.data<T>() + i * s.each();
        const Int ld = std::max(s.n, 1);
        f.potrf(upper ? "U" : "L", &s.n, a, &ld, codes.data<Int>() + i, 1);
        clear_triangle(a, s.n, s.n, ld, !upper);
      }
      return LAMELLA_OK;
    });
    return st ? st : all_finished(l, codes);
  });
}

// Factors without pivots, column by column. `info` is the first pivot that is zero.
template <class T>
Int factor_unpivoted(T* a, Int m, Int n) {
  Int info = 0;
  for (Int k = 0; k < std::min(m, n); k++) {
    const T pivot = a[int64_t{k} * m + k];
    if (pivot == T(0)) {
      if (!info) info = k + 1;
      continue;
    }
    for (Int i = k + 1; i < m; i++) a[int64_t{k} * m + i] /= pivot;
    for (Int j = k + 1; j < n; j++) {
      const T top = a[int64_t{j} * m + k];
      for (Int i = k + 1; i < m; i++) a[int64_t{j} * m + i] -= a[int64_t{k} * m + i] * top;
    }
  }
  return info;
}

Status lu(const Tensor& self, bool pivot, const Tensor& factors, const Tensor& pivots, const Tensor& info) {
  const MatrixSizes s(self);
  const ColumnResult a(factors);
  const Result exchanged(pivots), codes(info);
  const Int k = std::min(s.m, s.n), ld = std::max(s.m, 1);
  return with_number(self.get()->dtype, [&](auto number) -> Status {
    using T = decltype(number);
    if constexpr (!is_complex_number<T>)
      if (pivot && small_suits<T>(SmallKind::lu, s)) {
        const SmallOperand given(self);
        const Status st = for_small_matrices<T>(SmallKind::lu, s, [&](int64_t first, int64_t n, void* space) {
          small_factors<T>().lu(n, s.m, s.n, given.from<T>(first), column_matrices(a.data<T>(), first, s.m, s.n),
                                exchanged.data<Int>() + first * k, codes.data<Int>() + first, space);
        });
        return st ? st : all_finished(a, exchanged, codes);
      }
    if (lamella_status st = a.copy_from(self)) return st;
    const Lapack<T>& f = lapack<T>();
    const double flops = double(s.m) * s.n * k;
    const Status st = for_matrices(s.count, flops, [&](int64_t b, int64_t e) -> lamella_status {
      for (int64_t i = b; i < e; i++) {
        T* at = a.data<T>() + i * s.each();
        Int *p = exchanged.data<Int>() + i * k, *code = codes.data<Int>() + i;
        if (pivot) {
          f.getrf(&s.m, &s.n, at, &ld, p, code);
        } else {
          for (Int r = 0; r < k; r++) p[r] = r + 1;
          *code = factor_unpivoted(at, s.m, s.n);
        }
      }
      return LAMELLA_OK;
    });
    return st ? st : all_finished(a, exchanged, codes);
  });
}

template <class T>
void conjugate(T* x, int64_t n) {
  if constexpr (is_complex_number<T>)
    for (int64_t i = 0; i < n; i++) x[i] = std::conj(x[i]);
}

// Writes the transpose of a rows×columns matrix in column-major order. Equations XA = B are solved as AᵀXᵀ = Bᵀ, with a
// transpose before and after.
template <class T>
void turn(const T* from, Int rows, Int columns, T* to) {
  for (Int j = 0; j < columns; j++)
    for (Int i = 0; i < rows; i++) to[int64_t{i} * columns + j] = from[int64_t{j} * rows + i];
}

// Solves with the factors of one matrix of order n in place of `x`, which has k right sides as columns, or as rows
// (`left` false).
template <class T>
void solve_with(const Lapack<T>& f, Int n, Int k, const T* factors, const Int* pivots, T* x, bool left, bool adjoint,
                T* beside) {
  Int info;
  const Int ld = std::max(n, 1);
  if (left) {
    f.getrs(adjoint ? "C" : "N", &n, &k, factors, &ld, pivots, x, &ld, &info, 1);
    return;
  }
  // X Aᴴ = B is A conj(Xᵀ) = conj(Bᵀ).
  turn(x, k, n, beside);
  if (adjoint) conjugate(beside, int64_t{n} * k);
  f.getrs(adjoint ? "N" : "T", &n, &k, factors, &ld, pivots, beside, &ld, &info, 1);
  if (adjoint) conjugate(beside, int64_t{n} * k);
  turn(beside, n, k, x);
}

Status check_exchanges(const Int* pivots, int64_t count, Int n) {
  for (int64_t i = 0; i < count; i++)
    if (pivots[i] < 1 || pivots[i] > n)
      return fail(LAMELLA_RUNTIME_ERROR, "argument 'pivots': expected rows from 1 to " + std::to_string(n) + ", got " +
                                             std::to_string(pivots[i]));
  return LAMELLA_OK;
}

Status lu_solve(const Tensor& factors, const Tensor& pivots, const Tensor& b, bool left, bool adjoint,
                const Tensor& out) {
  const MatrixSizes s(factors), sides(b);
  const ColumnResult x(out);
  const Operand exchanged(pivots);
  if (Status st = check_exchanges(exchanged.data<Int>(), s.count * s.n, s.n)) return st;
  if (sides.empty()) return x.finish();
  const Int k = left ? sides.n : sides.m;
  return with_number(b.get()->dtype, [&](auto number) -> Status {
    using T = decltype(number);
    if constexpr (!is_complex_number<T>)
      if (left && small_suits<T>(SmallKind::lu_solve, s, k)) {
        const SmallOperand given(factors), right(b);
        const Status st = for_small_matrices<T>(SmallKind::lu_solve, s, [&](int64_t first, int64_t n, void* space) {
          small_factors<T>().lu_solve(n, s.n, k, given.from<T>(first), exchanged.data<Int>() + first * s.n,
                                      right.from<T>(first), column_matrices(x.data<T>(), first, s.n, k), adjoint,
                                      space);
        });
        return st ? st : all_finished(x);
      }
    if (lamella_status st = x.copy_from(b)) return st;
    const ColumnOperand a(factors);
    const Lapack<T>& f = lapack<T>();
    const Status st = for_matrices(s.count, 2. * s.n * s.n * k, [&](int64_t b, int64_t e) -> lamella_status {
      const Work<T> beside(left ? 0 : sides.each());
      for (int64_t i = b; i < e; i++)
        solve_with(f, s.n, k, a.data<T>() + i * s.each(), exchanged.data<Int>() + i * s.n,
                   x.data<T>() + i * sides.each(), left, adjoint, beside.data());
      return LAMELLA_OK;
    });
    if (st) return st;
    return x.finish();
  });
}

Status solve(const Tensor& a, const Tensor& b, bool left, const Tensor& result, const Tensor& factors,
             const Tensor& pivots, const Tensor& info) {
  const MatrixSizes s(a), sides(b);
  const ColumnResult x(result), lu(factors);
  const Result exchanged(pivots), codes(info);
  const Int k = left ? sides.n : sides.m, ld = std::max(s.n, 1);
  return with_number(a.get()->dtype, [&](auto number) -> Status {
    using T = decltype(number);
    if constexpr (!is_complex_number<T>)
      if (left && k && small_suits<T>(SmallKind::solve, s, k)) {
        const SmallOperand given(a), right(b);
        const Status st = for_small_matrices<T>(SmallKind::solve, s, [&](int64_t first, int64_t n, void* space) {
          small_factors<T>().solve(n, s.n, k, given.from<T>(first), right.from<T>(first),
                                   column_matrices(x.data<T>(), first, s.n, k),
                                   column_matrices(lu.data<T>(), first, s.n, s.n), exchanged.data<Int>() + first * s.n,
                                   codes.data<Int>() + first, space);
        });
        return st ? st : all_finished(x, lu, exchanged, codes);
      }
    if (lamella_status st = x.copy_from(b)) return st;
    if (lamella_status st = lu.copy_from(a)) return st;
    const Lapack<T>& f = lapack<T>();
    const double flops = double(s.n) * s.n * (0.7 * s.n + 2. * k);
    const Status st = for_matrices(s.count, flops, [&](int64_t b, int64_t e) -> lamella_status {
      const Work<T> beside(left ? 0 : sides.each());
      for (int64_t i = b; i < e; i++) {
        T* at = lu.data<T>() + i * s.each();
        Int *p = exchanged.data<Int>() + i * s.n, *code = codes.data<Int>() + i;
        f.getrf(&s.n, &s.n, at, &ld, p, code);
        if (k) solve_with(f, s.n, k, at, p, x.data<T>() + i * sides.each(), left, false, beside.data());
      }
      return LAMELLA_OK;
    });
    return st ? st : all_finished(x, lu, exchanged, codes);
  });
}

Status triangular(const Tensor& a, const Tensor& b, bool upper, bool left, bool unitriangular, const Tensor& out) {
  const MatrixSizes s(a), sides(b);
  const ColumnResult x(out);
  if (sides.empty() || s.empty()) return x.finish();
  // A matrix in row-major order is its transpose in column-major order: it is read as it lies, from the other triangle.
  const lamella_tensor* t = a.get();
  const int nd = t->dl.ndim;
  const bool by_rows = is_contiguous(t), as_it_lies = by_rows || lies_in_columns(t);
  const Tensor copy = as_it_lies ? Tensor() : allocate_like(t, t->dtype, ColumnStrides(t).of);
  if (!as_it_lies)
    if (lamella_status st = copy_into(copy.get(), t)) return st;
  const bool turned = by_rows && !(nd >= 2 && lies_in_columns(t));
  return with_number(t->dtype, [&](auto number) -> Status {
    using T = decltype(number);
    if constexpr (!is_complex_number<T>)
      if (left && small_suits<T>(SmallKind::triangular, s, sides.n)) {
        const SmallOperand given(a), right(b);
        const Status st = for_small_matrices<T>(SmallKind::triangular, s, [&](int64_t first, int64_t n, void* space) {
          small_factors<T>().triangular(n, s.n, sides.n, given.from<T>(first), right.from<T>(first),
                                        column_matrices(x.data<T>(), first, s.n, sides.n), upper, false, unitriangular,
                                        space);
        });
        return st ? st : all_finished(x);
      }
    if (lamella_status st = x.copy_from(b)) return st;
    const Lapack<T>& f = lapack<T>();
    const T one(1);
    const Int lda = std::max(s.n, 1), ldx = std::max(sides.m, 1);
    const T* data = static_cast<const T*>(as_it_lies ? t->dl.data : copy.get()->dl.data);
    const double flops = double(sides.m) * sides.n * s.n;
    const Status st = for_matrices(s.count, flops, [&](int64_t b, int64_t e) -> lamella_status {
      for (int64_t i = b; i < e; i++)
        f.trsm(left ? "L" : "R", upper != turned ? "U" : "L", turned ? "T" : "N", unitriangular ? "U" : "N", &sides.m,
               &sides.n, &one, data + i * s.each(), &lda, x.data<T>() + i * sides.each(), &ldx, 1, 1, 1, 1);
      return LAMELLA_OK;
    });
    if (st) return st;
    return x.finish();
  });
}

// ---- QR ----

Status geqrf(const Tensor& self, const Tensor& out, const Tensor& tau) {
  const MatrixSizes s(self);
  const ColumnResult a(out);
  const Result factors(tau);
  if (lamella_status st = a.copy_from(self)) return st;
  const Int k = std::min(s.m, s.n), ld = std::max(s.m, 1);
  if (s.empty()) return a.finish();
  return with_number(self.get()->dtype, [&](auto number) -> Status {
    using T = decltype(number);
    const Lapack<T>& f = lapack<T>();
    T first;
    Int info, query = -1;
    f.geqrf(&s.m, &s.n, nullptr, &ld, nullptr, &first, &query, &info);
    const Int size = work_size(first);
    const Status st = for_matrices(s.count, 2. * s.m * s.n * k, [&](int64_t b, int64_t e) -> lamella_status {
      const Work<T> work(size);
      Int failed;
      for (int64_t i = b; i < e; i++)
        f.geqrf(&s.m, &s.n, a.data<T>() + i * s.each(), &ld, factors.data<T>() + i * k, work, &size, &failed);
      if (failed) return refused();
      return LAMELLA_OK;
    });
    if (st) return st;
    if (lamella_status done = a.finish()) return done;
    return factors.finish();
  });
}

Status householder_product(const Tensor& input, const Tensor& tau, const Tensor& out) {
  const MatrixSizes s(input);
  const ColumnResult q(out);
  const Operand factors(tau);
  if (lamella_status st = q.copy_from(input)) return st;
  const Int k = MatrixSizes::to_int(tau.size(-1)), ld = std::max(s.m, 1);
  if (s.empty()) return q.finish();
  return with_number(input.get()->dtype, [&](auto number) -> Status {
    using T = decltype(number);
    const Lapack<T>& f = lapack<T>();
    T first;
    Int info, query = -1;
    f.orgqr(&s.m, &s.n, &k, nullptr, &ld, nullptr, &first, &query, &info);
    const Int size = work_size(first);
    const Status st = for_matrices(s.count, 2. * s.m * s.n * s.n, [&](int64_t b, int64_t e) -> lamella_status {
      const Work<T> work(size);
      Int failed;
      for (int64_t i = b; i < e; i++)
        f.orgqr(&s.m, &s.n, &k, q.data<T>() + i * s.each(), &ld, factors.data<T>() + i * k, work, &size, &failed);
      if (failed) return refused();
      return LAMELLA_OK;
    });
    if (st) return st;
    return q.finish();
  });
}

Status ormqr(const Tensor& self, const Tensor& tau, const Tensor& other, bool left, bool transpose, const Tensor& out) {
  const MatrixSizes s(self), sides(other);
  const ColumnResult c(out);
  const Operand factors(tau);
  if (lamella_status st = c.copy_from(other)) return st;
  const Int k = MatrixSizes::to_int(tau.size(-1)), lda = std::max(s.m, 1), ldc = std::max(sides.m, 1);
  if (sides.empty() || k == 0) return c.finish();
  const ColumnOperand vectors(self);
  return with_number(self.get()->dtype, [&](auto number) -> Status {
    using T = decltype(number);
    const Lapack<T>& f = lapack<T>();
    const char *side = left ? "L" : "R", *turn = !transpose ? "N" : is_complex_number<T> ? "C" : "T";
    T first;
    Int info, query = -1;
    f.ormqr(side, turn, &sides.m, &sides.n, &k, nullptr, &lda, nullptr, nullptr, &ldc, &first, &query, &info, 1, 1);
    const Int size = work_size(first);
    const double flops = 4. * sides.m * sides.n * k;
    const Status st = for_matrices(sides.count, flops, [&](int64_t b, int64_t e) -> lamella_status {
      const Work<T> work(size);
      Int failed;
      for (int64_t i = b; i < e; i++)
        f.ormqr(side, turn, &sides.m, &sides.n, &k, vectors.data<T>() + i * s.each(), &lda, factors.data<T>() + i * k,
                c.data<T>() + i * sides.each(), &ldc, work, &size, &failed, 1, 1);
      if (failed) return refused();
      return LAMELLA_OK;
    });
    if (st) return st;
    return c.finish();
  });
}

Status qr(const Tensor& a, std::string_view mode, const Tensor& q, const Tensor& r) {
  const MatrixSizes s(a);
  const bool wants_q = mode != "r";
  const ColumnResult triangle(r);
  const Int k = std::min(s.m, s.n), ld = std::max(s.m, 1);
  const Int inner = mode == "complete" ? s.m : k;
  std::optional<ColumnResult> basis;
  if (wants_q) basis.emplace(q);
  return with_number(a.get()->dtype, [&](auto number) -> Status {
    using T = decltype(number);
    if (s.count == 0 || inner == 0) return LAMELLA_OK;
    if constexpr (!is_complex_number<T>)
      if (small_suits<T>(SmallKind::qr, s)) {
        const SmallOperand given(a);
        const Status st = for_small_matrices<T>(SmallKind::qr, s, [&](int64_t first, int64_t n, void* space) {
          small_factors<T>().qr(n, s.m, s.n, inner, given.from<T>(first),
                                wants_q ? column_matrices(basis->data<T>(), first, s.m, inner) : Matrices<T>{},
                                column_matrices(triangle.data<T>(), first, inner, s.n), space);
        });
        if (st) return st;
        if (wants_q)
          if (lamella_status done = basis->finish()) return done;
        return triangle.finish();
      }
    const Lapack<T>& f = lapack<T>();
    const ColumnCopy columns(a);
    T first(0), second(0);
    Int info, query = -1;
    f.geqrf(&s.m, &s.n, nullptr, &ld, nullptr, &first, &query, &info);
    f.orgqr(&s.m, &inner, &k, nullptr, &ld, nullptr, &second, &query, &info);
    const Int size = std::max(work_size(first), work_size(second));
    const double flops = 4. * s.m * s.n * k;
    const Status st = for_matrices(s.count, flops, [&](int64_t b, int64_t e) -> lamella_status {
      const Work<T> work(size), tau(k);
      Int failed;
      for (int64_t i = b; i < e; i++) {
        T* at = columns.data<T>() + i * s.each();
        if (k) f.geqrf(&s.m, &s.n, at, &ld, tau, work, &size, &failed);
        if (k && failed) return refused();
        T* to = triangle.data<T>() + i * int64_t{inner} * s.n;
        for (Int j = 0; j < s.n; j++) {
          const Int kept = std::min(j + 1, inner);
          std::copy_n(at + int64_t{j} * s.m, kept, to + int64_t{j} * inner);
          std::fill(to + int64_t{j} * inner + kept, to + int64_t{j + 1} * inner, T(0));
        }
        if (!wants_q) continue;
        T* base = basis->data<T>() + i * int64_t{s.m} * inner;
        std::copy_n(at, int64_t{s.m} * k, base);
        std::fill(base + int64_t{s.m} * k, base + int64_t{s.m} * inner, T(0));
        f.orgqr(&s.m, &inner, &k, base, &ld, tau, work, &size, &failed);
        if (failed) return refused();
      }
      return LAMELLA_OK;
    });
    if (st) return st;
    if (wants_q)
      if (lamella_status done = basis->finish()) return done;
    return triangle.finish();
  });
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<cholesky>(m, "_linalg_cholesky");
  add<lu>(m, "_linalg_lu");
  add<lu_solve>(m, "_linalg_lu_solve");
  add<solve>(m, "_linalg_solve");
  add<triangular>(m, "_linalg_triangular");
  add<geqrf>(m, "geqrf");
  add<householder_product>(m, "linalg_householder_product");
  add<ormqr>(m, "ormqr");
  add<qr>(m, "linalg_qr");
}

}  // namespace lamella::cpu
