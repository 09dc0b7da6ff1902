// Common parts of the operators of linear algebra: checks of matrices, and the shapes and layouts of results.
#pragma once

#include "operators/shapes.h"

namespace lamella::operators {

// Raises unless `t` has at least two dimensions; the last two are those of the matrices.
void check_matrices(const char* name, const Tensor& t);
// Raises unless the matrices are square, too.
void check_square(const char* name, const Tensor& t);
// Raises unless the dtype is one that factorizations compute in: float32, float64, complex64 or complex128.
void check_factorable(const char* name, const Tensor& t);
void check_same_dtype(const char* name, const Tensor& t, const char* other_name, const Tensor& other);

// Returns the sizes from one dimension up to another.
inline IntArrayRef part_of(IntArrayRef sizes, int64_t from, int64_t to) {
  return {sizes.data() + from, static_cast<size_t>(to - from)};
}

inline int64_t rows_in(const Tensor& t) { return t.size(-2); }
inline int64_t columns_in(const Tensor& t) { return t.size(-1); }
// Returns the sizes of all dimensions but the last `matrix` ones.
DimVector batch_of(const Tensor& t, int64_t matrix = 2);
// Returns `batch` followed by `sizes`.
DimVector with(DimVector batch, IntArrayRef sizes);
// Returns the common sizes of two batches; raises if they do not broadcast.
DimVector common_batch(const char* name, const Tensor& t, const char* other_name, const Tensor& other,
                       int64_t other_matrix = 2);

// Describes a result whose matrices lie in column-major order, as LAPACK writes them.
void set_columns(Output& out, const DimVector& sizes, ScalarType dtype);
// Describes `info` of a factorization: a number for each matrix, 0 or LAPACK's number of the failure.
void set_info(Output& out, const DimVector& batch);

// The shape rules of the primitives, which the public operators share.
void infer_cholesky(const Tensor& self, bool upper, Output factor, Output info);
void infer_lu(const Tensor& self, bool pivot, Output factors, Output pivots, Output info);
void infer_ldl(const Tensor& self, bool hermitian, Output factors, Output pivots, Output info);

// Raises a LinAlgError if a number in `info` is not 0, by the operator `_linalg_check_errors`. `function` determines
// the text of the failure; the message also has the index of the matrix in the batch.
void check_info(const Tensor& info, std::string_view function);
// Registers the kind of errors LinAlgError, which is derived from RuntimeError.
void register_linalg_error(lamella_library* library);

// Transposes the matrices and conjugates complex ones.
inline Tensor adjoint_of(const Tensor& t) {
  const Tensor turned = t.transpose(-2, -1);
  return t.is_complex() ? turned.conj() : turned;
}

// The operands of AX = B with one batch, and B as a matrix.
struct LAMELLA_HIDDEN Sides {
  // `may_be_vector`: B may be one vector, or a vector for each matrix of A; without `left` it may not.
  Sides(const Tensor& a_given, const Tensor& b_given, bool left, bool may_be_vector = true);
  // Gives a solution the shape of B.
  Tensor shaped(const Tensor& x) const { return vector ? x.squeeze(-1) : x; }

  Tensor a, b;
  bool vector = false;
};

}  // namespace lamella::operators
