// The derivatives of linear algebra. The public operators are composites over these and follow from them.
#include "derivatives/derivatives.h"

namespace lamella::autograd {
namespace {

constexpr Line factorizations[] = {
    {"_linalg_cholesky", "self: _cholesky_backward(grad0, L, upper)"},
    {"_linalg_lu", "self: _lu_backward(grad0, LU, pivots)"},
    {"_linalg_lu_solve", "LU, B: _lu_solve_backward(grad, LU, pivots, result, left, adjoint, mask)"},
    {"_linalg_solve", "A, B: _solve_backward(grad0, grad1, result, LU, pivots, left, mask)"},
    {"_linalg_triangular", "A, B: _triangular_backward(grad, A, result, upper, left, unitriangular, mask)"},
    {"_linalg_ldl_solve", "B: _ldl_solve_backward(grad, LD, pivots, hermitian)"},
    {"linalg_householder_product", "input, tau: _householder_backward(grad, input, tau)"},
    {"ormqr", "self, tau, other: _ormqr_backward(grad, self, tau, other, left, transpose, mask)"},
    {"linalg_qr", "A: _qr_backward(grad0, grad1, Q, R, mode)"}};

constexpr Line values[] = {
    {"_linalg_eigh", "A: _eigh_backward(grad0, grad1, A, eigenvalues, eigenvectors, UPLO, compute_v)"},
    {"_linalg_eig", "self: _eig_backward(grad0, grad1, self, eigenvalues, eigenvectors, compute_v)"},
    {"_linalg_svd", "A: _svd_backward(grad0, grad1, grad2, A, U, S, Vh, full_matrices, compute_uv)"},
    {"_linalg_lstsq", "A, B: _lstsq_backward(grad0, grad2, A, B, solution, rcond, mask)"},
    {"autograd::_pseudoinverse", "A: _pinv_backward(grad, result, A)"},
    // Through the singular values the gradient would divide by differences of equal ones.
    {"linalg_pinv.atol_rtol_tensor", "self: _pinv_backward(grad, result, self)"}};

constexpr Line determinants[] = {{"_linalg_det", "A: _det_backward(grad0, grad1, A, result, LU, pivots)"},
                                 {"_linalg_slogdet", "A: _slogdet_backward(grad0, grad1, grad2, sign, LU, pivots)"},
                                 {"autograd::_adjugate", "A: _adjugate_backward(grad, A)"},
                                 {"linalg_matrix_exp", "self: _matrix_exp_backward(grad, self)"}};

}  // namespace

LAMELLA_LIBRARY_FRAGMENT(autograd, m) {
  add_derivatives(m, factorizations);
  add_derivatives(m, values);
  add_derivatives(m, determinants);
}

}  // namespace lamella::autograd
