// Composites that the derivatives of eigenvalues, singular values and least squares call. Gradients of vectors divide
// by differences of values, and are infinite or NaN where two of these are equal.
#include "derivatives/functions_linalg.h"

namespace lamella::autograd {

void check_phase(const Tensor& slope, const char* function, const char* vectors) {
  if (slope.is_meta() || slope.numel() == 0) return;
  const double most = slope.abs().max().item<double>();  // one wait on a device
  LAMELLA_CHECK(!(most > 1e-2), function, ": the loss depends on the phases of ", vectors,
                ", its derivative by them is ", most,
                ", but a decomposition of complex matrices determines them only up to factors of absolute value 1; "
                "write a loss that such factors do not change");
}

namespace {

// ---- eigenvalues ----------------------------------------------------------------------------------------------------

// Returns twice the skew-Hermitian part.
Tensor skew_of(const Tensor& t) { return t - adjoint_of(t); }

// gA = V (diag(gλ) + ½ sk(Vᴴ gV) / E) Vᴴ with sk(X) = X - Xᴴ and E(i, j) = λⱼ - λᵢ, which is Hermitian (Giles 2008, "An
// extended collection of matrix derivative results for forward and reverse mode algorithmic differentiation").
Tensor eigh_backward(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& a, const Tensor& values,
                     const Tensor& vectors, std::string_view triangle, bool has_vectors) {
  const bool by_vectors = has_vectors && grad_vectors.defined();
  if (a.numel() == 0 || (!grad_values.defined() && !by_vectors)) return zeros_like(a);
  const Tensor v = has_vectors ? vectors : std::get<1>(_linalg_eigh(a, triangle, true));
  if (!by_vectors) return (v * grad_values.unsqueeze(-2)).matmul(adjoint_of(v));
  Tensor inner = adjoint_of(v).matmul(grad_vectors);
  if (inner.is_complex()) check_phase(imag(diagonal_of(inner)), "linalg_eigh", "eigenvectors");
  inner = divided_off_diagonal(skew_of(inner), (values.unsqueeze(-2) - values.unsqueeze(-1)) * 2);
  if (grad_values.defined()) inner = inner + diag_embed(grad_values);
  return v.matmul(inner).matmul(adjoint_of(v));
}

// Returns the gradient in the order of `others`, which are the same eigenvalues in another order.
Tensor in_the_order_of(const Tensor& others, const Tensor& values, const Tensor& grad) {
  const Tensor nearest = (others.unsqueeze(-1) - values.unsqueeze(-2)).abs().argmin(-1);
  return grad.gather(-1, nearest);
}

// gA = V⁻ᴴ (diag(gλ) + (Vᴴ gV - VᴴV Re diag(Vᴴ gV)) / conj(E)) Vᴴ: the subtrahend belongs to vectors of norm 1.
Tensor eig_backward(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& a, const Tensor& values,
                    const Tensor& vectors, bool has_vectors) {
  const bool by_vectors = has_vectors && grad_vectors.defined();
  if (a.numel() == 0 || (!grad_values.defined() && !by_vectors)) return zeros_like(a);
  Tensor v = vectors, of_values = grad_values;
  if (!has_vectors) {
    const auto [again, made, info] = _linalg_eig(a, true);
    v = made;
    of_values = in_the_order_of(again, values, grad_values);
  }
  const Tensor vh = adjoint_of(v);
  Tensor inner;
  if (by_vectors) {
    const Tensor along = vh.matmul(grad_vectors), diagonal = diagonal_of(along);
    check_phase(imag(diagonal), "linalg_eig", "eigenvectors");
    const Tensor differences = conj(values.unsqueeze(-2) - values.unsqueeze(-1));
    inner = divided_off_diagonal(along - vh.matmul(v * real(diagonal).unsqueeze(-2)), differences);
  }
  if (of_values.defined()) inner = sum_of(inner, diag_embed(of_values));
  const Tensor out = std::get<0>(_linalg_solve(vh, inner.matmul(vh), true));
  return a.is_complex() ? out : real(out);
}

// ---- singular values ------------------------------------------------------------------------------------------------

// gA = U (sk(Uᴴ gU) / E · S + S · sk(Vᴴ gV) / E + diag(gS)) Vᴴ with sk(X) = X - Xᴴ and E(i, j) = sⱼ² - sᵢ², and with
// the parts of gU and gV that are orthogonal to U and V, divided by S (Townsend 2016, "Differentiating the singular
// value decomposition"). Complex vectors are determined up to one phase for both, which adds to the diagonal. Columns
// of U and V beyond the smaller size are an arbitrary basis, whose gradient is left out.
Tensor svd_backward(const Tensor& grad_u, const Tensor& grad_s, const Tensor& grad_vh, const Tensor& a,
                    const Tensor& u_given, const Tensor& s, const Tensor& vh_given, bool full, bool has_vectors) {
  if (a.numel() == 0 || (!grad_u.defined() && !grad_s.defined() && !grad_vh.defined())) return zeros_like(a);
  const int64_t k = s.size(-1);
  Tensor u = u_given, vh = vh_given, gu = grad_u, gvh = grad_vh;
  if (!has_vectors) {
    const auto made = _linalg_svd(a, false, true);
    u = std::get<0>(made);
    vh = std::get<2>(made);
    gu = gvh = Tensor();
  } else if (full) {
    u = u.narrow(-1, 0, k);
    vh = vh.narrow(-2, 0, k);
    if (gu.defined()) gu = gu.narrow(-1, 0, k);
    if (gvh.defined()) gvh = gvh.narrow(-2, 0, k);
  }
  if (!gu.defined() && !gvh.defined()) return grad_s.defined() ? (u * grad_s.unsqueeze(-2)).matmul(vh) : zeros_like(a);
  Tensor inner, of_u, of_v;
  if (gu.defined()) {
    of_u = skew_of(adjoint_of(u).matmul(gu));
    inner = of_u * s.unsqueeze(-2);
  }
  if (gvh.defined()) {
    of_v = skew_of(vh.matmul(adjoint_of(gvh)));
    inner = sum_of(inner, s.unsqueeze(-1) * of_v);
  }
  const Tensor phases = inner.is_complex() ? diagonal_of(sum_of(of_u, of_v)) : Tensor();
  if (phases.defined()) check_phase(imag(phases), "linalg_svd", "singular vectors");
  const Tensor squares = s * s;
  inner = divided_off_diagonal(inner, squares.unsqueeze(-2) - squares.unsqueeze(-1));
  if (grad_s.defined()) inner = inner + diag_embed(grad_s);
  if (phases.defined() && of_u.defined() && of_v.defined()) inner = inner + diag_embed(diagonal_of(of_u) / (s * 2));
  Tensor out = u.matmul(inner).matmul(vh);
  if (gu.defined() && u.size(-2) > k) {
    const Tensor rest = gu / s.unsqueeze(-2);
    out = out + (rest - u.matmul(adjoint_of(u).matmul(rest))).matmul(vh);
  }
  if (gvh.defined() && vh.size(-1) > k) {
    const Tensor rest = gvh / s.unsqueeze(-1);
    out = out + u.matmul(rest - rest.matmul(adjoint_of(vh)).matmul(vh));
  }
  return out;
}

// ---- pseudoinverses and least squares -------------------------------------------------------------------------------

// The pseudoinverse; singular values below `rcond` times the largest count as zero.
Tensor pseudoinverse(const Tensor& a, double rcond) {
  const auto [u, s, vh, info] = _linalg_svd(a, false, true);
  if (s.size(-1) == 0) return zeros_like(adjoint_of(a));
  const Tensor keeps = s > s.amax({-1}, true) * rcond;
  const Tensor inverse = where(keeps, 1 / where(keeps, s, 1), 0);
  return (adjoint_of(vh) * inverse.unsqueeze(-2)).matmul(adjoint_of(u));
}

Tensor pinv_of(const Tensor& a, double rcond) {
  static detail::Callee op{"autograd::_pseudoinverse", ""};
  const lamella_value args[] = {detail::as<const Tensor&>(a), detail::as<double>(rcond)};
  return op.tensor(args);
}

// dP = -P dA P + P Pᴴ dAᴴ (I - AP) + (I - PA) dAᴴ Pᴴ P while the rank stays (Golub and Pereyra 1973, "The
// differentiation of pseudo-inverses and nonlinear least squares problems whose variables separate").
Tensor pinv_backward(const Tensor& grad, const Tensor& p, const Tensor& a) {
  const Tensor g = adjoint_of(grad), ph = adjoint_of(p);
  const bool wide = a.size(-2) <= a.size(-1);
  const Tensor first = wide ? g.matmul(p).matmul(ph) : g.matmul(p.matmul(ph));
  const Tensor second = wide ? ph.matmul(p).matmul(g) : ph.matmul(p.matmul(g));
  return first - a.matmul(p.matmul(first)) + second - second.matmul(p).matmul(a) - ph.matmul(grad).matmul(ph);
}

// The solution X is PB, in the first n rows of the result. The rows after these have no gradient.
std::tuple<Tensor, Tensor> lstsq_backward(const Tensor& grad, const Tensor& grad_values, const Tensor& a,
                                          const Tensor& b, const Tensor& solution, double rcond, ArrayRef<bool> mask) {
  Tensor of_a, of_b;
  if (grad_values.defined() && grad_values.numel() > 0 && mask[0]) {
    const auto [u, s, vh, info] = _linalg_svd(a, false, true);
    of_a = (u * grad_values.unsqueeze(-2)).matmul(vh);
  }
  if (!grad.defined()) return {of_a, of_b};
  const int64_t n = a.size(-1);
  const Tensor g = grad.narrow(-2, 0, n), x = solution.narrow(-2, 0, n);
  const Tensor p = pinv_of(a, rcond), ph = adjoint_of(p);
  of_b = ph.matmul(g);
  if (!mask[0]) return {of_a, of_b};
  const Tensor through = (b - a.matmul(x)).matmul(adjoint_of(p.matmul(of_b))) - of_b.matmul(adjoint_of(x)) +
                         ph.matmul(x).matmul(adjoint_of(g - p.matmul(a.matmul(g))));
  return {sum_of(of_a, through), of_b};
}

}  // namespace

LAMELLA_LIBRARY_FRAGMENT(autograd, m) {
  composite<eigh_backward>(m,
                           "_eigh_backward(Tensor? grad_values, Tensor? grad_vectors, Tensor A, Tensor values, Tensor "
                           "vectors, str UPLO, bool compute_v) -> Tensor");
  composite<eig_backward>(m,
                          "_eig_backward(Tensor? grad_values, Tensor? grad_vectors, Tensor A, Tensor values, Tensor "
                          "vectors, bool compute_v) -> Tensor");
  composite<svd_backward>(m,
                          "_svd_backward(Tensor? grad_U, Tensor? grad_S, Tensor? grad_Vh, Tensor A, Tensor U, Tensor "
                          "S, Tensor Vh, bool full_matrices, bool compute_uv) -> Tensor");
  composite<pseudoinverse>(m, "_pseudoinverse(Tensor A, float rcond) -> Tensor");
  composite<pinv_backward>(m, "_pinv_backward(Tensor grad, Tensor result, Tensor A) -> Tensor");
  composite<lstsq_backward>(m,
                            "_lstsq_backward(Tensor? grad, Tensor? grad_values, Tensor A, Tensor B, Tensor "
                            "solution, float rcond, bool[] mask) -> (Tensor, Tensor)");
}

}  // namespace lamella::autograd
