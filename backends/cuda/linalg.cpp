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
// Returns the distance between the columns of matrices with `rows` rows, which the libraries want to be at least 1.
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
  lamella::check(find_unfinished(with, l.data(), s, code));
  lamella::check(clear_side(with, l.data(), s, !upper));
  return all_finished(l, codes);
}

// ---- LU ----

// Writes the LU factors of matrices in their place, and `pivots` if they are given. Returns a copy of the pivots as
// int64 if cuSOLVER, which counts so, has written them.
Tensor factor_in_place(const Solving& with, const MatrixSizes& s, char* a, const Result* pivots, int* code) {
  if (s.m == s.n && suits_batch(s)) {
    const Tensor at = with.addresses(a, s.each(), s.count);
    with.check_blas(solver().getrf_batched[with.which](with.blas, as_int(s.n), data_of<char*>(at), as_int(s.n),
                                                       pivots ? pivots->data<int>() : nullptr, code, as_int(s.count)),
                    "cublasgetrfBatched");
    return {};
  }
  const int64_t k = std::min(s.m, s.n);
  const Tensor wide = pivots ? lamella::allocate_like(pivots->get(), LAMELLA_INT64) : Tensor();
  // The pivots of singular matrices may be left unwritten, and getrs follows them.
  if (pivots) lamella::check(count_rows(with, wide.get(), k, s.count));
  SolverSpace space;
  with.check(solver().getrf_space(with.handle, with.params, s.m, s.n, with.type, a, s.m, with.type, &space.bytes,
                                  &space.host_bytes),
             "cusolverDnXgetrf_bufferSize");
  space.make(with.on);
  for (int64_t i = 0; i < s.count; i++)
    with.check(solver().getrf(with.handle, with.params, s.m, s.n, with.type, a + i * s.each() * with.item, s.m,
                              pivots ? data_of<int64_t>(wide) + i * k : nullptr, with.type, space.data(), space.bytes,
                              space.host.get(), space.host_bytes, code + i),
               "cusolverDnXgetrf");
  if (pivots) lamella::check(assign(pivots->get(), wide.get()));
  return wide;
}

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
  factor_in_place(with, s, a.data(), pivot ? &exchanged : nullptr, codes.data<int>());
  if (!pivot) lamella::check(count_rows(with, exchanged.get(), std::min(s.m, s.n), s.count));
  return all_finished(a, exchanged, codes);
}

// Right-hand sides of which a solver makes solutions in their place. Equations XA = B are solved as AᵀXᵀ = Bᵀ: in
// row-major order B is the transpose of a column-major matrix. X Aᴴ = B is A conj(Xᵀ) = conj(Bᵀ).
class RightSides {
 public:
  RightSides(const Solving& with, const Tensor& b, const ColumnResult& x, bool left, bool adjoint)
      : turn(left      ? (adjoint ? CUBLAS_OP_C : CUBLAS_OP_N)
             : adjoint ? CUBLAS_OP_N
                       : CUBLAS_OP_T),
        with_(with),
        x_(x),
        conjugates_(!left && adjoint && with.which >= 2) {
    if (left)
      x.copy_from(b);
    else
      turned_ = copy_of(b.get());
    if (conjugates_) lamella::check(conjugate(with, data_of(turned_), turned_.numel()));
  }
  char* data() const { return turned_.defined() ? data_of(turned_) : x_.data(); }
  // Writes the solutions to the result.
  void finish() const {
    if (conjugates_) lamella::check(conjugate(with_, data_of(turned_), turned_.numel()));
    if (turned_.defined()) lamella::check(assign(x_.get(), turned_.get()));
  }
  const int turn;  // cublasOperation_t

 private:
  const Solving& with_;
  const ColumnResult& x_;
  Tensor turned_;
  const bool conjugates_;
};

// Solves with k right-hand sides for each matrix of order n. The pivots are int32 for a batch of small matrices, else
// int64.
void solve_in_place(const Solving& with, const MatrixSizes& s, const char* lu, const void* pivots, int64_t k,
                    const RightSides& b) {
  if (suits_batch(s)) {
    const Tensor at = with.addresses(lu, s.each(), s.count), right = with.addresses(b.data(), s.n * k, s.count);
    int argument = 0;
    return with.check_blas(
        solver().getrs_batched[with.which](with.blas, b.turn, as_int(s.n), as_int(k), data_of<char*>(at), as_int(s.n),
                                           static_cast<const int*>(pivots), data_of<char*>(right), as_int(s.n),
                                           &argument, as_int(s.count)),
        "cublasgetrsBatched");
  }
  const Tensor code = space_on(with.on, sizeof(int));
  for (int64_t i = 0; i < s.count; i++)
    with.check(solver().getrs(with.handle, with.params, b.turn, s.n, k, with.type, lu + i * s.each() * with.item, s.n,
                              static_cast<const int64_t*>(pivots) + i * s.n, with.type,
                              b.data() + i * s.n * k * with.item, s.n, data_of<int>(code)),
               "cusolverDnXgetrs");
}

