// Equations: solutions, inverses, least squares, by the factors of matrices.
#include "operators/linalg.h"

namespace lamella::operators {

namespace {

Tensor identity_like(const Tensor& a) { return lamella::eye(rows_in(a), a.options()).expand(a.sizes()); }

// ---- with given factors ----

Tensor solve_by_cholesky(const Tensor& self, const Tensor& factor, bool upper) {
  const Sides s(factor, self, true, false);
  const Tensor other = adjoint_of(s.a);
  const Tensor &lower = upper ? other : s.a, &above = upper ? s.a : other;
  return lamella::_linalg_triangular(above, lamella::_linalg_triangular(lower, s.b, false, true, false), true, true,
                                     false);
}
Tensor cholesky_inverse(const Tensor& self, bool upper) {
  check_square("self", self);
  return solve_by_cholesky(identity_like(self), self, upper);
}

Tensor solve_by_lu(const Tensor& factors, const Tensor& pivots, const Tensor& b, bool left, bool adjoint) {
  check_square("LU", factors);
  check_matrices("B", b);
  check_same_dtype("LU", factors, "B", b);
  const DimVector batch = common_batch("LU", factors, "B", b);
  return lamella::_linalg_lu_solve(factors.expand(with(batch, {rows_in(factors), columns_in(factors)})),
                                   pivots.expand(with(batch, {pivots.size(-1)})),
                                   b.expand(with(batch, {rows_in(b), columns_in(b)})), left, adjoint);
}
Tensor lu_solve(const Tensor& self, const Tensor& factors, const Tensor& pivots) {
  return solve_by_lu(factors, pivots, self, true, false);
}

// ---- equations ----

std::tuple<Tensor, Tensor> solve_checked(const Tensor& a, const Tensor& b, bool left, bool check_errors,
                                         const char* function) {
  check_square("A", a);
  const Sides s(a, b, left);
  const DimVector batch = batch_of(s.a);
  Tensor x, factors, pivots, info;
  if (IntArrayRef(batch) == IntArrayRef(batch_of(a))) {
    std::tie(x, factors, pivots, info) = lamella::_linalg_solve(s.a, s.b, left);
  } else {  // each matrix is factored once, however many right sides broadcast with it
    std::tie(factors, pivots, info) = lamella::_linalg_lu(a, true);
    x = lamella::_linalg_lu_solve(factors.expand(s.a.sizes()), pivots.expand(with(batch, {rows_in(a)})), s.b, left,
                                  false);
  }
  if (check_errors) check_info(info, function);
  return {s.shaped(x), info};
}
void infer_solve_ex(const Tensor& a, const Tensor& b, bool left, bool, Output result, Output info) {
  check_square("A", a);
  check_factorable("A", a);
  const Sides s(a, b, left);
  const int64_t n = left ? rows_in(s.b) : columns_in(s.b);
  LAMELLA_CHECK(n == rows_in(a), argument("B"), ": expected ", rows_in(a), left ? " rows" : " columns",
                ", as 'A' has, got ", n, " in shape ", shape_text(b));
  if (s.vector)
    result.set(with(batch_of(s.b), {n}), a.dtype());
  else
    set_columns(result, DimVector(s.b.sizes()), a.dtype());
  set_info(info, batch_of(a));
}
std::tuple<Tensor, Tensor> solve_ex(const Tensor& a, const Tensor& b, bool left, bool check_errors) {
  return solve_checked(a, b, left, check_errors, "linalg.solve_ex");
}
Tensor solve(const Tensor& a, const Tensor& b, bool left) {
  return std::get<0>(solve_checked(a, b, left, true, "linalg.solve"));
}

std::tuple<Tensor, Tensor> inverse_checked(const Tensor& a, bool check_errors, const char* function) {
  check_square("A", a);
  check_factorable("A", a);
  const auto [x, factors, pivots, info] = lamella::_linalg_solve(a, identity_like(a), true);
  if (check_errors) check_info(info, function);
  return {x, info};
}
void infer_inv_ex(const Tensor& a, bool, Output inverse, Output info) {
  check_square("A", a);
  check_factorable("A", a);
  set_columns(inverse, DimVector(a.sizes()), a.dtype());
  set_info(info, batch_of(a));
}
std::tuple<Tensor, Tensor> inv_ex(const Tensor& a, bool check_errors) {
  return inverse_checked(a, check_errors, "linalg.inv_ex");
}
Tensor inv(const Tensor& a) { return std::get<0>(inverse_checked(a, true, "linalg.inv")); }
Tensor inverse(const Tensor& self) { return std::get<0>(inverse_checked(self, true, "inverse")); }

Tensor solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool left, bool unitriangular) {
  check_square("self", a);
  const Sides s(a, b, left, false);
  return lamella::_linalg_triangular(s.a, s.b, upper, left, unitriangular);
}
std::tuple<Tensor, Tensor> triangular_solve(const Tensor& self, const Tensor& a, bool upper, bool transpose,
                                            bool unitriangular) {
  check_square("A", a);
  const Sides s(a, self, true, false);
  const Tensor turned = transpose ? s.a.transpose(-2, -1) : s.a;
  return {lamella::_linalg_triangular(turned, s.b, upper != transpose, true, unitriangular), s.a.clone()};
}

Tensor ldl_solve(const Tensor& factors, const Tensor& pivots, const Tensor& b, bool hermitian) {
  check_square("LD", factors);
  check_matrices("B", b);
  const DimVector batch = common_batch("LD", factors, "B", b);
  return lamella::_linalg_ldl_solve(factors.expand(with(batch, {rows_in(factors), columns_in(factors)})),
                                    pivots.expand(with(batch, {pivots.size(-1)})),
                                    b.expand(with(batch, {rows_in(b), columns_in(b)})), hermitian);
}

// ---- least squares ----

std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq(const Tensor& self, const Tensor& b, std::optional<double> rcond,
                                                 std::optional<std::string_view> driver) {
  check_matrices("self", self);
  check_factorable("self", self);
  const std::string_view name = driver.value_or("");
  LAMELLA_CHECK(!driver || name == "gels" || name == "gelsy" || name == "gelsd" || name == "gelss", argument("driver"),
                ": expected 'gels', 'gelsy', 'gelsd' or 'gelss', got '", name, "'");
  const Sides s(self, b, true);
  const int64_t m = rows_in(s.a), n = columns_in(s.a);
  const double eps = real_of(self.dtype()) == kFloat ? 0x1p-23 : 0x1p-52;
  const double cut = rcond.value_or(eps * static_cast<double>(std::max(m, n)));
  const auto [x, rank, values, info] = lamella::_linalg_lstsq(s.a, s.b, cut, name);
  check_info(info, "linalg.lstsq");
  const TensorOptions real = self.options().dtype(real_of(self.dtype()));
  Tensor residuals = lamella::empty({0}, real);
  const bool ranked = name != "gels";
  const auto full_rank = [&, ranks = rank] { return !ranked || ranks.is_meta() || ranks.eq(n).all().item<bool>(); };
  if (m > n && full_rank()) {
    const Tensor rest = s.a.matmul(x) - s.b;
    residuals = (rest.is_complex() ? rest.abs() : rest).square().sum(DimVector{-2});
  }
  return {s.shaped(x), residuals, ranked ? rank : lamella::empty({0}, rank.options()),
          name == "gelsd" || name == "gelss" ? values : lamella::empty({0}, real)};
}

// ---- equations of tensors ----

int64_t product(IntArrayRef sizes) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return n;
}

