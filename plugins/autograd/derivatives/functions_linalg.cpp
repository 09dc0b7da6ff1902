// Composites that the derivatives of factorizations and solvers call. In their comments G is the gradient of a result,
// so that the loss changes by Re tr(Gᴴ dX).
#include <algorithm>

#include "derivatives/functions_linalg.h"

namespace lamella::autograd {
namespace {

// ---- Cholesky -------------------------------------------------------------------------------------------------------

// A = LLᴴ gives dL = L φ(L⁻¹ dA L⁻ᴴ), where φ takes the lower triangle with half the diagonal (Murray 2016,
// "Differentiation of the Cholesky decomposition"). The gradient is that of a Hermitian A.
Tensor cholesky_backward(const Tensor& grad, const Tensor& factor, bool upper) {
  const Tensor l = upper ? adjoint_of(factor) : factor, g = upper ? adjoint_of(grad) : grad;
  const Tensor inner = hermitian_of(adjoint_of(l).matmul(g).tril()) * 0.5;
  return right_solved(l, left_solved(adjoint_of(l), inner, true), false);
}

// ---- LU -------------------------------------------------------------------------------------------------------------

// The order comes from _linalg_permutation(): row i of LU is row order[i] of A.
Tensor places_of(const Tensor& order, const Tensor& t) { return order.unsqueeze(-1).expand(t.sizes()); }
// Returns PX, and PᵀX.
Tensor exchanged(const Tensor& order, const Tensor& t) { return zeros_like(t).scatter(-2, places_of(order, t), t); }
Tensor exchanged_back(const Tensor& order, const Tensor& t) { return t.gather(-2, places_of(order, t)); }

// The factors of A = PLU lie in one matrix, the unit diagonal of L not among them, and so do their gradients. With k
// the smaller size, the first k rows and columns give gA = P L⁻ᴴ (tril₋₁(Lᴴ gL) + triu(gU Uᴴ)) U⁻ᴴ. The other columns
// of U are L⁻¹Pᵀ times those of A, and the other rows of L are those of PᵀA times U⁻¹, from which their parts follow.
Tensor lu_backward(const Tensor& grad, const Tensor& factors, const Tensor& pivots) {
  const int64_t m = factors.size(-2), n = factors.size(-1), k = std::min(m, n);
  const Tensor square = factors.narrow(-2, 0, k).narrow(-1, 0, k), g = grad.narrow(-2, 0, k).narrow(-1, 0, k);
  const Tensor other = adjoint_of(square);
  const Tensor l = square.tril(-1) + identity_of(k, square), u = square.triu();
  Tensor of_l = adjoint_of(l).matmul(g.tril(-1)), of_u = g.triu().matmul(adjoint_of(u));
  if (n > m) of_l = of_l - grad.narrow(-1, k, n - k).matmul(adjoint_of(factors.narrow(-1, k, n - k)));
  if (m > n) of_u = of_u - adjoint_of(factors.narrow(-2, k, m - k)).matmul(grad.narrow(-2, k, m - k));
  Tensor whole = right_solved(other, left_solved(other, of_l.tril(-1) + of_u.triu(), true, true), false);
  if (n > m) whole = cat({whole, left_solved(other, grad.narrow(-1, k, n - k), true, true)}, -1);
  if (m > n) whole = cat({whole, right_solved(other, grad.narrow(-2, k, m - k), false)}, -2);
  return exchanged(_linalg_permutation(pivots, m), whole);
}

// X solves AX = B, XA = B, or the same with Aᴴ. The gradient of B is the solution with the adjoint; that of A is -gB Xᴴ
// or its like, and reaches L and U through dA = P(dL U + L dU).
std::tuple<Tensor, Tensor> lu_solve_backward(const Tensor& grad, const Tensor& factors, const Tensor& pivots,
                                             const Tensor& x, bool left, bool adjoint, ArrayRef<bool> mask) {
  const Tensor of_b = _linalg_lu_solve(factors, pivots, grad, left, !adjoint);
  if (!mask[0]) return {Tensor(), of_b};
  const Tensor order = _linalg_permutation(pivots, factors.size(-1));
  const Tensor first = left ? (adjoint ? x : of_b) : adjoint_of(adjoint ? of_b : x);
  const Tensor second = left ? adjoint_of(adjoint ? of_b : x) : (adjoint ? x : of_b);
  const Tensor of_a = -exchanged_back(order, first).matmul(second);
  const Tensor l = factors.tril(-1) + identity_of(factors.size(-1), factors), u = factors.triu();
  return {of_a.matmul(adjoint_of(u)).tril(-1) + adjoint_of(l).matmul(of_a).triu(), of_b};
}

// The second derivative of a solution goes through the factors, so that they have a gradient as well.
std::tuple<Tensor, Tensor> solve_backward(const Tensor& grad, const Tensor& grad_factors, const Tensor& x,
                                          const Tensor& factors, const Tensor& pivots, bool left, ArrayRef<bool> mask) {
  Tensor of_a, of_b;
  if (grad.defined()) {
    of_b = _linalg_lu_solve(factors, pivots, grad, left, true);
    if (mask[0]) of_a = -(left ? of_b.matmul(adjoint_of(x)) : adjoint_of(x).matmul(of_b));
  }
  if (mask[0] && grad_factors.defined()) of_a = sum_of(of_a, lu_backward(grad_factors, factors, pivots));
  return {of_a, of_b};
}

std::tuple<Tensor, Tensor> triangular_backward(const Tensor& grad, const Tensor& a, const Tensor& x, bool upper,
                                               bool left, bool unitriangular, ArrayRef<bool> mask) {
  const Tensor of_b = _linalg_triangular(adjoint_of(a), grad, !upper, left, unitriangular);
  if (!mask[0]) return {Tensor(), of_b};
  const Tensor of_a = -(left ? of_b.matmul(adjoint_of(x)) : adjoint_of(x).matmul(of_b));
  return {upper ? of_a.triu(unitriangular) : of_a.tril(unitriangular ? -1 : 0), of_b};
}

Tensor ldl_solve_backward(const Tensor& grad, const Tensor& factors, const Tensor& pivots, bool hermitian) {
  if (hermitian || !grad.is_complex()) return _linalg_ldl_solve(factors, pivots, grad, hermitian);
  return conj(_linalg_ldl_solve(factors, pivots, conj(grad), false));  // A = Aᵀ, so that Aᴴ is its conjugate
}

// ---- determinants ---------------------------------------------------------------------------------------------------

// Returns the determinant of a unitary matrix.
Tensor unit_determinant(const Tensor& t) {
  const auto [factors, pivots, info] = _linalg_lu(t, true);
  const Tensor exchanges = pivots != arange(1, pivots.size(-1) + 1, pivots.options());
  const Tensor sign = 1 - exchanges.sum(DimVector{-1}).remainder(2) * 2;
  return diagonal_of(factors).prod(-1) * sign;
}

// The adjoint of the adjugate, whose element (i, j) is the conjugate of det's derivative by element (i, j), through
// A = USVᴴ: it is conj(det U det Vᴴ) U adj(S) Vᴴ, which also holds where singular values are zero.
struct Adjugate {
  Tensor u, s, vh, phase;

