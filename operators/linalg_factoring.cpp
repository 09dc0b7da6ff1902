// The public forms of factorizations: Cholesky, LU and LDL.
#include "operators/linalg.h"

namespace lamella::operators {
namespace {

// ---- Cholesky ----

void infer_cholesky_ex(const Tensor& self, bool upper, bool, Output factor, Output info) {
  infer_cholesky(self, upper, factor, info);
}
std::tuple<Tensor, Tensor> cholesky_ex(const Tensor& self, bool upper, bool check_errors) {
  auto found = lamella::_linalg_cholesky(self, upper);
  if (check_errors) check_info(std::get<1>(found), "linalg.cholesky_ex");
  return found;
}
Tensor cholesky_factor(const Tensor& self, bool upper) {
  auto [factor, info] = lamella::_linalg_cholesky(self, upper);
  check_info(info, "linalg.cholesky");
  return factor;
}
Tensor cholesky(const Tensor& self, bool upper) {
  auto [factor, info] = lamella::_linalg_cholesky(self, upper);
  check_info(info, "cholesky");
  return factor;
}
// ---- LU ----

void infer_lu_ex(const Tensor& a, bool pivot, bool, Output factors, Output pivots, Output info) {
  infer_lu(a, pivot, factors, pivots, info);
}
void infer_lu_factor(const Tensor& a, bool, Output factors, Output pivots) {
  check_matrices("A", a);
  check_factorable("A", a);
  set_columns(factors, DimVector(a.sizes()), a.dtype());
  set_info(pivots, with(batch_of(a), {std::min(rows_in(a), columns_in(a))}));
}
std::tuple<Tensor, Tensor, Tensor> lu_factor_ex(const Tensor& a, bool pivot, bool check_errors) {
  auto found = lamella::_linalg_lu(a, pivot);
  if (check_errors) check_info(std::get<2>(found), "linalg.lu_factor_ex");
  return found;
}
std::tuple<Tensor, Tensor> lu_factor(const Tensor& a, bool pivot) {
  auto [factors, pivots, info] = lamella::_linalg_lu(a, pivot);
  check_info(info, "linalg.lu_factor");
  return {factors, pivots};
}

void infer_permutation(const Tensor& pivots, int64_t size, Output out) {
  LAMELLA_CHECK(pivots.dtype() == kInt && pivots.dim() >= 1, argument("pivots"),
                ": expected an int32 tensor of at least one dimension, got ", pivots.dtype(), " of shape ",
                shape_text(pivots));
  LAMELLA_CHECK(pivots.size(-1) <= size, argument("pivots"), ": expected at most ", size, " pivots, one for each row, ",
                "got ", pivots.size(-1));
  out.set(with(batch_of(pivots, 1), {size}), kLong);
}
// Exchanges the rows one pair after the other.
Tensor permutation(const Tensor& pivots, int64_t size) {
  const DimVector batch = batch_of(pivots, 1);
  const TensorOptions options = pivots.options().dtype(kLong);
  Tensor order = lamella::arange(0, size, 1, options).expand(with(batch, {size})).contiguous();
  for (int64_t i = 0; i < pivots.size(-1); i++) {
    const Tensor other = (pivots.slice(-1, i, i + 1) - 1).to(kLong);
    const Tensor here = lamella::full_like(other, i), pair = lamella::cat({here, other}, -1);
    order = order.scatter(-1, pair, order.gather(-1, lamella::cat({other, here}, -1)));
  }
  return order;
}

Tensor permutation_matrix(const Tensor& pivots, int64_t size, const Tensor& like) {
  const Tensor order = lamella::_linalg_permutation(pivots, size);
  const Tensor columns_of_ones = order.unsqueeze(-2);  // column i has its one in row order[i]
  const Tensor zero = lamella::zeros(with(batch_of(order, 1), {size, size}), like.options());
  return zero.scatter(-2, columns_of_ones, 1);
}

std::tuple<Tensor, Tensor, Tensor> unpacked(const Tensor& factors, const Tensor& pivots, bool unpack_data,
                                            bool unpack_pivots) {
  check_matrices("LU_data", factors);
  LAMELLA_CHECK(!unpack_pivots || pivots.dtype() == kInt, argument("LU_pivots"), ": expected int32, as lu_factor() ",
                "gives them, got ", pivots.dtype());
  const int64_t m = rows_in(factors), n = columns_in(factors), k = std::min(m, n);
  const Tensor none = lamella::empty({0}, factors.options());
  Tensor p = none, l = none, u = none;
  if (unpack_data) {
    l = factors.slice(-1, 0, k).tril(-1) + lamella::eye(m, k, factors.options());
    u = factors.slice(-2, 0, k).triu();
  }
  if (unpack_pivots) p = permutation_matrix(pivots, m, factors);
  return {p, l, u};
}

std::tuple<Tensor, Tensor, Tensor> three_factors(const Tensor& a, bool pivot) {
  auto [factors, pivots, info] = lamella::_linalg_lu(a, pivot);
  auto [p, l, u] = unpacked(factors, pivots, true, pivot);
  return {p, l, u};
}

// ---- LDL ----

void infer_ldl_ex(const Tensor& self, bool hermitian, bool, Output factors, Output pivots, Output info) {
  infer_ldl(self, hermitian, factors, pivots, info);
}
void infer_ldl_factor(const Tensor& self, bool, Output factors, Output pivots) {
  check_square("self", self);
  check_factorable("self", self);
  set_columns(factors, DimVector(self.sizes()), self.dtype());
  set_info(pivots, with(batch_of(self), {rows_in(self)}));
}
std::tuple<Tensor, Tensor, Tensor> ldl_factor_ex(const Tensor& self, bool hermitian, bool check_errors) {
  auto found = lamella::_linalg_ldl(self, hermitian);
  if (check_errors) check_info(std::get<2>(found), "linalg.ldl_factor_ex");
  return found;
}
std::tuple<Tensor, Tensor> ldl_factor(const Tensor& self, bool hermitian) {
  auto [factors, pivots, info] = lamella::_linalg_ldl(self, hermitian);
  check_info(info, "linalg.ldl_factor");
  return {factors, pivots};
}
}  // namespace

LAMELLA_FAMILY(linalg_factoring, .category = "linalg", .forms = function | out) {
  return {
      {.schema = "_linalg_permutation(Tensor pivots, int size) -> Tensor",
       .dims = "... k~ -> ... i~",
       .forms = hidden,
       .infer = shape<infer_permutation>,
       .composite = composite<permutation>,
       .doc = "The order of rows that the exchanges of an LU factorization lead to."},
      {.schema = "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor "
                 "info)",
       .dims = "... i~ j~ -> ... i~ j~, ...",
       .infer = shape<infer_cholesky_ex>,
       .composite = composite<cholesky_ex>,
       .doc = R"(The Cholesky factor, and for each matrix 0 or the order of the leading minor that is not positive.

Args:
    check_errors: raise a LinAlgError if such a minor was found

>>> lamella.linalg.cholesky_ex(lamella.tensor([[1., 2.], [2., 1.]])).info
tensor(2, dtype=lamella.int32)
)",
       .module = "linalg"},
      {.schema = "linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
       .dims = "... i~ j~ -> ... i~ j~",
       .composite = composite<cholesky_factor>,
       .doc = R"(The lower triangular L with A = LLᴴ, of a Hermitian positive-definite matrix A.

Args:
    self: (*, n, n), float32, float64, complex64 or complex128; the lower triangle is read, or the upper one
    upper: return the adjoint of L

Raises:
    LinAlgError: a matrix is not positive-definite

>>> lamella.linalg.cholesky(lamella.tensor([[4., 2.], [2., 5.]]))
tensor([[2., 0.],
        [1., 2.]])
)",
       .module = "linalg"},
      {.schema = "cholesky(Tensor self, bool upper=False) -> Tensor",
       .dims = "... i~ j~ -> ... i~ j~",
       .forms = everywhere | out,
       .composite = composite<cholesky>,
       .doc = R"(linalg.cholesky().

>>> lamella.cholesky(lamella.tensor([[4., 2.], [2., 5.]]))
tensor([[2., 0.],
        [1., 2.]])
)"},
      {.schema = "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor "
                 "pivots, Tensor info)",
       .dims = "... i~ j~ -> ... i~ j~, ... k~, ...",
       .infer = shape<infer_lu_ex>,
       .composite = composite<lu_factor_ex>,
       .doc = R"(linalg.lu_factor(), and for each matrix 0 or the number of the first diagonal element of U that is 0.

>>> lamella.linalg.lu_factor_ex(lamella.tensor([[1., 2.], [2., 4.]])).info
tensor(2, dtype=lamella.int32)
)",
       .module = "linalg"},
      {.schema = "linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
       .dims = "... i~ j~ -> ... i~ j~, ... k~",
       .infer = shape<infer_lu_factor>,
       .composite = composite<lu_factor>,
       .doc = R"(The factors of A = PLU in one matrix, for lu_solve() and lu_unpack(): U in the upper triangle, L below.

Args:
    A: (*, m, n), float32, float64, complex64 or complex128
    pivot: exchange rows, so that each pivot is the largest of its column

Returns:
    LU of shape (*, m, n), and int32 pivots of shape (*, min(m, n)): row i was exchanged with row pivots[i] - 1

Raises:
    LinAlgError: a diagonal element of U is 0

>>> lamella.linalg.lu_factor(lamella.tensor([[1., 2.], [2., 2.]]))
lamella.return_types.linalg_lu_factor(LU=tensor([[2.0000, 2.0000],
        [0.5000, 1.0000]]), pivots=tensor([2, 2], dtype=lamella.int32))
)",
       .module = "linalg"},
      {.schema = "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
       .composite = composite<three_factors>,
       .doc = R"(The factors of A = PLU: a permutation, a unit lower triangular matrix, and an upper triangular one.

>>> p, l, u = lamella.linalg.lu(lamella.tensor([[1., 2.], [2., 2.]]))
>>> p @ l @ u
tensor([[1., 2.],
        [2., 2.]])
)",
       .module = "linalg"},
      {.schema =
           "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor "
           "P, Tensor L, Tensor U)",
       .composite = composite<unpacked>,
       .doc = R"(The three factors of the result of linalg.lu_factor(). A factor that is not wanted is an empty tensor.

>>> lamella.lu_unpack(*lamella.linalg.lu_factor(lamella.tensor([[1., 2.], [2., 2.]]))).P
tensor([[0., 1.],
        [1., 0.]])
)"},
      {.schema = "linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, "
                 "Tensor pivots, Tensor info)",
       .dims = "... i~ j~ -> ... i~ j~, ... k~, ...",
       .infer = shape<infer_ldl_ex>,
       .composite = composite<ldl_factor_ex>,
       .doc = R"(linalg.ldl_factor(), and for each matrix 0 or the number of the block of D that is singular.

>>> lamella.linalg.ldl_factor_ex(lamella.tensor([[2., 0.], [0., 0.]])).info
tensor(2, dtype=lamella.int32)
)",
       .module = "linalg"},
      {.schema = "linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
       .dims = "... i~ j~ -> ... i~ j~, ... k~",
       .infer = shape<infer_ldl_factor>,
       .composite = composite<ldl_factor>,
       .doc = R"(The factors of A = LDLᵀ, or LDLᴴ, of symmetric or Hermitian matrices that need not be positive, in one
matrix, by the pivots of Bunch and Kaufman. The lower triangle is read.

Args:
    hermitian: whether complex matrices are Hermitian; otherwise they are symmetric

Raises:
    LinAlgError: a block of D is singular

>>> a = lamella.tensor([[0., 1.], [1., 0.]])
>>> lamella.linalg.ldl_solve(*lamella.linalg.ldl_factor(a), lamella.tensor([[2.], [3.]]))
tensor([[3.],
        [2.]])
)",
       .module = "linalg"},
  };
}

}  // namespace lamella::operators
