// Cholesky's, LU and QR factors, and the solvers that use them, by cuSOLVER, and by cuBLAS for batches of small
// matrices. Without cuSOLVER the kernels decline, and the host computes. `info` stays on the device.
#include "linalg.h"

namespace cuda {
namespace {

// The largest matrices of a batch that go to one call of a batched function. Larger ones fill the device one by one.
constexpr int64_t most_batched = 256;
bool suits_batch(const MatrixSizes& s, int64_t most = most_batched) {
  return s.count > 1 && s.count <= INT_MAX && s.m <= most && s.n <= most;
}

int as_int(int64_t n) { return static_cast<int>(n); }
// Returns the leading size of matrices with so many rows.
int64_t leading(int64_t rows) { return std::max<int64_t>(rows, 1); }

// ---- Cholesky ----

Status factor_cholesky(const Tensor& self, bool upper, const Tensor& factor, const Tensor& info) {
  if (!solver_there()) return LAMELLA_DECLINED;
  const MatrixSizes s(self);
  const ColumnResult l(factor);
  const Result codes(info);
  if (s.empty()) {
    lamella::check(clear(codes.get()));
    return all_finished(l, codes);
  }
  const Solving with(self);
  l.copy_from(self);
  const int uplo = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  int* code = codes.data<int>();
  if (suits_batch(s)) {
    const Tensor at = with.addresses(l.data(), s.each(), s.count);
    with.check(solver().potrf_batched[with.which](with.handle, uplo, as_int(s.n), data_of<char*>(at), as_int(s.n), code,
                                                  as_int(s.count)),
               "cusolverDnpotrfBatched");
  } else {
    SolverSpace space;
    with.check(solver().potrf_space(with.handle, with.params, uplo, s.n, with.type, l.data(), s.n, with.type,
                                    &space.bytes, &space.host_bytes),
               "cusolverDnXpotrf_bufferSize");
    space.make(with.on);
    for (int64_t i = 0; i < s.count; i++)
      with.check(
          solver().potrf(with.handle, with.params, uplo, s.n, with.type, l.data() + i * s.each() * with.item, s.n,
                         with.type, space.data(), space.bytes, space.host.get(), space.host_bytes, code + i),
          "cusolverDnXpotrf");
  }
  lamella::check(clear_side(with, l.data(), s, !upper));
  return all_finished(l, codes);
}

// ---- LU ----

Status factor_lu(const Tensor& self, bool pivot, const Tensor& factors, const Tensor& pivots, const Tensor& info) {
  if (!solver_there()) return LAMELLA_DECLINED;
  const MatrixSizes s(self);
  const ColumnResult a(factors);
  const Result exchanged(pivots), codes(info);
  if (s.empty()) {
    lamella::check(clear(codes.get()));
    return all_finished(a, exchanged, codes);
  }
  const Solving with(self);
  a.copy_from(self);
  const int64_t k = std::min(s.m, s.n);
  int* code = codes.data<int>();
  if (s.m == s.n && suits_batch(s)) {
    const Tensor at = with.addresses(a.data(), s.each(), s.count);
    with.check_blas(solver().getrf_batched[with.which](with.blas, as_int(s.n), data_of<char*>(at), as_int(s.n),
                                                       pivot ? exchanged.data<int>() : nullptr, code, as_int(s.count)),
                    "cublasgetrfBatched");
  } else {
    const Tensor wide = pivot ? lamella::allocate_like(exchanged.get(), LAMELLA_INT64) : Tensor();
    SolverSpace space;
    with.check(solver().getrf_space(with.handle, with.params, s.m, s.n, with.type, a.data(), s.m, with.type,
                                    &space.bytes, &space.host_bytes),
               "cusolverDnXgetrf_bufferSize");
    space.make(with.on);
    for (int64_t i = 0; i < s.count; i++)
      with.check(solver().getrf(with.handle, with.params, s.m, s.n, with.type, a.data() + i * s.each() * with.item, s.m,
                                pivot ? data_of<int64_t>(wide) + i * k : nullptr, with.type, space.data(), space.bytes,
                                space.host.get(), space.host_bytes, code + i),
                 "cusolverDnXgetrf");
    if (pivot) lamella::check(assign(exchanged.get(), wide.get()));
  }
  if (!pivot) lamella::check(count_rows(with, exchanged.data<int>(), k, s.count));
  return all_finished(a, exchanged, codes);
}

// Equations XA = B are solved as AᵀXᵀ = Bᵀ: in row-major order B is the transpose of a column-major matrix. X Aᴴ = B is
// A conj(Xᵀ) = conj(Bᵀ).
Status solve_lu(const Tensor& factors, const Tensor& pivots, const Tensor& b, bool left, bool adjoint,
                const Tensor& out) {
  if (!solver_there()) return LAMELLA_DECLINED;
  const MatrixSizes s(factors), sides(b);
  const ColumnResult x(out);
  if (sides.empty()) return x.finish();
  const Solving with(b);
  const ColumnOperand lu(factors);
  const Operand given(pivots);
  const int64_t k = left ? sides.n : sides.m;
  const bool conjugates = !left && adjoint && with.which >= 2;
  if (left) x.copy_from(b);
  const Tensor turned = left ? Tensor() : copy_of(b.get());
  if (conjugates) lamella::check(conjugate(with, data_of(turned), b.numel()));
  char* to = left ? x.data() : data_of(turned);
  const int turn = left ? (adjoint ? CUBLAS_OP_C : CUBLAS_OP_N) : adjoint ? CUBLAS_OP_N : CUBLAS_OP_T;
  if (suits_batch(s)) {
    const Tensor exchanged = checked_pivots(with, given.data<int>(), s.n, s.count, LAMELLA_INT32);
    const Tensor at = with.addresses(lu.data(), s.each(), s.count), right = with.addresses(to, s.n * k, s.count);
    int argument = 0;
    with.check_blas(solver().getrs_batched[with.which](with.blas, turn, as_int(s.n), as_int(k), data_of<char*>(at),
                                                       as_int(s.n), data_of<int>(exchanged), data_of<char*>(right),
                                                       as_int(s.n), &argument, as_int(s.count)),
                    "cublasgetrsBatched");
  } else {
    const Tensor exchanged = checked_pivots(with, given.data<int>(), s.n, s.count, LAMELLA_INT64);
    const Tensor code = space_on(with.on, sizeof(int));
    for (int64_t i = 0; i < s.count; i++)
      with.check(solver().getrs(with.handle, with.params, turn, s.n, k, with.type, lu.data() + i * s.each() * with.item,
                                s.n, data_of<int64_t>(exchanged) + i * s.n, with.type, to + i * s.n * k * with.item,
                                s.n, data_of<int>(code)),
                 "cusolverDnXgetrs");
  }
  if (left) return x.finish();
  if (conjugates) lamella::check(conjugate(with, data_of(turned), b.numel()));
  return assign(out.get(), turned.get());
}

// ---- triangles ----

Status solve_triangle(const Tensor& a, const Tensor& b, bool upper, bool left, bool unitriangular, const Tensor& out) {
  if (!solver_there()) return LAMELLA_DECLINED;
  const MatrixSizes s(a), sides(b);
  const ColumnResult x(out);
  if (sides.empty() || s.empty()) return x.finish();
  const Solving with(b);
  x.copy_from(b);
  // A matrix in row-major order is its transpose in column-major order: it is read as it lies, from the other triangle.
  const bool turned = a.is_contiguous() && !lies_in_columns(a.get());
  const Tensor copy = turned || lies_in_columns(a.get()) ? a : columns_of(a);
  const char* from = data_of(copy);
  const int side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
  const int uplo = upper != turned ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  const int turn = turned ? CUBLAS_OP_T : CUBLAS_OP_N;
  const int diagonal = unitriangular ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  const int m = as_int(sides.m), n = as_int(sides.n), lda = as_int(s.n);
  const One one(with.dtype);
  if (suits_batch(s)) {
    const Tensor at = with.addresses(from, s.each(), s.count), right = with.addresses(x.data(), sides.each(), s.count);
    with.check_blas(
        solver().trsm_batched[with.which](with.blas, side, uplo, turn, diagonal, m, n, one.data, data_of<char*>(at),
                                          lda, data_of<char*>(right), m, as_int(s.count)),
        "cublastrsmBatched");
  } else {
    for (int64_t i = 0; i < s.count; i++)
      with.check_blas(
          solver().trsm[with.which](with.blas, side, uplo, turn, diagonal, m, n, one.data,
                                    from + i * s.each() * with.item, lda, x.data() + i * sides.each() * with.item, m),
          "cublastrsm");
  }
  return x.finish();
}

// ---- QR ----

// Writes the QR factors of matrices in their place, as LAPACK's geqrf.
void factor_in_place(const Solving& with, const MatrixSizes& s, char* a, char* tau) {
  const int64_t k = std::min(s.m, s.n);
  if (suits_batch(s)) {
    const Tensor at = with.addresses(a, s.each(), s.count), scales = with.addresses(tau, k, s.count);
    int argument = 0;
    with.check_blas(solver().geqrf_batched[with.which](with.blas, as_int(s.m), as_int(s.n), data_of<char*>(at),
                                                       as_int(s.m), data_of<char*>(scales), &argument, as_int(s.count)),
                    "cublasgeqrfBatched");
    return;
  }
  SolverSpace space;
  with.check(solver().geqrf_space(with.handle, with.params, s.m, s.n, with.type, a, s.m, with.type, tau, with.type,
                                  &space.bytes, &space.host_bytes),
             "cusolverDnXgeqrf_bufferSize");
  space.make(with.on);
  const Tensor code = space_on(with.on, sizeof(int));
  for (int64_t i = 0; i < s.count; i++)
    with.check(solver().geqrf(with.handle, with.params, s.m, s.n, with.type, a + i * s.each() * with.item, s.m,
                              with.type, tau + i * k * with.item, with.type, space.data(), space.bytes,
                              space.host.get(), space.host_bytes, data_of<int>(code)),
               "cusolverDnXgeqrf");
}

// Replaces m by n matrices, whose columns have the vectors of k reflectors, by the first n columns of their product.
void multiply_reflectors(const Solving& with, const MatrixSizes& s, int64_t k, char* a, const char* tau) {
  const int m = as_int(s.m), n = as_int(s.n), factors = as_int(k), lda = as_int(leading(s.m));
  if (!k) return lamella::check(write_identity(with, a, s.m, s.n, s.count));
  int size = 0;
  with.check(solver().orgqr_space[with.which](with.handle, m, n, factors, a, lda, tau, &size),
             "cusolverDnorgqr_bufferSize");
  const Tensor space = space_on(with.on, size * with.item), code = space_on(with.on, sizeof(int));
  for (int64_t i = 0; i < s.count; i++)
    with.check(solver().orgqr[with.which](with.handle, m, n, factors, a + i * s.each() * with.item, lda,
                                          tau + i * k * with.item, space.data_ptr(), size, data_of<int>(code)),
               "cusolverDnorgqr");
}

Status factor_qr(const Tensor& self, const Tensor& out, const Tensor& tau) {
  if (!solver_there()) return LAMELLA_DECLINED;
  const MatrixSizes s(self);
  const ColumnResult a(out);
  const Result factors(tau);
  if (!s.empty()) {
    a.copy_from(self);
    factor_in_place(Solving(self), s, a.data(), factors.data());
  }
  return all_finished(a, factors);
}

Status product_of_reflectors(const Tensor& input, const Tensor& tau, const Tensor& out) {
  if (!solver_there()) return LAMELLA_DECLINED;
  const MatrixSizes s(input);
  const ColumnResult q(out);
  const Operand factors(tau);
  if (!s.empty()) {
    q.copy_from(input);
    multiply_reflectors(Solving(input), s, tau.size(-1), q.data(), factors.data());
  }
  return q.finish();
}

Status multiply_by_reflectors(const Tensor& self, const Tensor& tau, const Tensor& other, bool left, bool transpose,
                              const Tensor& out) {
  if (!solver_there()) return LAMELLA_DECLINED;
  const MatrixSizes s(self), sides(other);
  const ColumnResult c(out);
  const Operand factors(tau);
  const int64_t k = tau.size(-1);
  c.copy_from(other);
  if (sides.empty() || k == 0) return c.finish();
  const Solving with(other);
  const ColumnOperand vectors(self);
  const int side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
  const int turn = !transpose ? CUBLAS_OP_N : with.which >= 2 ? CUBLAS_OP_C : CUBLAS_OP_T;
  const int m = as_int(sides.m), n = as_int(sides.n), lda = as_int(s.m);
  int size = 0;
  with.check(solver().ormqr_space[with.which](with.handle, side, turn, m, n, as_int(k), vectors.data(), lda,
                                              factors.data(), c.data(), m, &size),
             "cusolverDnormqr_bufferSize");
  const Tensor space = space_on(with.on, size * with.item), code = space_on(with.on, sizeof(int));
  for (int64_t i = 0; i < s.count; i++)
    with.check(
        solver().ormqr[with.which](with.handle, side, turn, m, n, as_int(k), vectors.data() + i * s.each() * with.item,
                                   lda, factors.data() + i * k * with.item, c.data() + i * sides.each() * with.item, m,
                                   space.data_ptr(), size, data_of<int>(code)),
        "cusolverDnormqr");
  return c.finish();
}

Status qr_of(const Tensor& a, std::string_view mode, const Tensor& q, const Tensor& r) {
  if (!solver_there()) return LAMELLA_DECLINED;
  const MatrixSizes s(a);
  const bool wants_q = mode != "r";
  const ColumnResult triangle(r);
  const int64_t k = std::min(s.m, s.n), inner = mode == "complete" ? s.m : k;
  std::optional<ColumnResult> basis;
  if (wants_q) basis.emplace(q);
  if (s.count == 0 || inner == 0) return LAMELLA_OK;
  const Solving with(a);
  const Tensor columns = columns_of(a), tau = empty_on(with.on, {s.count * k}, with.dtype);
  if (k) factor_in_place(with, s, data_of(columns), data_of(tau));
  lamella::check(copy_upper(with, data_of(columns), s.m, triangle.data(), inner, s.n, s.count));
  if (wants_q) {
    lamella::check(copy_part(with, data_of(columns), s.each(), basis->data(), s.m * inner, s.m * k, s.count));
    MatrixSizes product = s;
    product.n = inner;
    multiply_reflectors(with, product, k, basis->data(), data_of(tau));
    if (lamella_status st = basis->finish()) return st;
  }
  return triangle.finish();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  add<factor_cholesky>(m, "_linalg_cholesky");
  add<factor_lu>(m, "_linalg_lu");
  add<solve_lu>(m, "_linalg_lu_solve");
  add<solve_triangle>(m, "_linalg_triangular");
  add<factor_qr>(m, "geqrf");
  add<product_of_reflectors>(m, "linalg_householder_product");
  add<multiply_by_reflectors>(m, "ormqr");
  add<qr_of>(m, "linalg_qr");
}

}  // namespace cuda