Tensor tensorinv(const Tensor& self, int64_t ind) {
  LAMELLA_CHECK(ind > 0, argument("ind"), ": expected a positive number of dimensions, got ", ind);
  LAMELLA_CHECK(ind <= self.dim(), argument("ind"), ": expected at most ", self.dim(), ", got ", ind);
  const IntArrayRef first = part_of(self.sizes(), 0, ind), last = part_of(self.sizes(), ind, self.dim());
  LAMELLA_CHECK(product(first) == product(last), argument("self"), ": expected as many elements in the first ", ind,
                " dimensions as in the others, got shape ", shape_text(self));
  DimVector sizes(last);
  sizes.append(first);
  return inv(self.reshape({product(first), product(last)})).reshape(sizes);
}

Tensor tensorsolve(const Tensor& self, const Tensor& other, std::optional<IntArrayRef> dims) {
  Tensor a = self;
  if (dims && !dims->empty()) {  // moves the dimensions to the end
    DimVector order;
    const uint64_t moved = wrap_dims("dims", *dims, self.dim());
    for (int64_t d = 0; d < self.dim(); d++)
      if (!(moved >> d & 1)) order.push_back(d);
    for (int64_t d : *dims) order.push_back(d < 0 ? d + self.dim() : d);
    a = self.permute(order);
  }
  LAMELLA_CHECK(a.dim() >= other.dim(), argument("other"), ": expected at most ", a.dim(), " dimensions, got ",
                other.dim());
  const IntArrayRef inner = part_of(a.sizes(), other.dim(), a.dim());
  LAMELLA_CHECK(product(inner) == other.numel(), argument("other"), ": expected ", product(inner),
                " elements, as many as the last ", inner.size(), " dimensions of 'self' have, got ", other.numel());
  LAMELLA_CHECK(a.numel() == product(inner) * product(inner), argument("self"), ": expected as many elements in the ",
                "first dimensions as in the last ones, got shape ", shape_text(a));
  return solve(a.reshape({product(inner), product(inner)}), other.reshape({other.numel()}), true).reshape(inner);
}

}  // namespace

