// The factorizations and solvers that a backend computes: private operators, of which the other files linalg_*.cpp
// compose the public ones. They report failures in `info`, as LAPACK does, and raise nothing that depends on values. If
// a backend has no kernel, the counted fallback to the host computes them.
#include "operators/linalg.h"

namespace lamella::operators {

void infer_cholesky(const Tensor& self, bool, Output factor, Output info) {
  check_square("self", self);
  check_factorable("self", self);
  set_columns(factor, DimVector(self.sizes()), self.dtype());
  set_info(info, batch_of(self));
}

void infer_lu(const Tensor& self, bool, Output factors, Output pivots, Output info) {
  check_matrices("self", self);
  check_factorable("self", self);
  set_columns(factors, DimVector(self.sizes()), self.dtype());
  set_info(pivots, with(batch_of(self), {std::min(rows_in(self), columns_in(self))}));
  set_info(info, batch_of(self));
}

void infer_ldl(const Tensor& self, bool, Output factors, Output pivots, Output info) {
  check_square("self", self);
  check_factorable("self", self);
  set_columns(factors, DimVector(self.sizes()), self.dtype());
  set_info(pivots, with(batch_of(self), {rows_in(self)}));
  set_info(info, batch_of(self));
  info.compute_in(self.dtype());
}

namespace {

void check_pivots(const Tensor& factors, const Tensor& pivots) {
  check_square("LU", factors);
  check_factorable("LU", factors);
  LAMELLA_CHECK(pivots.dtype() == kInt, argument("pivots"), ": expected int32, got ", pivots.dtype());
  LAMELLA_CHECK(IntArrayRef(with(batch_of(factors), {rows_in(factors)})) == pivots.sizes(), argument("pivots"),
                ": expected shape ", shape_text(with(batch_of(factors), {rows_in(factors)})), ", got ",
                shape_text(pivots));
}

// The batches of the operands are equal here: the public operators have broadcast them.
void check_sides(const Tensor& a, const Tensor& b, bool left) {
  check_square("A", a);
  check_factorable("A", a);
  check_matrices("B", b);
  check_same_dtype("A", a, "B", b);
  const int64_t n = left ? rows_in(b) : columns_in(b);
  LAMELLA_CHECK(n == rows_in(a), argument("B"), ": expected ", rows_in(a), left ? " rows" : " columns",
                ", as 'A' has, got ", n, " in shape ", shape_text(b));
  LAMELLA_CHECK(IntArrayRef(batch_of(a)) == IntArrayRef(batch_of(b)), argument("B"), ": expected the batch of 'A', ",
                shape_text(batch_of(a)), ", got ", shape_text(batch_of(b)));
}

void infer_lu_solve(const Tensor& factors, const Tensor& pivots, const Tensor& b, bool left, bool, Output out) {
  check_pivots(factors, pivots);
  check_sides(factors, b, left);
  set_columns(out, DimVector(b.sizes()), b.dtype());
}

void infer_solve(const Tensor& a, const Tensor& b, bool left, Output result, Output factors, Output pivots,
                 Output info) {
  check_sides(a, b, left);
  set_columns(result, DimVector(b.sizes()), b.dtype());
  set_columns(factors, DimVector(a.sizes()), a.dtype());
  set_info(pivots, with(batch_of(a), {rows_in(a)}));
  set_info(info, batch_of(a));
}

std::tuple<Tensor, Tensor, Tensor, Tensor> solve_by_factors(const Tensor& a, const Tensor& b, bool left) {
  const auto [factors, pivots, info] = lamella::_linalg_lu(a, true);
  return {lamella::_linalg_lu_solve(factors, pivots, b, left, false), factors, pivots, info};
}

void infer_triangular(const Tensor& a, const Tensor& b, bool, bool left, bool, Output out) {
  check_sides(a, b, left);
  set_columns(out, DimVector(b.sizes()), b.dtype());
}

void infer_geqrf(const Tensor& self, Output a, Output tau) {
  check_matrices("self", self);
  check_factorable("self", self);
  set_columns(a, DimVector(self.sizes()), self.dtype());
  tau.set(with(batch_of(self), {std::min(rows_in(self), columns_in(self))}), self.dtype());
}

void check_reflectors(const char* name, const Tensor& vectors, const Tensor& tau) {
  check_matrices(name, vectors);
  check_factorable(name, vectors);
  LAMELLA_CHECK(rows_in(vectors) >= columns_in(vectors), argument(name),
                ": expected at least as many rows as columns, got ", rows_in(vectors), " by ", columns_in(vectors));
  check_same_dtype(name, vectors, "tau", tau);
  LAMELLA_CHECK(tau.dim() == vectors.dim() - 1 && IntArrayRef(batch_of(tau, 1)) == IntArrayRef(batch_of(vectors)),
                argument("tau"), ": expected a vector for each matrix of '", name, "', of shape ", shape_text(vectors),
                ", got shape ", shape_text(tau));
  LAMELLA_CHECK(tau.size(-1) <= columns_in(vectors), argument("tau"), ": expected at most ", columns_in(vectors),
                " factors, one for each column of '", name, "', got ", tau.size(-1));
}

void infer_householder_product(const Tensor& input, const Tensor& tau, Output out) {
  check_reflectors("input", input, tau);
  set_columns(out, DimVector(input.sizes()), input.dtype());
}

void infer_ormqr(const Tensor& self, const Tensor& tau, const Tensor& other, bool left, bool, Output out) {
  check_matrices("self", self);
  check_factorable("self", self);
  check_matrices("other", other);
  check_same_dtype("self", self, "tau", tau);
  check_same_dtype("self", self, "other", other);
  const int64_t n = left ? rows_in(other) : columns_in(other);
  LAMELLA_CHECK(rows_in(self) == n, argument("other"), ": expected ", rows_in(self), left ? " rows" : " columns",
                ", as 'self' has rows, got ", n);
  LAMELLA_CHECK(tau.dim() == self.dim() - 1 && IntArrayRef(batch_of(tau, 1)) == IntArrayRef(batch_of(self)),
                argument("tau"), ": expected a vector for each matrix of 'self', of shape ", shape_text(self),
                ", got shape ", shape_text(tau));
  LAMELLA_CHECK(tau.size(-1) <= std::min(columns_in(self), n), argument("tau"), ": expected at most ",
                std::min(columns_in(self), n), " factors, got ", tau.size(-1));
  LAMELLA_CHECK(IntArrayRef(batch_of(self)) == IntArrayRef(batch_of(other)), argument("other"),
                ": expected the batch of 'self', ", shape_text(batch_of(self)), ", got ", shape_text(batch_of(other)));
  set_columns(out, DimVector(other.sizes()), other.dtype());
}

void infer_qr(const Tensor& a, std::string_view mode, Output q, Output r) {
  check_matrices("A", a);
  check_factorable("A", a);
  LAMELLA_CHECK(mode == "reduced" || mode == "complete" || mode == "r", argument("mode"),
                ": expected 'reduced', 'complete' or 'r', got '", mode, "'");
  const int64_t m = rows_in(a), n = columns_in(a), k = std::min(m, n);
  const int64_t inner = mode == "complete" ? m : k;
  if (mode == "r")
    q.set({0}, a.dtype());
  else
    set_columns(q, with(batch_of(a), {m, inner}), a.dtype());
  set_columns(r, with(batch_of(a), {inner, n}), a.dtype());
}

void infer_eigh(const Tensor& a, std::string_view triangle, bool vectors, Output values, Output columns_of_vectors,
                Output info) {
  check_square("A", a);
  check_factorable("A", a);
  LAMELLA_CHECK(triangle.size() == 1 && std::string_view("LUlu").find(triangle[0]) != std::string_view::npos,
                argument("UPLO"), ": expected 'L' or 'U', got '", triangle, "'");
  values.set(with(batch_of(a), {rows_in(a)}), real_of(a.dtype()));
  if (vectors)
    set_columns(columns_of_vectors, DimVector(a.sizes()), a.dtype());
  else
    columns_of_vectors.set({0}, a.dtype());
  set_info(info, batch_of(a));
  info.compute_in(a.dtype());
}

ScalarType complex_of(ScalarType t) { return t == kFloat ? kComplexFloat : t == kDouble ? kComplexDouble : t; }

void infer_eig(const Tensor& self, bool vectors, Output values, Output columns_of_vectors, Output info) {
  check_square("self", self);
  check_factorable("self", self);
  values.set(with(batch_of(self), {rows_in(self)}), complex_of(self.dtype()));
  if (vectors)
    set_columns(columns_of_vectors, DimVector(self.sizes()), complex_of(self.dtype()));
  else
    columns_of_vectors.set({0}, complex_of(self.dtype()));
  set_info(info, batch_of(self));
  info.compute_in(self.dtype());
}

void infer_svd(const Tensor& a, bool full, bool vectors, std::optional<std::string_view>, Output u, Output s, Output vh,
               Output info) {
  check_matrices("A", a);
  check_factorable("A", a);
  const int64_t m = rows_in(a), n = columns_in(a), k = std::min(m, n);
  const DimVector batch = batch_of(a);
  if (vectors) {
    set_columns(u, with(batch, {m, full ? m : k}), a.dtype());
    set_columns(vh, with(batch, {full ? n : k, n}), a.dtype());
  } else {
    u.set({0}, a.dtype());
    vh.set({0}, a.dtype());
  }
  s.set(with(batch, {k}), real_of(a.dtype()));
  set_info(info, batch);
  info.compute_in(a.dtype());
}

void infer_lstsq(const Tensor& a, const Tensor& b, double, std::string_view driver, Output solution, Output rank,
                 Output values, Output info) {
  check_matrices("A", a);
  check_factorable("A", a);
  check_matrices("B", b);
  check_same_dtype("A", a, "B", b);
  LAMELLA_CHECK(rows_in(a) == rows_in(b), argument("B"), ": expected ", rows_in(a), " rows, as 'A' has, got ",
                rows_in(b));
  LAMELLA_CHECK(IntArrayRef(batch_of(a)) == IntArrayRef(batch_of(b)), argument("B"), ": expected the batch of 'A', ",
                shape_text(batch_of(a)), ", got ", shape_text(batch_of(b)));
  set_columns(solution, with(batch_of(b), {columns_in(a), columns_in(b)}), b.dtype());
  rank.set(batch_of(a), kLong);
  const bool by_values = driver == "gelsd" || driver == "gelss";
  values.set(with(batch_of(a), {by_values ? std::min(rows_in(a), columns_in(a)) : 0}), real_of(a.dtype()));
  set_info(info, batch_of(a));
  info.compute_in(a.dtype());
}

void infer_ldl_solve(const Tensor& factors, const Tensor& pivots, const Tensor& b, bool, Output out) {
  check_pivots(factors, pivots);
  check_sides(factors, b, true);
  set_columns(out, DimVector(b.sizes()), b.dtype());
}

}  // namespace

LAMELLA_FAMILY(linalg_factors, .category = "linalg", .forms = hidden) {
  return {
      {.schema = "_linalg_cholesky(Tensor self, bool upper) -> (Tensor L, Tensor info)",
       .dims = "... i~ j~ -> ... i~ j~, ...",
       .infer = shape<infer_cholesky>,
       .doc = "The Cholesky factor of the lower triangle of each matrix, or of the upper one as its adjoint. `info` is "
              "0, or the order of the leading minor that is not positive."},
      {.schema = "_linalg_lu(Tensor self, bool pivot) -> (Tensor LU, Tensor pivots, Tensor info)",
       .dims = "... i~ j~ -> ... i~ j~, ... k~, ...",
       .infer = shape<infer_lu>,
       .doc = "The factors of PLU in one matrix, and the row that was exchanged with each row, counted from 1. `info` "
              "is 0, or the number of the first diagonal element of U that is 0."},
      {.schema = "_linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, bool left, bool adjoint) -> Tensor",
       .dims = "... i~ j~, ... k~, ... b~ c~ -> ... b~ c~",
       .infer = shape<infer_lu_solve>,
       .doc = "X of AX = B (or of XA = B) by the factors of A; with `adjoint` that of the adjoint of A."},
      {.schema = "_linalg_solve(Tensor A, Tensor B, bool left) -> (Tensor result, Tensor LU, Tensor pivots, Tensor "
                 "info)",
       .dims = "... i~ j~, ... b~ c~ -> ... b~ c~, ... i~ j~, ... k~, ...",
       .infer = shape<infer_solve>,
       .composite = composite<solve_by_factors>,
       .doc = "X of AX = B (or of XA = B), with the factors of A and their `info`."},
      {.schema = "_linalg_triangular(Tensor A, Tensor B, bool upper, bool left, bool unitriangular) -> Tensor",
       .dims = "... i~ j~, ... b~ c~ -> ... b~ c~",
       .infer = shape<infer_triangular>,
       .doc = "X of AX = B (or of XA = B), where one triangle of A is read."},
      {.schema = "geqrf(Tensor self) -> (Tensor a, Tensor tau)",
       .dims = "... i~ j~ -> ... i~ j~, ... k~",
       .forms = everywhere | out,
       .infer = shape<infer_geqrf>,
       .doc = R"(The QR factors as LAPACK keeps them: R in the upper triangle, below it the vectors of the reflectors,
whose first element is 1, and their factors `tau`. householder_product() makes Q of them.

Args:
    self: (*, m, n), float32, float64, complex64 or complex128

>>> a, tau = lamella.geqrf(lamella.tensor([[3., 1.], [4., 2.]]))
>>> a.triu()
tensor([[-5.0000, -2.2000],
        [ 0.0000,  0.4000]])
)"},
      {.schema = "linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
       .dims = "... i~ j~, ... k~ -> ... i~ j~",
       .forms = function | out,
       .infer = shape<infer_householder_product>,
       .doc = R"(The first columns of the product of Householder reflectors, as geqrf() gives them.

Args:
    input: (*, m, n) with m >= n; the vectors stand below the diagonal
    tau: (*, k) with k <= n, the factors

>>> a, tau = lamella.geqrf(lamella.tensor([[3., 1.], [4., 2.]]))
>>> lamella.linalg.householder_product(a, tau)
tensor([[-0.6000, -0.8000],
        [-0.8000,  0.6000]])
)",
       .aliases = "orgqr",
       .module = "linalg"},
      {.schema = "ormqr(Tensor self, Tensor tau, Tensor other, bool left=True, bool transpose=False) -> Tensor",
       .dims = "... i~ j~, ... k~, ... l~ m~ -> ... l~ m~",
       .forms = everywhere | out,
       .infer = shape<infer_ormqr>,
       .doc = R"(The product of Q, whose reflectors geqrf() gives as `self` and `tau`, with `other`, without making Q.

Args:
    left: whether Q is the left factor
    transpose: whether Q is transposed, and conjugated if it is complex

>>> x = lamella.tensor([[3., 1.], [4., 2.]])
>>> lamella.ormqr(*lamella.geqrf(x), x, transpose=True)
tensor([[-5.0000, -2.2000],
        [ 0.0000,  0.4000]])
)"},
      {.schema = "linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)",
       .forms = function | out,
       .infer = shape<infer_qr>,
       .doc = R"(The QR decomposition: the columns of Q are orthonormal, R is upper triangular, and A = QR.

Args:
    A: (*, m, n), float32, float64, complex64 or complex128
    mode: "reduced" for Q of shape (*, m, k) with k = min(m, n), "complete" for (*, m, m), "r" for an empty Q

>>> q, r = lamella.linalg.qr(lamella.tensor([[3., 1.], [4., 2.]]))
>>> r
tensor([[-5.0000, -2.2000],
        [ 0.0000,  0.4000]])
)",
       .module = "linalg"},
      {.schema = "_linalg_eigh(Tensor A, str UPLO, bool compute_v) -> (Tensor eigenvalues, Tensor eigenvectors, Tensor "
                 "info)",
       .infer = shape<infer_eigh>,
       .doc = "The eigenvalues of a Hermitian matrix in ascending order, and its eigenvectors as columns. `info` is 0, "
              "or how many elements of an intermediate form did not converge to 0."},
      {.schema = "_linalg_eig(Tensor self, bool compute_v) -> (Tensor eigenvalues, Tensor eigenvectors, Tensor info)",
       .infer = shape<infer_eig>,
       .doc = "The complex eigenvalues of a square matrix, and its eigenvectors of norm 1 as columns."},
      {.schema = "_linalg_svd(Tensor A, bool full_matrices, bool compute_uv, *, str? driver=None) -> (Tensor U, Tensor "
                 "S, Tensor Vh, Tensor info)",
       .infer = shape<infer_svd>,
       .doc = "The singular value decomposition; singular values descend."},
      {.schema = "_linalg_lstsq(Tensor A, Tensor B, float rcond, str driver) -> (Tensor solution, Tensor rank, Tensor "
                 "singular_values, Tensor info)",
       .infer = shape<infer_lstsq>,
       .doc = "The least squares solutions by a driver of LAPACK, whose name is empty for the usual one."},
      {.schema = "_linalg_ldl(Tensor self, bool hermitian) -> (Tensor LD, Tensor pivots, Tensor info)",
       .dims = "... i~ j~ -> ... i~ j~, ... k~, ...",
       .infer = shape<infer_ldl>,
       .doc = "The factors of LDLᵀ, or of LDLᴴ, in one matrix, with Bunch and Kaufman's pivots."},
      {.schema = "_linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, bool hermitian) -> Tensor",
       .dims = "... i~ j~, ... k~, ... b~ c~ -> ... b~ c~",
       .infer = shape<infer_ldl_solve>,
       .doc = "X of AX = B by the factors of `_linalg_ldl`."},
  };
}

}  // namespace lamella::operators
