// Operators over eigenvalues, singular values and the factors of QR: decompositions, determinants, ranks and
// pseudoinverses.
#include <cmath>
#include <limits>

#include "operators/linalg.h"

namespace lamella::operators {

Tensor singular_values(const Tensor& a) {
  const auto [u, s, vh, info] = lamella::_linalg_svd(a, false, false);
  check_info(info, "linalg.svdvals");
  return s;
}

namespace {

double epsilon_of(const Tensor& t) { return real_of(t.dtype()) == kFloat ? 0x1p-23 : 0x1p-52; }

std::tuple<Tensor, Tensor> eigh(const Tensor& self, std::string_view triangle) {
  auto [values, vectors, info] = lamella::_linalg_eigh(self, triangle, true);
  check_info(info, "linalg.eigh");
  return {values, vectors};
}
Tensor eigvalsh(const Tensor& self, std::string_view triangle) {
  auto [values, vectors, info] = lamella::_linalg_eigh(self, triangle, false);
  check_info(info, "linalg.eigvalsh");
  return values;
}
std::tuple<Tensor, Tensor> eig(const Tensor& self) {
  auto [values, vectors, info] = lamella::_linalg_eig(self, true);
  check_info(info, "linalg.eig");
  return {values, vectors};
}
Tensor eigvals(const Tensor& self) {
  auto [values, vectors, info] = lamella::_linalg_eig(self, false);
  check_info(info, "linalg.eigvals");
  return values;
}

Text text_of(std::optional<std::string_view> text) { return text ? Text(*text) : Text(); }

std::tuple<Tensor, Tensor, Tensor> decomposed(const Tensor& a, bool full, std::optional<std::string_view> driver) {
  auto [u, s, vh, info] = lamella::_linalg_svd(a, full, true, text_of(driver));
  check_info(info, "linalg.svd");
  return {u, s, vh};
}
Tensor svdvals(const Tensor& a, std::optional<std::string_view> driver) {
  auto [u, s, vh, info] = lamella::_linalg_svd(a, false, false, text_of(driver));
  check_info(info, "linalg.svdvals");
  return s;
}
std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& self, bool some, bool compute_uv) {
  check_matrices("self", self);
  if (compute_uv) {
    auto [u, s, vh] = decomposed(self, !some, std::nullopt);
    return {u, s, adjoint_of(vh)};
  }
  const auto zeros = [&](int64_t n) { return lamella::zeros(with(batch_of(self), {n, n}), self.options()); };
  return {zeros(rows_in(self)), singular_values(self), zeros(columns_in(self))};
}
std::tuple<Tensor, Tensor> qr(const Tensor& self, bool some) {
  return lamella::linalg_qr(self, some ? "reduced" : "complete");
}

// ---- determinants ----

// Returns 1 for an even number of exchanged rows, -1 for an odd one.
Tensor sign_of(const Tensor& pivots, const Tensor& like) {
  const Tensor own = lamella::arange(1, pivots.size(-1) + 1, 1, pivots.options());
  const Tensor odd = pivots.ne(own).sum(DimVector{-1}).bitwise_and(1);
  return 1 - 2 * odd.to(like.dtype());
}

std::tuple<Tensor, Tensor, Tensor> det_by_factors(const Tensor& a) {
  check_square("A", a);
  const auto [factors, pivots, info] = lamella::_linalg_lu(a, true);
  return {factors.diagonal(0, -2, -1).prod(-1) * sign_of(pivots, a), factors, pivots};
}
Tensor det(const Tensor& a) { return std::get<0>(lamella::_linalg_det(a)); }

std::tuple<Tensor, Tensor, Tensor, Tensor> slogdet_by_factors(const Tensor& a) {
  check_square("A", a);
  const auto [factors, pivots, info] = lamella::_linalg_lu(a, true);
  const Tensor diagonal = factors.diagonal(0, -2, -1);
  return {diagonal.sgn().prod(-1) * sign_of(pivots, a), diagonal.abs().log().sum(DimVector{-1}), factors, pivots};
}
std::tuple<Tensor, Tensor> sign_and_size(const Tensor& a) {
  auto [sign, size, factors, pivots] = lamella::_linalg_slogdet(a);
  return {sign, size};
}
Tensor logdet(const Tensor& self) {
  const auto [sign, size] = sign_and_size(self);
  if (self.is_complex()) return sign.log() + size;
  return lamella::where(sign.eq(-1), std::nan(""), size);
}

// ---- ranks and pseudoinverses ----

// The bound below which a singular value counts as 0: max(atol, rtol * largest).
Tensor bound_of(const Tensor& largest, const Tensor& self, const std::optional<Tensor>& atol,
                const std::optional<Tensor>& rtol) {
  const auto check_real = [](const char* name, const std::optional<Tensor>& t) {
    LAMELLA_CHECK(!t || !t->is_complex(), argument(name), ": expected real numbers, got ", t->dtype());
  };
  check_real("atol", atol);
  check_real("rtol", rtol);
  const double usual = epsilon_of(self) * static_cast<double>(std::max(rows_in(self), columns_in(self)));
  if (rtol) {
    const Tensor relative = *rtol * largest;
    return atol ? lamella::maximum(*atol, relative) : relative;
  }
  if (!atol) return largest * usual;
  // An absolute bound above 0 replaces the relative one.
  return lamella::maximum(*atol, lamella::where(atol->gt(0), 0., largest * usual));
}

std::optional<Tensor> number_like(const std::optional<double>& x, const Tensor& self) {
  if (!x) return std::nullopt;
  return lamella::full({}, *x, self.options().dtype(real_of(self.dtype())));
}

// Returns the largest value along the last dimension, or 0 if there are no values.
Tensor largest_of_values(const Tensor& values) {
  if (values.size(-1) == 0) return lamella::zeros(with(batch_of(values, 1), {1}), values.options());
  return values.amax(DimVector{-1}, true);
}

Tensor rank(const Tensor& input, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol, bool hermitian) {
  check_matrices("input", input);
  const Tensor values = hermitian ? eigvalsh(input, "L").abs() : singular_values(input);
  const auto column = [](const std::optional<Tensor>& t) -> std::optional<Tensor> {
    if (!t) return std::nullopt;
    return t->unsqueeze(-1);
  };
  return values.gt(bound_of(largest_of_values(values), input, column(atol), column(rtol))).sum(DimVector{-1});
}
void set_rank(const Tensor& input, std::initializer_list<const std::optional<Tensor>*> bounds, Output& out) {
  check_matrices("input", input);
  check_factorable("input", input);
  DimVector sizes = batch_of(input);
  for (const std::optional<Tensor>* bound : bounds)
    if (*bound)
      LAMELLA_CHECK(broadcast(&sizes, (*bound)->sizes()), "a bound of shape ", shape_text(**bound),
                    " does not broadcast with the batch ", shape_text(batch_of(input)));
  out.set(sizes, kLong);
  out.exact();
}
void infer_rank(const Tensor& input, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol, bool,
                Output out) {
  set_rank(input, {&atol, &rtol}, out);
}
void infer_rank_by_numbers(const Tensor& self, std::optional<double>, std::optional<double>, bool, Output out) {
  set_rank(self, {}, out);
}
void infer_rank_by_tol(const Tensor& self, double, bool, Output out) { set_rank(self, {}, out); }
void infer_rank_by_tensor(const Tensor& input, const Tensor& tol, bool, Output out) {
  const std::optional<Tensor> bound = tol;
  set_rank(input, {&bound}, out);
}

Tensor rank_by_numbers(const Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian) {
  check_factorable("self", self);
  return rank(self, number_like(atol, self), number_like(rtol, self), hermitian);
}
Tensor rank_by_tol(const Tensor& self, double tol, bool hermitian) { return rank_by_numbers(self, tol, 0., hermitian); }
Tensor rank_by_tensor(const Tensor& input, const Tensor& tol, bool hermitian) {
  check_factorable("input", input);
  return rank(input, tol, number_like(0., input), hermitian);
}

Tensor pinv(const Tensor& self, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol, bool hermitian) {
  check_matrices("self", self);
  check_factorable("self", self);
  if (self.numel() == 0) return lamella::zeros(with(batch_of(self), {columns_in(self), rows_in(self)}), self.options());
  const auto column = [](const std::optional<Tensor>& t) -> std::optional<Tensor> {
    if (!t) return std::nullopt;
    return t->unsqueeze(-1);
  };
  const auto inverse_values = [&](const Tensor& values, const Tensor& sizes) {
    const Tensor kept = sizes.gt(bound_of(largest_of_values(sizes), self, column(atol), column(rtol)));
    const Tensor inverse = lamella::where(kept, values.reciprocal(), 0.);
    return as(inverse, self.dtype()).unsqueeze(-2);
  };
  if (hermitian) {
    check_square("self", self);
    const auto [values, vectors] = eigh(self, "L");
    return (vectors * inverse_values(values, values.abs())).matmul(adjoint_of(vectors));
  }
  const auto [u, s, vh] = decomposed(self, false, std::nullopt);
  return (adjoint_of(vh) * inverse_values(s, s)).matmul(adjoint_of(u));
}
Tensor pinv_by_numbers(const Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian) {
  return lamella::linalg_pinv(self, number_like(atol, self), number_like(rtol, self), hermitian);
}
Tensor pinv_by_rcond(const Tensor& self, double rcond, bool hermitian) {
  return pinv_by_numbers(self, 0., rcond, hermitian);
}
Tensor pinv_by_tensor(const Tensor& self, const Tensor& rcond, bool hermitian) {
  return lamella::linalg_pinv(self, number_like(0., self), rcond, hermitian);
}
Tensor pinverse(const Tensor& self, double rcond) { return pinv_by_rcond(self, rcond, false); }

}  // namespace