LAMELLA_FAMILY(linalg_solving, .category = "linalg", .forms = function | out) {
  return {
      {.schema = "cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
       .dims = "... i~ k, ... i~ j~ -> ... i~ k",
       .forms = everywhere | out,
       .composite = composite<solve_by_cholesky>,
       .doc = R"(X of AX = self, where `input2` is the Cholesky factor of A.

Args:
    self: (*, n, k)
    input2: (*, n, n), a lower triangular matrix, or an upper one (`upper`)

>>> factor = lamella.tensor([[2., 0.], [1., 2.]])
>>> lamella.cholesky_solve(lamella.tensor([[8.], [12.]]), factor)
tensor([[1.],
        [2.]])
)"},
      {.schema = "cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
       .dims = "... i~ j~ -> ... i~ j~",
       .forms = everywhere | out,
       .composite = composite<cholesky_inverse>,
       .doc = R"(The inverse of A by its Cholesky factor.

>>> lamella.cholesky_inverse(lamella.tensor([[2., 0.], [0., 1.]]))
tensor([[0.2500, 0.0000],
        [0.0000, 1.0000]])
)"},
      {.schema = "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
       .dims = "... i~ j~, ... k~, ... b~ c~ -> ... b~ c~",
       .composite = composite<solve_by_lu>,
       .doc = R"(X of AX = B by the factors of A. Batches broadcast.

Args:
    LU, pivots: as linalg.lu_factor() gives them, of square matrices
    B: (*, n, k), or (*, k, n) without `left`
    left: without it, X of XA = B
    adjoint: solve with the adjoint of A

>>> factors = lamella.linalg.lu_factor(lamella.tensor([[1., 2.], [2., 2.]]))
>>> lamella.linalg.lu_solve(*factors, lamella.tensor([[3.], [4.]]))
tensor([[1.],
        [1.]])
)",
       .module = "linalg"},
      {.schema = "lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
       .dims = "... b~ c~, ... i~ j~, ... k~ -> ... b~ c~",
       .forms = everywhere | out,
       .composite = composite<lu_solve>,
       .doc = R"(linalg.lu_solve(), with the right sides first.

>>> factors = lamella.linalg.lu_factor(lamella.tensor([[1., 2.], [2., 2.]]))
>>> lamella.lu_solve(lamella.tensor([[3.], [4.]]), *factors)
tensor([[1.],
        [1.]])
)"},
      {.schema = "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, "
                 "Tensor info)",
       .infer = shape<infer_solve_ex>,
       .composite = composite<solve_ex>,
       .doc = R"(linalg.solve(), and for each matrix 0 or the number of the pivot that is 0; the solution is then not
determined.

>>> lamella.linalg.solve_ex(lamella.tensor([[1., 2.], [2., 4.]]), lamella.tensor([1., 2.])).info
tensor(2, dtype=lamella.int32)
)",
       .module = "linalg"},
      {.schema = "linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
       .composite = composite<solve>,
       .doc = R"(X of AX = B. Batches broadcast.

Args:
    A: (*, n, n), float32, float64, complex64 or complex128
    B: (*, n, k), a vector of n elements, or (*, n), a vector for each matrix of A
    left: without it, X of XA = B

Raises:
    LinAlgError: a matrix is singular

>>> lamella.linalg.solve(lamella.tensor([[1., 2.], [2., 2.]]), lamella.tensor([3., 4.]))
tensor([1., 1.])
)",
       .module = "linalg"},
      {.schema = "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
       .dims = "... i~ j~ -> ... j~ i~, ...",
       .infer = shape<infer_inv_ex>,
       .composite = composite<inv_ex>,
       .doc = R"(linalg.inv(), and for each matrix 0 or the number of the pivot that is 0.

>>> lamella.linalg.inv_ex(lamella.tensor([[1., 2.], [2., 4.]])).info
tensor(2, dtype=lamella.int32)
)",
       .module = "linalg"},
      {.schema = "linalg_inv(Tensor A) -> Tensor",
       .dims = "... i~ j~ -> ... j~ i~",
       .composite = composite<inv>,
       .doc = R"(The inverse of square matrices.

Raises:
    LinAlgError: a matrix is singular

>>> lamella.linalg.inv(lamella.tensor([[1., 2.], [3., 4.]]))
tensor([[-2.0000,  1.0000],
        [ 1.5000, -0.5000]])
)",
       .module = "linalg"},
      {.schema = "inverse(Tensor self) -> Tensor",
       .dims = "... i~ j~ -> ... j~ i~",
       .forms = everywhere | out,
       .composite = composite<inverse>,
       .doc = R"(linalg.inv().

>>> lamella.inverse(lamella.tensor([[2., 0.], [0., 4.]]))
tensor([[0.5000, 0.0000],
        [0.0000, 0.2500]])
)"},
      {.schema = "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool "
                 "unitriangular=False) -> Tensor",
       .dims = "... i~ j~, ... b~ c~ -> ... b~ c~",
       .composite = composite<solve_triangular>,
       .doc = R"(X of AX = B, where A is triangular. Batches broadcast. Zeros on the diagonal are no error.

Args:
    self: (*, n, n); the other triangle is not read
    B: (*, n, k), or (*, k, n) without `left`
    upper: whether the upper triangle is read
    unitriangular: take the diagonal as ones, without reading it

>>> a = lamella.tensor([[2., 0.], [1., 2.]])
>>> lamella.linalg.solve_triangular(a, lamella.tensor([[4.], [6.]]), upper=False)
tensor([[2.],
        [2.]])
)",
       .module = "linalg"},
      {.schema = "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool "
                 "unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
       .dims = "... i~ k, ... i~ j~ -> ... j~ k, ... i~ j~",
       .forms = everywhere | out,
       .composite = composite<triangular_solve>,
       .doc = R"(linalg.solve_triangular() with the right sides first, and a copy of A.

>>> lamella.triangular_solve(lamella.tensor([[4.], [6.]]), lamella.tensor([[2., 1.], [0., 2.]])).solution
tensor([[0.5000],
        [3.0000]])
)"},
      {.schema = "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
       .dims = "... i~ j~, ... k~, ... b~ c~ -> ... b~ c~",
       .composite = composite<ldl_solve>,
       .doc = R"(X of AX = B by the result of linalg.ldl_factor().

>>> factors = lamella.linalg.ldl_factor(lamella.tensor([[2., 1.], [1., 3.]]))
>>> lamella.linalg.ldl_solve(*factors, lamella.tensor([[3.], [4.]]))
tensor([[1.],
        [1.]])
)",
       .module = "linalg"},
      {.schema = "linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, "
                 "Tensor residuals, Tensor rank, Tensor singular_values)",
       .forms = function,
       .composite = composite<lstsq>,
       .doc = R"(The X that minimizes the norm of AX - B. Batches broadcast.

Args:
    self: A, (*, m, n), float32, float64, complex64 or complex128
    b: B, (*, m, k), or a vector for each matrix of A
    rcond: singular values below `rcond` times the largest count as 0; without it, the dtype's epsilon times max(m, n)
    driver: LAPACK's function: "gelsy" (the default; QR with exchanged columns), "gels" (QR; A has full rank), "gelsd"
        or "gelss" (singular values)

Returns:
    the solution; the sums of squares of AX - B where m > n and every matrix has full rank, else an empty tensor; the
    ranks (empty for "gels"); the singular values ("gelsd" and "gelss")

>>> a = lamella.tensor([[1., 0.], [1., 1.], [1., 2.]])
>>> lamella.linalg.lstsq(a, lamella.tensor([1., 3., 5.])).solution
tensor([1.0000, 2.0000])
)",
       .module = "linalg"},
      {.schema = "linalg_tensorinv(Tensor self, int ind=2) -> Tensor",
       .composite = composite<tensorinv>,
       .doc =
           R"(The inverse of a tensor as a map from its last dimensions to its first `ind`, as numpy.linalg.tensorinv.

>>> lamella.linalg.tensorinv(lamella.eye(4).reshape(2, 2, 4)).shape
lamella.Size([4, 2, 2])
)",
       .module = "linalg"},
      {.schema = "linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
       .composite = composite<tensorsolve>,
       .doc = R"(The X whose product with `self` over all dimensions of X is `other`, as numpy.linalg.tensorsolve.

Args:
    dims: dimensions of `self` that are moved to its end first

>>> a = lamella.eye(4).reshape(2, 2, 4)
>>> lamella.linalg.tensorsolve(a, lamella.tensor([[1., 2.], [3., 4.]]))
tensor([1., 2., 3., 4.])
)",
       .module = "linalg"},
  };
}

}  // namespace lamella::operators
