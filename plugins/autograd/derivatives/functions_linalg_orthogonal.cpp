// Composites that the derivatives of QR and of Householder reflectors call.
#include <algorithm>

#include "derivatives/functions_linalg.h"

namespace lamella::autograd {
namespace {

// Reflectors H₁H₂…Hₖ with Hᵢ = I - τᵢvᵢvᵢᴴ as one product I - VTVᴴ, for any τ, also where the Hᵢ are not unitary: T is
// upper triangular with (I + DS)T = D, where D = diag(τ) and S is VᴴV above its diagonal (Schreiber and Van Loan 1989,
// "A storage-efficient WY representation for products of Householder transformations").
struct Reflectors {
  Tensor tau, v, s, ds, t;
  int64_t columns;

  Reflectors(const Tensor& vectors, const Tensor& factors) : tau(factors), columns(vectors.size(-1)) {
    const int64_t k = tau.size(-1);
    v = vectors.narrow(-1, 0, k).tril(-1) + eye(vectors.size(-2), k, vectors.options());
    s = adjoint_of(v).matmul(v).triu(1);
    ds = tau.unsqueeze(-1) * s;
    t = left_solved(ds, diag_embed(tau), true, true);
  }

  // Returns the gradients of the vectors and of τ. The arguments are GV and GᴴV, where G is the gradient of the
  // product.
  std::tuple<Tensor, Tensor> backward(const Tensor& gv, const Tensor& ghv) const {
    const Tensor y = left_solved(adjoint_of(ds), -adjoint_of(v).matmul(gv), false, true);
    const Tensor of_ds = -y.matmul(adjoint_of(t)).triu(1);
    const Tensor of_tau = diagonal_of(y) + (of_ds * conj_if_complex(s)).sum(DimVector{-1});
    const Tensor of_s = conj_if_complex(tau).unsqueeze(-1) * of_ds;
    const Tensor of_v = v.matmul(of_s + adjoint_of(of_s)) - gv.matmul(adjoint_of(t)) - ghv.matmul(t);
    return {constant_pad_nd(of_v.tril(-1), {0, columns - tau.size(-1)}), of_tau};
  }
};

// The result is the product's first n columns, so that G has zeros in the others.
std::tuple<Tensor, Tensor> householder_backward(const Tensor& grad, const Tensor& input, const Tensor& tau) {
  const Reflectors r(input, tau);
  const int64_t m = input.size(-2), n = input.size(-1);
  const Tensor gv = grad.matmul(r.v.narrow(-2, 0, n));
  return r.backward(gv, constant_pad_nd(adjoint_of(grad).matmul(r.v), {0, 0, 0, m - n}));
}

// The gradient of the product is abᴴ with two factors, which are the gradient of the result and `other`.
std::tuple<Tensor, Tensor, Tensor> ormqr_backward(const Tensor& grad, const Tensor& self, const Tensor& tau,
                                                  const Tensor& other, bool left, bool transpose, ArrayRef<bool> mask) {
  std::tuple<Tensor, Tensor, Tensor> out;
  if (mask[2]) std::get<2>(out) = ormqr(self, tau, grad, left, !transpose);
  if (!mask[0] && !mask[1]) return out;
  const Reflectors r(self, tau);
  const Tensor g = left ? grad : adjoint_of(grad), c = left ? other : adjoint_of(other);
  const bool first_is_g = left != transpose;
  const Tensor &a = first_is_g ? g : c, &b = first_is_g ? c : g;
  std::tie(std::get<0>(out), std::get<1>(out)) =
      r.backward(a.matmul(adjoint_of(b).matmul(r.v)), b.matmul(adjoint_of(a).matmul(r.v)));
  return out;
}

// gA = (gQ + Q h(triu(gR Rᴴ - Qᴴ gQ))) R⁻ᴴ for a square R, where h completes a triangle to a Hermitian matrix.
Tensor square_qr_backward(const Tensor& grad_q, const Tensor& grad_r, const Tensor& q, const Tensor& r) {
  Tensor inner;
  if (grad_r.defined()) inner = grad_r.matmul(adjoint_of(r));
  if (grad_q.defined()) inner = sum_of(inner, -adjoint_of(q).matmul(grad_q));
  const Tensor through = q.matmul(hermitian_of(inner.triu()));
  return right_solved(adjoint_of(r), sum_of(grad_q, through), false);
}

// For a wide matrix (X, Y) with a square X, Q and U are the factors of X, and R is (U, QᴴY).
Tensor qr_backward(const Tensor& grad_q, const Tensor& grad_r, const Tensor& q, const Tensor& r,
                   std::string_view mode) {
  LAMELLA_CHECK(mode != "r",
                "linalg_qr: with mode='r' there is no Q, from which the gradient follows; call it with "
                "mode='reduced'");
  const int64_t m = q.size(-2), n = r.size(-1);
  LAMELLA_CHECK(mode != "complete" || m <= n,
                "linalg_qr: has no gradient with mode='complete' for more rows than "
                "columns, got ",
                m, " by ", n,
                ", since the further columns of Q are "
                "arbitrary; use mode='reduced'");
  if (!grad_q.defined() && !grad_r.defined()) return Tensor();
  if (m >= n) return square_qr_backward(grad_q, grad_r, q, r);
  const Tensor u = r.narrow(-1, 0, m), rest = r.narrow(-1, m, n - m);
  if (!grad_r.defined()) {
    const Tensor of_x = square_qr_backward(grad_q, Tensor(), q, u);
    return constant_pad_nd(of_x, {0, n - m});
  }
  const Tensor of_rest = grad_r.narrow(-1, m, n - m), y = q.matmul(rest);
  const Tensor of_q = sum_of(grad_q, y.matmul(adjoint_of(of_rest)));
  return cat({square_qr_backward(of_q, grad_r.narrow(-1, 0, m), q, u), q.matmul(of_rest)}, -1);
}

}  // namespace

LAMELLA_LIBRARY_FRAGMENT(autograd, m) {
  composite<householder_backward>(m,
                                  "_householder_backward(Tensor grad, Tensor input, Tensor tau) -> (Tensor, Tensor)");
  composite<ormqr_backward>(m,
                            "_ormqr_backward(Tensor grad, Tensor self, Tensor tau, Tensor other, bool left, bool "
                            "transpose, bool[] mask) -> (Tensor, Tensor, Tensor)");
  composite<qr_backward>(m, "_qr_backward(Tensor? grad_Q, Tensor? grad_R, Tensor Q, Tensor R, str mode) -> Tensor");
}

}  // namespace lamella::autograd