LAMELLA_FAMILY(linalg_spectra, .category = "linalg", .forms = function | out) {
  return {
      {.schema = "linalg_eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
       .dims = "... i~ j~ -> ... k~, ... i~ k~",
       .composite = composite<eigh>,
       .doc =
           R"(The eigenvalues of Hermitian matrices in ascending order, and their orthonormal eigenvectors as columns.

Args:
    self: (*, n, n), float32, float64, complex64 or complex128
    UPLO: the triangle that is read, "L" or "U"

Returns:
    real eigenvalues of shape (*, n), and eigenvectors of shape (*, n, n). A vector is determined up to its sign, or a
    complex factor of size 1, and those of equal eigenvalues up to rotation: gradients of what depends on that choice
    are not determined

Raises:
    LinAlgError: the iteration did not converge, or an element is not finite

>>> lamella.linalg.eigh(lamella.tensor([[2., 1.], [1., 2.]])).eigenvalues
tensor([1., 3.])
)",
       .module = "linalg"},
      {.schema = "linalg_eigvalsh(Tensor self, str UPLO='L') -> Tensor",
       .dims = "... i~ j~ -> ... k~",
       .composite = composite<eigvalsh>,
       .doc = R"(The eigenvalues of Hermitian matrices in ascending order.

>>> lamella.linalg.eigvalsh(lamella.tensor([[2., 1.], [1., 2.]]))
tensor([1., 3.])
)",
       .module = "linalg"},
      {.schema = "linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)",
       .dims = "... i~ j~ -> ... k~, ... i~ k~",
       .composite = composite<eig>,
       .doc = R"(The complex eigenvalues of square matrices, in no order, and eigenvectors of norm 1 as columns.

Args:
    self: (*, n, n), float32, float64, complex64 or complex128

Raises:
    LinAlgError: the iteration did not converge, or an element is not finite

>>> lamella.linalg.eig(lamella.tensor([[0., -1.], [1., 0.]])).eigenvalues
tensor([0.+1.j, 0.-1.j])
)",
       .module = "linalg"},
      {.schema = "linalg_eigvals(Tensor self) -> Tensor",
       .dims = "... i~ j~ -> ... k~",
       .composite = composite<eigvals>,
       .doc = R"(The complex eigenvalues of square matrices, in no order.

>>> lamella.linalg.eigvals(lamella.tensor([[0., -1.], [1., 0.]]))
tensor([0.+1.j, 0.-1.j])
)",
       .module = "linalg"},
      {.schema =
           "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
       .dims = "... i~ j~ -> ... i~ k~, ... k~, ... k~ j~",
       .composite = composite<decomposed>,
       .doc = R"(The singular value decomposition A = U diag(S) Vh.

Args:
    A: (*, m, n), float32, float64, complex64 or complex128
    full_matrices: U of shape (*, m, m) and Vh of shape (*, n, n); without it, (*, m, k) and (*, k, n), k = min(m, n)
    driver: a device with several algorithms chooses by it; None on others

Returns:
    U and Vh with orthonormal columns and rows, and real S of shape (*, k) in descending order

Raises:
    LinAlgError: the iteration did not converge, or an element is not finite

>>> lamella.linalg.svd(lamella.tensor([[3., 0.], [0., 4.]])).S
tensor([4., 3.])
)",
       .module = "linalg"},
      {.schema = "linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor",
       .dims = "... i~ j~ -> ... k~",
       .composite = composite<svdvals>,
       .doc = R"(The singular values in descending order.

>>> lamella.linalg.svdvals(lamella.tensor([[3., 0.], [0., 4.]]))
tensor([4., 3.])
)",
       .module = "linalg"},
      {.schema = "svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
       .dims = "... i~ j~ -> ... i~ k~, ... k~, ... j~ k~",
       .forms = everywhere | out,
       .composite = composite<svd>,
       .doc = R"(linalg.svd(), but V is not transposed, `some` is the opposite of `full_matrices`, and U and V are zeros
without `compute_uv`.

>>> lamella.svd(lamella.tensor([[3., 0.], [0., 4.]])).S
tensor([4., 3.])
)"},
      {.schema = "qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)",
       .dims = "... i~ j~ -> ... i~ k~, ... k~ j~",
       .forms = everywhere | out,
       .composite = composite<qr>,
       .doc = R"(linalg.qr(), reduced if `some`, else complete.

>>> lamella.qr(lamella.tensor([[3., 1.], [4., 2.]])).R
tensor([[-5.0000, -2.2000],
        [ 0.0000,  0.4000]])
)"},
      {.schema = "_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
       .dims = "... i~ j~ -> ..., ... i~ j~, ... k~",
       .forms = hidden,
       .composite = composite<det_by_factors>,
       .doc = "linalg.det(), with the factors that its derivative uses."},
      {.schema = "linalg_det(Tensor A) -> Tensor",
       .dims = "... i~ j~ -> ...",
       .composite = composite<det>,
       .doc = R"(The determinants of square matrices.

>>> lamella.linalg.det(lamella.tensor([[1., 2.], [3., 4.]]))
tensor(-2.0000)
)",
       .module = "linalg"},
      {.schema = "det(Tensor self) -> Tensor",
       .dims = "... i~ j~ -> ...",
       .forms = everywhere,
       .composite = composite<det>,
       .doc = R"(linalg.det().

>>> lamella.det(lamella.tensor([[2., 1.], [0., 3.]]))
tensor(6.)
)"},
      {.schema = "_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
       .dims = "... i~ j~ -> ..., ..., ... i~ j~, ... k~",
       .forms = hidden,
       .composite = composite<slogdet_by_factors>,
       .doc = "linalg.slogdet(), with the factors that its derivative uses."},
      {.schema = "linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
       .dims = "... i~ j~ -> ..., ...",
       .composite = composite<sign_and_size>,
       .doc = R"(The signs of determinants (complex numbers of size 1 for complex matrices), and the logarithms of their
sizes. A singular matrix has sign 0 and -inf.

>>> lamella.linalg.slogdet(lamella.tensor([[1., 2.], [3., 4.]])).sign
tensor(-1.)
)",
       .module = "linalg"},
      {.schema = "slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)",
       .dims = "... i~ j~ -> ..., ...",
       .forms = everywhere | out,
       .composite = composite<sign_and_size>,
       .doc = R"(linalg.slogdet().

>>> lamella.slogdet(lamella.tensor([[2., 0.], [0., -1.]])).logabsdet
tensor(0.6931)
)"},
      {.schema = "logdet(Tensor self) -> Tensor",
       .dims = "... i~ j~ -> ...",
       .forms = everywhere,
       .composite = composite<logdet>,
       .doc = R"(The logarithm of the determinant: -inf if it is 0, NaN if it is negative.

>>> lamella.logdet(lamella.tensor([[1., 0.], [0., 1.]]))
tensor(0.)
)"},
      {.schema = "linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool "
                 "hermitian=False) -> Tensor",
       .dims = "... i~ j~, ..., ... -> ...",
       .infer = shape<infer_rank>,
       .composite = composite<rank>,
       .doc = R"(The number of singular values above max(atol, rtol * the largest).

Args:
    atol: the absolute bound; 0 by default
    rtol: the relative bound; by default the dtype's epsilon times max(m, n), or 0 if atol is above 0
    hermitian: take the sizes of eigenvalues, which are cheaper

>>> lamella.linalg.matrix_rank(lamella.tensor([[1., 2.], [2., 4.]]))
tensor(1)
)",
       .module = "linalg"},
      {.schema = "linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool "
                 "hermitian=False) -> Tensor",
       .dims = "... i~ j~ -> ...",
       .infer = shape<infer_rank_by_numbers>,
       .composite = composite<rank_by_numbers>,
       .module = "linalg"},
      {.schema = "linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor",
       .dims = "... i~ j~ -> ...",
       .infer = shape<infer_rank_by_tol>,
       .composite = composite<rank_by_tol>,
       .module = "linalg"},
      {.schema = "linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor",
       .dims = "... i~ j~, ... -> ...",
       .infer = shape<infer_rank_by_tensor>,
       .composite = composite<rank_by_tensor>,
       .module = "linalg"},
      {.schema = "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool "
                 "hermitian=False) -> Tensor",
       .dims = "... i~ j~, ..., ... -> ... j~ i~",
       .composite = composite<pinv>,
       .doc = R"(The pseudoinverse of Moore and Penrose, (*, n, m) for matrices (*, m, n). Singular values up to
max(atol, rtol * the largest) count as 0.

Args:
    atol: the absolute bound; 0 by default
    rtol: the relative bound; by default the dtype's epsilon times max(m, n), or 0 if atol is above 0
    hermitian: take the matrices for Hermitian, which is cheaper

>>> lamella.linalg.pinv(lamella.tensor([[2., 0.], [0., 0.]]))
tensor([[0.5000, 0.0000],
        [0.0000, 0.0000]])
)",
       .module = "linalg"},
      {.schema =
           "linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) "
           "-> Tensor",
       .dims = "... i~ j~ -> ... j~ i~",
       .composite = composite<pinv_by_numbers>,
       .module = "linalg"},
      {.schema = "linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor",
       .dims = "... i~ j~ -> ... j~ i~",
       .composite = composite<pinv_by_rcond>,
       .module = "linalg"},
      {.schema = "linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor",
       .dims = "... i~ j~, ... -> ... j~ i~",
       .composite = composite<pinv_by_tensor>,
       .module = "linalg"},
      {.schema = "pinverse(Tensor self, float rcond=1e-15) -> Tensor",
       .dims = "... i~ j~ -> ... j~ i~",
       .forms = everywhere,
       .composite = composite<pinverse>,
       .doc = R"(linalg.pinv() with a relative bound.

>>> lamella.pinverse(lamella.tensor([[2., 0.], [0., 0.]]))
tensor([[0.5000, 0.0000],
        [0.0000, 0.0000]])
)"},
  };
}

}  // namespace lamella::operators
