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

inline int64_t rows(const Tensor& t) { return t.size(-2); }
inline int64_t columns(const Tensor& t) { return t.size(-1); }
// Returns the sizes of all dimensions but the last `matrix` ones.
DimVector batch_of(const Tensor& t, int64_t matrix = 2);
// Returns `batch` followed by `sizes`.
DimVector with(DimVector batch, IntArrayRef sizes);
// Returns the common sizes of two batches; raises if they do not broadcast.
DimVector common_batch(const char* name, const Tensor& t, const char* other_name, const Tensor& other,
                       int64_t other_matrix = 2);

// Describes a result whose matrices lie in column-major order, as LAPACK writes them.
void set_columns(Output& out, const DimVector& sizes, ScalarType dtype);
// Describes the numbers of a factorization for each matrix: 0, or what failed.
void set_info(Output& out, const DimVector& batch);

// Raises a LinAlgError if a number in `info` is not 0: `function` names the operator for the message, which also names
// the index of the matrix in the batch. On meta, where there is no number, it does nothing.
void check_info(const Tensor& info, std::string_view function);

// Transposes the matrices and conjugates complex ones.
inline Tensor adjoint_of(const Tensor& t) {
  const Tensor turned = t.transpose(-2, -1);
  return t.is_complex() ? turned.conj() : turned;
}

}  // namespace lamella::operators