Status solve_lu(const Tensor& factors, const Tensor& pivots, const Tensor& b, bool left, bool adjoint,
                const Tensor& out) {
  if (!solver_there()) return LAMELLA_DECLINED;
  const MatrixSizes s(factors), sides(b);
  const ColumnResult x(out);
  if (sides.empty()) return x.finish();
  const Solving with(b);
  const ColumnOperand lu(factors);
  const Operand given(pivots);
  const RightSides right(with, b, x, left, adjoint);
  const Tensor exchanged =
      checked_pivots(with, given.data<int>(), s.n, s.count, suits_batch(s) ? LAMELLA_INT32 : LAMELLA_INT64);
  solve_in_place(with, s, lu.data(), exchanged.data_ptr(), left ? sides.n : sides.m, right);
  right.finish();
  return x.finish();
}

Status solve_equations(const Tensor& a, const Tensor& b, bool left, const Tensor& result, const Tensor& factors,
                       const Tensor& pivots, const Tensor& info) {
  if (!solver_there()) return LAMELLA_DECLINED;
  const MatrixSizes s(a), sides(b);
  const ColumnResult x(result), lu(factors);
  const Result exchanged(pivots), codes(info);
  if (s.empty()) {
    lamella::check(clear(codes.get()));
    return all_finished(x, lu, exchanged, codes);
  }
  const Solving with(a);
  lu.copy_from(a);
  const Tensor wide = factor_in_place(with, s, lu.data(), &exchanged, codes.data<int>());
  if (!sides.empty()) {
    const RightSides right(with, b, x, left, false);
    solve_in_place(with, s, lu.data(), wide.defined() ? data_of(wide) : exchanged.data(), left ? sides.n : sides.m,
                   right);
    right.finish();
  }
  return all_finished(x, lu, exchanged, codes);
}

// ---- triangles ----

// The triangles of a batch of matrices: cublasFillMode_t, cublasOperation_t and cublasDiagType_t, and the elements from
// one column, and from one matrix, to the next.
struct Triangles {
  int uplo, turn, diagonal;
  const char* data;
  int64_t leading, each;
};

// The most right-hand sides of one call of trsmBatched: it fails with more, which exceed the blocks of a grid.
constexpr int64_t most_sides = 524280;

// Solves equations with m by n right-hand sides in their place.
void solve_in_place(const Solving& with, const Triangles& a, bool left, int64_t m, int64_t n, char* b, int64_t ldb,
                    int64_t b_each, int64_t count, bool batched) {
  const int side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT, lda = as_int(a.leading);
  const One one(with.dtype);
  if (batched) {
    const Tensor at = with.addresses(a.data, a.each, count);
    const int64_t sides = left ? n : m;
    for (int64_t from = 0; from < sides; from += most_sides) {
      const int64_t here = std::min(sides - from, most_sides);
      const Tensor right = with.addresses(b + from * (left ? ldb : 1) * with.item, b_each, count);
      with.check_blas(solver().trsm_batched[with.which](
                          with.blas, side, a.uplo, a.turn, a.diagonal, as_int(left ? m : here), as_int(left ? here : n),
                          one.data, data_of<char*>(at), lda, data_of<char*>(right), as_int(ldb), as_int(count)),
                      "cublastrsmBatched");
    }
    return;
  }
  for (int64_t i = 0; i < count; i++)
    with.check_blas(
        solver().trsm[with.which](with.blas, side, a.uplo, a.turn, a.diagonal, as_int(m), as_int(n), one.data,
                                  a.data + i * a.each * with.item, lda, b + i * b_each * with.item, as_int(ldb)),
        "cublastrsm");
}

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
  const Triangles triangles{upper != turned ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER,
                            turned ? CUBLAS_OP_T : CUBLAS_OP_N,
                            unitriangular ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT,
                            data_of(copy),
                            s.n,
                            s.each()};
  solve_in_place(with, triangles, left, sides.m, sides.n, x.data(), sides.m, sides.each(), s.count, suits_batch(s));
  return x.finish();
}

// ---- QR ----

