// The backend's own kernels for matrices before and after a library computes with them: kernels/linalg.cu. The matrices
// of a batch lie in column-major order one after the other.
#pragma once

#include "solver.h"

namespace cuda {

// The number 1 of a dtype on the host, as the libraries read their factors.
struct One {
  explicit One(int dtype);
  alignas(16) unsigned char data[16];
};

// Writes zeros above the diagonals of a batch of matrices, or below them.
lamella_status clear_side(const Solving&, char* matrices, const MatrixSizes&, bool above);
// Writes the upper triangles of matrices with m rows into matrices of `rows` by n, with zeros below.
lamella_status copy_upper(const Solving&, const char* from, int64_t m, char* to, int64_t rows, int64_t n,
                          int64_t count);
// Copies the first `part` elements of each matrix; matrices are `from_each` and `to_each` elements apart.
lamella_status copy_part(const Solving&, const char* from, int64_t from_each, char* to, int64_t to_each, int64_t part,
                         int64_t count);
// Writes the k by n adjoints of the first k columns of matrices with n rows, `from_each` elements apart.
lamella_status copy_adjoint(const Solving&, const char* from, int64_t from_each, char* to, int64_t k, int64_t n,
                            int64_t count);
lamella_status conjugate(const Solving&, char* x, int64_t n);
lamella_status write_identity(const Solving&, char* to, int64_t m, int64_t n, int64_t count);
// Writes the pivots of factors without exchanges, int32 or int64.
lamella_status count_rows(const Solving&, const lamella_tensor* to, int64_t k, int64_t count);
// Writes to `info`, where it is 0, the number of the first diagonal element of a Cholesky factor that is not a finite
// number above 0: cuSOLVER reports no NaN.
lamella_status find_unfinished(const Solving&, const char* factors, const MatrixSizes&, int* info);
// Returns a copy of the pivots as int32 or int64. A pivot that is no row of the matrix is replaced by one, and is
// reported as a fault.
Tensor checked_pivots(const Solving&, const int* pivots, int64_t n, int64_t count, int dtype);
// Returns a copy of the pivots of LDLᵀ as int64. Negative ones name blocks of two rows and come in pairs. If a matrix has
// other ones, all of its pivots become its own rows, and one is reported as a fault.
Tensor checked_blocks(const Solving&, const int* pivots, int64_t n, int64_t count);
// Writes the number of the first diagonal element that is 0 for each matrix, counted from 1, or 0.
lamella_status first_zeros(const Solving&, const char* matrices, const MatrixSizes&, int* to);
// Writes complex eigenvectors from the columns that LAPACK's geev returns for real matrices.
lamella_status pair_vectors(const Solving&, const char* values, const char* parts, char* to, int64_t n, int64_t count);

// The matrices of a batch that have an infinity or a NaN, for which the libraries may compute forever. The constructor writes
// zeros to them on the device. spoil() then writes NaNs to their results, and -1 to `info`, as on the CPU.
class InfiniteMatrices {
 public:
  // `side` 1 looks at the upper triangle alone, -1 at the lower one, 0 at the whole matrix.
  InfiniteMatrices(const Solving&, char* matrices, const MatrixSizes&, int side);
  // `each` is the number of elements of a matrix's result.
  void spoil(const lamella_tensor* result, int64_t each) const;

 private:
  int64_t count_;
  Tensor flags_;
};

}  // namespace cuda
