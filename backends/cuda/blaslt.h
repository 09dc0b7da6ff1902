// Products of matrices with a bias by cuBLASLt, which comes with cuBLAS.
#pragma once

#include "blas.h"

namespace cuda {

// out = a b + bias, where the bias is a vector without gaps that is added to each row while the product is written:
// cuBLAS would need a further pass over the output. *done is false, and nothing is written, where cuBLASLt has no
// algorithm for the problem.
lamella_status blaslt_multiply(int device, int dtype, int64_t rows, int64_t columns, int64_t depth, const BlasMatrix& a,
                               const BlasMatrix& b, const BlasMatrix& out, const void* bias, bool* done);

}  // namespace cuda
