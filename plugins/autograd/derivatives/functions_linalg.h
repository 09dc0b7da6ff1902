// Functions that derivatives of linear algebra share. The last two dimensions of a tensor are those of its matrices.
#pragma once

#include "derivatives/functions.h"

namespace lamella::autograd {

// Transposes the matrices and conjugates complex ones.
inline Tensor adjoint_of(const Tensor& t) { return conj_if_complex(t.transpose(-2, -1)); }

inline Tensor diagonal_of(const Tensor& t) { return t.diagonal(0, -2, -1); }

inline Tensor real_of(const Tensor& t) { return t.is_complex() ? real(t) : t; }

inline Tensor identity_of(int64_t n, const Tensor& like) { return eye(n, like.options()); }

// Sets the diagonal to zero.
inline Tensor without_diagonal(const Tensor& t) { return t.tril(-1) + t.triu(1); }

// Returns X + Xᴴ of a triangular X, with the diagonal's real part counted once.
inline Tensor hermitian_of(const Tensor& t) { return t + adjoint_of(t) - diag_embed(real_of(diagonal_of(t))); }

// Adds two gradients, either of which may be undefined.
inline Tensor sum_of(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() ? a + b : a.defined() ? a : b;
}

// Solves with the triangle of `a` on the left of X, or on its right.
inline Tensor left_solved(const Tensor& a, const Tensor& b, bool upper, bool unit = false) {
  return _linalg_triangular(a, b, upper, true, unit);
}
inline Tensor right_solved(const Tensor& a, const Tensor& b, bool upper, bool unit = false) {
  return _linalg_triangular(a, b, upper, false, unit);
}

// Raises if a gradient depends on the phases of vectors, which are arbitrary in complex decompositions: then the
// imaginary part that belongs to a change of phase, `slope`, is not zero. `function` names the operator.
void check_phase(const Tensor& slope, const char* function, const char* vectors);

// Divides by differences that stand off the diagonal, whose diagonal is zero.
inline Tensor divided_off_diagonal(const Tensor& t, const Tensor& differences) {
  return without_diagonal(t / (differences + identity_of(t.size(-1), differences)));
}

}  // namespace lamella::autograd