// Writes the QR factors of matrices in their place, as LAPACK's geqrf.
void make_reflectors(const Solving& with, const MatrixSizes& s, char* a, char* tau) {
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
    make_reflectors(Solving(self), s, a.data(), factors.data());
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

// The vectors and factors of k reflectors for each matrix, as geqrf leaves them in matrices with `rows` rows.
struct Reflectors {
  const char *vectors, *factors;
  int64_t k, rows, each;
};

// Multiplies m by n matrices in their place by the product of reflectors, or by its adjoint.
void reflect(const Solving& with, const Reflectors& q, bool left, bool adjoint, int64_t m, int64_t n, char* c,
             int64_t count) {
  const int side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT, k = as_int(q.k), lda = as_int(q.rows), ldc = as_int(m);
  const int turn = !adjoint ? CUBLAS_OP_N : with.which >= 2 ? CUBLAS_OP_C : CUBLAS_OP_T;
  int size = 0;
  with.check(solver().ormqr_space[with.which](with.handle, side, turn, ldc, as_int(n), k, q.vectors, lda, q.factors, c,
                                              ldc, &size),
             "cusolverDnormqr_bufferSize");
  const Tensor space = space_on(with.on, size * with.item), code = space_on(with.on, sizeof(int));
  for (int64_t i = 0; i < count; i++)
    with.check(solver().ormqr[with.which](with.handle, side, turn, ldc, as_int(n), k,
                                          q.vectors + i * q.each * with.item, lda, q.factors + i * q.k * with.item,
                                          c + i * m * n * with.item, ldc, space.data_ptr(), size, data_of<int>(code)),
               "cusolverDnormqr");
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
  const ColumnOperand vectors(self);
  reflect(Solving(other), {vectors.data(), factors.data(), k, s.m, s.each()}, left, transpose, sides.m, sides.n,
          c.data(), s.count);
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
  if (k) make_reflectors(with, s, data_of(columns), data_of(tau));
  lamella::check(copy_upper(with, data_of(columns), s.m, triangle.data(), inner, s.n, s.count));
  if (wants_q) {
    if (inner > k) lamella::check(write_identity(with, basis->data(), s.m, inner, s.count));  // no old numbers
    lamella::check(copy_part(with, data_of(columns), s.each(), basis->data(), s.m * inner, s.m * k, s.count));
    MatrixSizes product = s;
    product.n = inner;
    multiply_reflectors(with, product, k, basis->data(), data_of(tau));
    if (lamella_status st = basis->finish()) return st;
  }
  return triangle.finish();
}

// ---- least squares ----

// Returns a view of the first rows of matrices.
Tensor first_rows(const lamella_tensor* t, int64_t rows) {
  int64_t sizes[LAMELLA_MAX_DIMS];
  std::copy(t->dl.shape, t->dl.shape + t->dl.ndim, sizes);
  sizes[t->dl.ndim - 2] = rows;
  return view_of(t, t->dl.ndim, sizes, t->dl.strides);
}

// The driver "gels", by QR factors of A, or of its adjoint if that has more rows. The others, which determine ranks,
// stay on the host.
Status solve_squares(const Tensor& a, const Tensor& b, double, std::string_view driver, const Tensor& solution,
                     const Tensor& rank, const Tensor& values, const Tensor& info) {
  if (!solver_there() || driver != "gels") return LAMELLA_DECLINED;
  const MatrixSizes s(a), sides(b);
  const ColumnResult x(solution);
  const Result ranks(rank), singular(values), codes(info);
  lamella::check(clear(ranks.get()));
  lamella::check(clear(codes.get()));
  const int64_t k = std::min(s.m, s.n), columns = sides.n;
  if (k == 0) lamella::check(clear(x.get()));
  if (s.count == 0 || k == 0) return all_finished(x, ranks, singular, codes);
  const Solving with(a);
  const bool wide = s.m < s.n;
  const Tensor factors = columns_of(wide ? transposed(a) : a);
  MatrixSizes sizes = s;
  if (wide) std::swap(sizes.m, sizes.n);
  if (wide && with.which >= 2) lamella::check(conjugate(with, data_of(factors), factors.numel()));
  const InfiniteMatrices infinite(with, data_of(factors), sizes, 0);
  const Tensor tau = empty_on(with.on, {s.count * k}, with.dtype);
  make_reflectors(with, sizes, data_of(factors), data_of(tau));
  lamella::check(first_zeros(with, data_of(factors), sizes, codes.data<int>()));
  infinite.spoil(codes.get(), 1);
  if (columns == 0) return all_finished(x, ranks, singular, codes);
  const Reflectors q{data_of(factors), data_of(tau), k, sizes.m, sizes.each()};
  Triangles r{CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, data_of(factors), sizes.m, sizes.each()};
  if (wide) {  // A = RᴴQᴴ, and the solution of the smallest norm is QR⁻ᴴB
    r.turn = CUBLAS_OP_C;
    lamella::check(clear(x.get()));
    const Tensor top = first_rows(x.get(), s.m);
    lamella::check(assign(top.get(), b.get()));
    solve_in_place(with, r, true, k, columns, x.data(), s.n, s.n * columns, s.count, suits_batch(s));
    reflect(with, q, true, false, s.n, columns, x.data(), s.count);
  } else {
    const Tensor right = columns_of(b);
    reflect(with, q, true, true, s.m, columns, data_of(right), s.count);
    solve_in_place(with, r, true, k, columns, data_of(right), s.m, s.m * columns, s.count, suits_batch(s));
    const Tensor top = first_rows(right.get(), s.n);
    lamella::check(assign(x.get(), top.get()));
  }
  return all_finished(x, ranks, singular, codes);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  add<factor_cholesky>(m, "_linalg_cholesky");
  add<factor_lu>(m, "_linalg_lu");
  add<solve_lu>(m, "_linalg_lu_solve");
  add<solve_equations>(m, "_linalg_solve");
  add<solve_triangle>(m, "_linalg_triangular");
  add<factor_qr>(m, "geqrf");
  add<product_of_reflectors>(m, "linalg_householder_product");
  add<multiply_by_reflectors>(m, "ormqr");
  add<qr_of>(m, "linalg_qr");
  add<solve_squares>(m, "_linalg_lstsq");
}

}  // namespace cuda
