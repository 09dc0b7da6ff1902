// Eigenvalues, singular values, and least squares.
#include <cmath>
#include <cstring>

#include "backends/cpu/matrices.h"

namespace lamella::cpu {
namespace {

double work_of(Int n) { return 20. * n * n * n; }

template <class T>
bool all_finite(const T* x, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (!std::isfinite(std::real(x[i])) || !std::isfinite(std::imag(x[i]))) return false;
  return true;
}

// Looks at one triangle of a matrix of order n.
template <class T>
bool triangle_finite(const T* a, Int n, bool upper) {
  for (Int j = 0; j < n; j++)
    if (!all_finite(a + int64_t{j} * n + (upper ? 0 : j), upper ? j + 1 : n - j)) return false;
  return true;
}

// `info` of a matrix with an infinity or a NaN, for which LAPACK may loop or read out of bounds. LAPACK itself reports
// no negative number for arguments that are right.
constexpr Int not_finite = -1;

// ---- Hermitian matrices ----

Status eigh(const Tensor& a, std::string_view triangle, bool compute_v, const Tensor& eigenvalues,
            const Tensor& eigenvectors, const Tensor& info) {
  const MatrixSizes s(a);
  const Result values(eigenvalues), codes(info);
  std::optional<ColumnResult> columns;
  if (compute_v) columns.emplace(eigenvectors);
  return with_number(a.get()->dtype, [&](auto number) -> Status {
    using T = decltype(number);
    using R = Real<T>;
    if (s.count == 0) return LAMELLA_OK;
    if (s.n == 0) {
      std::fill_n(codes.data<Int>(), s.count, 0);
      return codes.finish();
    }
    if constexpr (!is_complex_number<T>) {
      const SmallKind kind = compute_v ? SmallKind::eigh : SmallKind::eigvalsh;
      if (small_suits<T>(kind, s)) {
        const SmallOperand given(a);
        const bool upper = triangle[0] == 'U' || triangle[0] == 'u';
        const Status st = for_small_matrices<T>(kind, s, [&](int64_t first, int64_t n, void* space) {
          small_spectra<T>().eigh(n, s.n, given.from<T>(first), upper, values.data<T>() + first * s.n,
                                  compute_v ? column_matrices(columns->data<T>(), first, s.n, s.n) : Matrices<T>{},
                                  codes.data<Int>() + first, space);
        });
        if (st) return st;
        if (compute_v)
          if (lamella_status done = columns->finish()) return done;
        if (lamella_status done = values.finish()) return done;
        return codes.finish();
      }
    }
    // The work space of syevd with vectors has this many numbers, and syevd counts them in 32 bits.
    if (compute_v) check_workspace(2. * s.n * s.n + 6. * s.n + 1);
    const Lapack<T>& f = lapack<T>();
    const ColumnCopy matrices(a);
    const char* job = compute_v ? "V" : "N";
    const char* uplo = triangle[0] == 'U' || triangle[0] == 'u' ? "U" : "L";
    const Int query = -1;
    T first(0);
    R first_real(0);
    Int first_int = 0, failed = 0;
    if constexpr (is_complex_number<T>)
      f.syevd(job, uplo, &s.n, nullptr, &s.n, nullptr, &first, &query, &first_real, &query, &first_int, &query, &failed,
              1, 1);
    else
      f.syevd(job, uplo, &s.n, nullptr, &s.n, nullptr, &first, &query, &first_int, &query, &failed, 1, 1);
    const Int size = work_size(first), ints = first_int;
    const Int reals = is_complex_number<T> ? work_size(first_real) : 0;
    const Status st = for_matrices(s.count, work_of(s.n), [&](int64_t b, int64_t e) -> lamella_status {
      const Work<T> work(size);
      const Work<R> rwork(reals);
      const Work<Int> iwork(ints);
      for (int64_t i = b; i < e; i++) {
        T* at = matrices.data<T>() + i * s.each();
        R* w = values.data<R>() + i * s.n;
        Int* code = codes.data<Int>() + i;
        if (!triangle_finite(at, s.n, *uplo == 'U')) {
          *code = not_finite;
          std::fill_n(w, s.n, std::numeric_limits<R>::quiet_NaN());
          std::fill_n(at, s.each(), T(std::numeric_limits<R>::quiet_NaN()));
        } else if constexpr (is_complex_number<T>) {
          f.syevd(job, uplo, &s.n, at, &s.n, w, work, &size, rwork, &reals, iwork, &ints, code, 1, 1);
        } else {
          f.syevd(job, uplo, &s.n, at, &s.n, w, work, &size, iwork, &ints, code, 1, 1);
        }
        if (compute_v) std::copy_n(at, s.each(), columns->data<T>() + i * s.each());
      }
      return LAMELLA_OK;
    });
    if (st) return st;
    if (compute_v)
      if (lamella_status done = columns->finish()) return done;
    if (lamella_status done = values.finish()) return done;
    return codes.finish();
  });
}

// ---- square matrices ----

// Writes the complex eigenvectors of one real matrix: LAPACK gives the real and the imaginary part of the first of two
// conjugate vectors as two columns.
template <class T>
void pair_vectors(Int n, const T* imaginary, const T* real_vectors, std::complex<T>* to) {
  for (Int j = 0; j < n; j++) {
    const T* re = real_vectors + int64_t{j} * n;
    if (imaginary[j] == T(0) || j + 1 == n) {
      for (Int i = 0; i < n; i++) to[int64_t{j} * n + i] = re[i];
      continue;
    }
    const T* im = re + n;
    for (Int i = 0; i < n; i++) {
      to[int64_t{j} * n + i] = {re[i], im[i]};
      to[int64_t{j + 1} * n + i] = {re[i], -im[i]};
    }
    j++;
  }
}

Status eig(const Tensor& self, bool compute_v, const Tensor& eigenvalues, const Tensor& eigenvectors,
           const Tensor& info) {
  const MatrixSizes s(self);
  const Result values(eigenvalues), codes(info);
  std::optional<ColumnResult> columns;
  if (compute_v) columns.emplace(eigenvectors);
  return with_number(self.get()->dtype, [&](auto number) -> Status {
    using T = decltype(number);
    using R = Real<T>;
    using C = std::complex<R>;
    if (s.count == 0) return LAMELLA_OK;
    if (s.n == 0) {
      std::fill_n(codes.data<Int>(), s.count, 0);
      return codes.finish();
    }
    const Lapack<T>& f = lapack<T>();
    const ColumnCopy matrices(self);
    const char* job = compute_v ? "V" : "N";
    const Int query = -1, one = 1;
    T first(0);
    Int failed = 0;
    if constexpr (is_complex_number<T>)
      f.geev("N", job, &s.n, nullptr, &s.n, nullptr, nullptr, &one, nullptr, &s.n, &first, &query, Work<R>(2 * s.n),
             &failed, 1, 1);
    else
      f.geev("N", job, &s.n, nullptr, &s.n, nullptr, nullptr, nullptr, &one, nullptr, &s.n, &first, &query, &failed, 1,
             1);
    const Int size = work_size(first);
    const Status st = for_matrices(s.count, work_of(s.n), [&](int64_t b, int64_t e) -> lamella_status {
      const Work<T> work(size), parts(2 * s.n), vectors(compute_v ? s.each() : 0);
      const Work<R> rwork(2 * s.n);
      for (int64_t i = b; i < e; i++) {
        T* at = matrices.data<T>() + i * s.each();
        C* w = values.data<C>() + i * s.n;
        C* v = compute_v ? columns->data<C>() + i * s.each() : nullptr;
        Int* code = codes.data<Int>() + i;
        if (!all_finite(at, s.each())) {
          *code = not_finite;
          std::fill_n(w, s.n, C(std::numeric_limits<R>::quiet_NaN()));
          if (v) std::fill_n(v, s.each(), C(std::numeric_limits<R>::quiet_NaN()));
        } else if constexpr (is_complex_number<T>) {
          f.geev("N", job, &s.n, at, &s.n, w, nullptr, &one, v, &s.n, work, &size, rwork, code, 1, 1);
        } else {
          T *real = parts, *imaginary = parts + s.n;
          f.geev("N", job, &s.n, at, &s.n, real, imaginary, nullptr, &one, vectors, &s.n, work, &size, code, 1, 1);
          for (Int j = 0; j < s.n; j++) w[j] = {real[j], imaginary[j]};
          if (v) pair_vectors(s.n, imaginary, vectors.data(), v);
        }
      }
      return LAMELLA_OK;
    });
    if (st) return st;
    if (compute_v)
      if (lamella_status done = columns->finish()) return done;
    if (lamella_status done = values.finish()) return done;
    return codes.finish();
  });
}

// ---- singular values ----

Status svd(const Tensor& a, bool full, bool compute_uv, std::optional<std::string_view> driver, const Tensor& u,
           const Tensor& values, const Tensor& vh, const Tensor& info) {
  LAMELLA_CHECK(!driver, "argument 'driver': expected None, since this device has one driver, got '", *driver, "'");
  const MatrixSizes s(a);
  const Result sigma(values), codes(info);
  std::optional<ColumnResult> left, right;
  if (compute_uv) {
    left.emplace(u);
    right.emplace(vh);
  }
  const Int k = std::min(s.m, s.n), left_columns = full ? s.m : k, right_rows = full ? s.n : k;
  return with_number(a.get()->dtype, [&](auto number) -> Status {
    using T = decltype(number);
    using R = Real<T>;
    if (s.count == 0) return LAMELLA_OK;
    if (k == 0) {  // nothing to decompose: bases are the identity
      std::fill_n(codes.data<Int>(), s.count, 0);
      const auto identity = [&](const ColumnResult& to, Int n) {
        std::fill_n(to.data<T>(), s.count * n * n, T(0));
        for (int64_t i = 0; i < s.count * n; i++) to.data<T>()[i / n * n * n + i % n * (n + 1)] = T(1);
        return to.finish();
      };
      if (compute_uv && full)
        if (lamella_status st = s.m ? identity(*left, s.m) : s.n ? identity(*right, s.n) : LAMELLA_OK) return st;
      return codes.finish();
    }
    if constexpr (!is_complex_number<T>) {
      const SmallKind kind = compute_uv ? SmallKind::svd : SmallKind::svdvals;
      if ((!full || s.m == s.n || !compute_uv) && small_suits<T>(kind, s)) {
        const SmallOperand given(a);
        const Status st = for_small_matrices<T>(kind, s, [&](int64_t first, int64_t n, void* space) {
          small_spectra<T>().svd(n, s.m, s.n, given.from<T>(first),
                                 compute_uv ? column_matrices(left->data<T>(), first, s.m, k) : Matrices<T>{},
                                 sigma.data<T>() + first * k,
                                 compute_uv ? column_matrices(right->data<T>(), first, k, s.n) : Matrices<T>{},
                                 codes.data<Int>() + first, space);
        });
        if (st) return st;
        if (compute_uv) {
          if (lamella_status done = left->finish()) return done;
          if (lamella_status done = right->finish()) return done;
        }
        if (lamella_status done = sigma.finish()) return done;
        return codes.finish();
      }
    }
    // The work space of gesdd with vectors has this many numbers, and gesdd counts them in 32 bits.
    if (compute_uv) check_workspace(4. * k * k + 7. * k + std::max(s.m, s.n));
    const Lapack<T>& f = lapack<T>();
    const ColumnCopy matrices(a);
    const char* job = !compute_uv ? "N" : full ? "A" : "S";
    const Int query = -1, lda = s.m, ldu = s.m, ldvt = compute_uv ? right_rows : 1;
    T first(0);
    Int failed = 0;
    if constexpr (is_complex_number<T>)
      f.gesdd(job, &s.m, &s.n, nullptr, &lda, nullptr, nullptr, &ldu, nullptr, &ldvt, &first, &query, Work<R>(1),
              Work<Int>(1), &failed, 1);
    else
      f.gesdd(job, &s.m, &s.n, nullptr, &lda, nullptr, nullptr, &ldu, nullptr, &ldvt, &first, &query,
              Work<Int>(8 * int64_t{k}), &failed, 1);
    const Int size = work_size(first);
    const int64_t small = k, large = std::max(s.m, s.n);
    // The sizes that LAPACK's documentation of gesdd gives for rwork.
    const int64_t reals = !is_complex_number<T> ? 0
                          : compute_uv
                              ? std::max(5 * small * small + 5 * small, 2 * large * small + 2 * small * small + small)
                              : 7 * small;
    const double flops = work_of(k) * large / small;
    const Status st = for_matrices(s.count, flops, [&](int64_t b, int64_t e) -> lamella_status {
      const Work<T> work(size);
      const Work<R> rwork(reals);
      const Work<Int> iwork(8 * small);
      for (int64_t i = b; i < e; i++) {
        T* at = matrices.data<T>() + i * s.each();
        R* w = sigma.data<R>() + i * k;
        T* to_u = compute_uv ? left->data<T>() + i * s.m * left_columns : nullptr;
        T* to_v = compute_uv ? right->data<T>() + i * right_rows * s.n : nullptr;
        Int* code = codes.data<Int>() + i;
        if (!all_finite(at, s.each())) {
          *code = not_finite;
          std::fill_n(w, k, std::numeric_limits<R>::quiet_NaN());
          if (!compute_uv) continue;
          std::fill_n(to_u, int64_t{s.m} * left_columns, T(std::numeric_limits<R>::quiet_NaN()));
          std::fill_n(to_v, int64_t{right_rows} * s.n, T(std::numeric_limits<R>::quiet_NaN()));
        } else if constexpr (is_complex_number<T>) {
          f.gesdd(job, &s.m, &s.n, at, &lda, w, to_u, &ldu, to_v, &ldvt, work, &size, rwork, iwork, code, 1);
        } else {
          f.gesdd(job, &s.m, &s.n, at, &lda, w, to_u, &ldu, to_v, &ldvt, work, &size, iwork, code, 1);
        }
      }
      return LAMELLA_OK;
    });
    if (st) return st;
    if (compute_uv) {
      if (lamella_status done = left->finish()) return done;
      if (lamella_status done = right->finish()) return done;
    }
    if (lamella_status done = sigma.finish()) return done;
    return codes.finish();
  });
}

// ---- least squares ----

enum class Driver { gels, gelsy, gelss, gelsd };

Driver driver_of(std::string_view name) {
  if (name == "gels") return Driver::gels;
  if (name == "gelsd") return Driver::gelsd;
  if (name == "gelss") return Driver::gelss;
  return Driver::gelsy;
}

// The workspace of one solution.
template <class T>
struct SquaresWork {
  T* work;
  Int size;
  Real<T>* reals;
  Int* ints;
};

template <class T>
Int least_squares(Driver driver, Int m, Int n, Int k, T* a, T* b, Int ldb, Real<T> rcond, Int* rank, Real<T>* values,
                  SquaresWork<T> w) {
  const Lapack<T>& f = lapack<T>();
  const Int lda = std::max(m, 1);
  Int info = 0;
  switch (driver) {
    case Driver::gels:
      f.gels("N", &m, &n, &k, a, &lda, b, &ldb, w.work, &w.size, &info, 1);
      break;
    case Driver::gelsy:
      if (w.size != -1) std::fill_n(w.ints, n, 0);
      if constexpr (is_complex_number<T>)
        f.gelsy(&m, &n, &k, a, &lda, b, &ldb, w.ints, &rcond, rank, w.work, &w.size, w.reals, &info);
      else
        f.gelsy(&m, &n, &k, a, &lda, b, &ldb, w.ints, &rcond, rank, w.work, &w.size, &info);
      break;
    case Driver::gelss:
      if constexpr (is_complex_number<T>)
        f.gelss(&m, &n, &k, a, &lda, b, &ldb, values, &rcond, rank, w.work, &w.size, w.reals, &info);
      else
        f.gelss(&m, &n, &k, a, &lda, b, &ldb, values, &rcond, rank, w.work, &w.size, &info);
      break;
    case Driver::gelsd:
      if constexpr (is_complex_number<T>)
        f.gelsd(&m, &n, &k, a, &lda, b, &ldb, values, &rcond, rank, w.work, &w.size, w.reals, w.ints, &info);
      else
        f.gelsd(&m, &n, &k, a, &lda, b, &ldb, values, &rcond, rank, w.work, &w.size, w.ints, &info);
      break;
  }
  return info;
}

Status lstsq(const Tensor& a, const Tensor& b, double rcond, std::string_view name, const Tensor& solution,
             const Tensor& rank, const Tensor& values, const Tensor& info) {
  const MatrixSizes s(a), sides(b);
  const Driver driver = driver_of(name);
  const ColumnResult x(solution);
  const Result ranks(rank), sigma(values), codes(info);
  const Int k = std::min(s.m, s.n), columns = sides.n, ldb = std::max({s.m, s.n, 1});
  return with_number(a.get()->dtype, [&](auto number) -> Status {
    using T = decltype(number);
    using R = Real<T>;
    if (s.count == 0) return LAMELLA_OK;
    const ColumnCopy matrices(a), right(b);
    Work<T> first(1);
    Work<R> first_real(std::max(1, 5 * (k + 1)));
    Work<Int> first_int(std::max(1, s.n));
    first[0] = T(0);
    first_real[0] = R(0);
    first_int[0] = 0;
    Int first_rank = 0;
    if (k)
      least_squares<T>(driver, s.m, s.n, columns, nullptr, nullptr, ldb, R(rcond), &first_rank, first_real,
                       {first, -1, first_real, first_int});
    const Int size = work_size(first[0]);
    // gelsd writes the sizes of its other workspaces into their first numbers; the others need these.
    const int64_t reals = std::max<int64_t>(int64_t{work_size(first_real[0])}, 5 * (int64_t{k} + 1) + 2 * int64_t{s.n});
    const int64_t ints = std::max<int64_t>(first_int[0], s.n) + 1;
    const Status st = for_matrices(s.count, work_of(k), [&](int64_t from, int64_t to) -> lamella_status {
      const Work<T> work(size), at(int64_t{ldb} * columns);
      const Work<R> rwork(reals), sv(k);
      const Work<Int> iwork(ints);
      for (int64_t i = from; i < to; i++) {
        const T* source = right.data<T>() + i * sides.each();
        for (Int j = 0; j < columns; j++) {
          T* column = at + int64_t{j} * ldb;
          std::copy_n(source + int64_t{j} * s.m, s.m, column);
          std::fill(column + s.m, column + ldb, T(0));
        }
        Int found = 0, *code = codes.data<Int>() + i;
        *code = 0;
        R* w = driver == Driver::gelss || driver == Driver::gelsd ? sigma.data<R>() + i * k : sv.data();
        if (k == 0)
          std::fill_n(at.data(), int64_t{ldb} * columns, T(0));
        else if (!all_finite(matrices.data<T>() + i * s.each(), s.each()))
          *code = not_finite;
        else
          *code = least_squares<T>(driver, s.m, s.n, columns, matrices.data<T>() + i * s.each(), at, ldb, R(rcond),
                                   &found, w, {work, size, rwork, iwork});
        ranks.data<int64_t>()[i] = found;
        for (Int j = 0; j < columns; j++)
          std::copy_n(at + int64_t{j} * ldb, s.n, x.data<T>() + (i * columns + j) * int64_t{s.n});
      }
      return LAMELLA_OK;
    });
    if (st) return st;
    if (lamella_status done = x.finish()) return done;
    if (lamella_status done = ranks.finish()) return done;
    if (lamella_status done = sigma.finish()) return done;
    return codes.finish();
  });
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<eigh>(m, "_linalg_eigh");
  add<eig>(m, "_linalg_eig");
  add<svd>(m, "_linalg_svd");
  add<lstsq>(m, "_linalg_lstsq");
}

}  // namespace lamella::cpu