  explicit Adjugate(const Tensor& a) {
    Tensor info;
    std::tie(u, s, vh, info) = _linalg_svd(a, false, true);
    phase = (unit_determinant(u) * unit_determinant(vh)).unsqueeze(-1).unsqueeze(-1);
  }
  // Returns for each i the product of the singular values but that with the index i.
  Tensor others() const {
    const int64_t n = s.size(-1);
    const Tensor own = eye(n, s.options()).to(kBool);
    return where(own, 1, s.unsqueeze(-2)).prod(-1);
  }
  // Returns for each i and j the product of the singular values but those two; zero on the diagonal.
  Tensor others_of_pairs() const {
    const int64_t n = s.size(-1);
    const Tensor own = eye(n, s.options()).to(kBool);
    const Tensor pair = own.unsqueeze(0).logical_or(own.unsqueeze(1));
    return without_diagonal(where(pair, 1, s.unsqueeze(-2).unsqueeze(-2)).prod(-1));
  }
};

Tensor adjugate(const Tensor& a) {
  const Adjugate of(a);
  return conj_if_complex(of.phase) * (of.u * of.others().unsqueeze(-2)).matmul(of.vh);
}

// The derivative of the adjugate, in the bases U and V: off the diagonal the cofactor (i, j) of S + E changes by
// -E(j, i) times the other singular values, and on it by the sum of E(j, j) times the others than i and j. Its own
// derivative, the third of the determinant, goes through the singular vectors, which must be determined.
Tensor adjugate_backward(const Tensor& grad, const Tensor& a) {
  const Adjugate of(a);
  const Tensor pairs = of.others_of_pairs();
  const Tensor g = of.phase * adjoint_of(of.u).matmul(grad).matmul(adjoint_of(of.vh));
  const Tensor along = (pairs * conj_if_complex(diagonal_of(g)).unsqueeze(-2)).sum(DimVector{-1});
  return of.u.matmul(diag_embed(along) - pairs * adjoint_of(g)).matmul(of.vh);
}

Tensor adjugate_of(const Tensor& a) {
  static detail::Callee op{"autograd::_adjugate", ""};
  const lamella_value args[] = {detail::as<const Tensor&>(a)};
  return op.tensor(args);
}

bool has_zero(const Tensor& t) {
  return !t.is_meta() && t.numel() > 0 && (t == 0).any().item<bool>();  // one wait on a device
}

// det A · A⁻ᴴ by the factors; where a determinant is zero, by the adjugate.
Tensor det_backward(const Tensor& grad, const Tensor& grad_factors, const Tensor& a, const Tensor& det,
                    const Tensor& factors, const Tensor& pivots) {
  Tensor out;
  if (grad.defined() && has_zero(det)) {
    out = grad.unsqueeze(-1).unsqueeze(-1) * adjugate_of(a);
  } else if (grad.defined()) {
    DimVector sizes(a.sizes());
    sizes.pop_back();
    const Tensor each = (grad * conj_if_complex(det)).unsqueeze(-1).expand(sizes);
    out = _linalg_lu_solve(factors, pivots, diag_embed(each), true, true);
  }
  return grad_factors.defined() ? sum_of(out, lu_backward(grad_factors, factors, pivots)) : out;
}

// d log det A = tr(A⁻¹ dA): its real part is that of logabsdet, its imaginary part turns the sign of a complex one.
Tensor slogdet_backward(const Tensor& grad_sign, const Tensor& grad_log, const Tensor& grad_factors, const Tensor& sign,
                        const Tensor& factors, const Tensor& pivots) {
  Tensor slope = grad_log;
  if (grad_sign.defined() && sign.is_complex()) {
    const Tensor turn = imag(conj(grad_sign) * sign);
    slope = complex(grad_log.defined() ? grad_log : zeros_like(turn), -turn);
  }
  Tensor out;
  if (slope.defined()) {
    DimVector sizes(factors.sizes());
    sizes.pop_back();
    const Tensor each = slope.to(factors.dtype()).unsqueeze(-1).expand(sizes);
    out = _linalg_lu_solve(factors, pivots, diag_embed(each), true, true);
  }
  if (grad_factors.defined()) return sum_of(out, lu_backward(grad_factors, factors, pivots));
  return out.defined() ? out : zeros_like(factors);
}

// ---- the exponential ------------------------------------------------------------------------------------------------

// The derivative of exp at Aᴴ in the direction G stands in the upper right block of exp([[Aᴴ, G], [0, Aᴴ]]) (Mathias
// 1996, "A chain rule for matrix functions and applications").
Tensor matrix_exp_backward(const Tensor& grad, const Tensor& self) {
  const int64_t n = self.size(-1);
  const Tensor a = adjoint_of(self);
  const Tensor blocks = cat({cat({a, grad}, -1), cat({zeros_like(a), a}, -1)}, -2);
  return linalg_matrix_exp(blocks).narrow(-2, 0, n).narrow(-1, n, n);
}

}  // namespace

LAMELLA_LIBRARY_FRAGMENT(autograd, m) {
  composite<cholesky_backward>(m, "_cholesky_backward(Tensor grad, Tensor L, bool upper) -> Tensor");
  composite<lu_backward>(m, "_lu_backward(Tensor grad, Tensor LU, Tensor pivots) -> Tensor");
  composite<lu_solve_backward>(m,
                               "_lu_solve_backward(Tensor grad, Tensor LU, Tensor pivots, Tensor result, bool left, "
                               "bool adjoint, bool[] mask) -> (Tensor, Tensor)");
  composite<solve_backward>(m,
                            "_solve_backward(Tensor? grad, Tensor? grad_LU, Tensor result, Tensor LU, Tensor pivots, "
                            "bool left, bool[] mask) -> (Tensor, Tensor)");
  composite<triangular_backward>(m,
                                 "_triangular_backward(Tensor grad, Tensor A, Tensor result, bool upper, bool left, "
                                 "bool unitriangular, bool[] mask) -> (Tensor, Tensor)");
  composite<ldl_solve_backward>(m,
                                "_ldl_solve_backward(Tensor grad, Tensor LD, Tensor pivots, bool hermitian) -> Tensor");
  composite<adjugate>(m, "_adjugate(Tensor A) -> Tensor");
  composite<adjugate_backward>(m, "_adjugate_backward(Tensor grad, Tensor A) -> Tensor");
  composite<det_backward>(m,
                          "_det_backward(Tensor? grad, Tensor? grad_LU, Tensor A, Tensor det, Tensor LU, Tensor "
                          "pivots) -> Tensor");
  composite<slogdet_backward>(m,
                              "_slogdet_backward(Tensor? grad_sign, Tensor? grad_log, Tensor? grad_LU, Tensor sign, "
                              "Tensor LU, Tensor pivots) -> Tensor");
  composite<matrix_exp_backward>(m, "_matrix_exp_backward(Tensor grad, Tensor self) -> Tensor");
}

}  // namespace lamella::autograd
