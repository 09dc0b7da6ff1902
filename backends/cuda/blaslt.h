// Products of matrices with a bias by cuBLASLt, which comes with cuBLAS.
#pragma once

#include "blas.h"

namespace cuda {

// Computes out = a b + bias, where the bias is a vector without gaps. It is added to each row while the product is
// written; cuBLAS would need a further pass over the output. *done is false, and nothing is written, if cuBLASLt cannot
// be opened or does not compute the problem.
lamella_status blaslt_multiply(int device, int dtype, int64_t rows, int64_t columns, int64_t depth, const BlasMatrix& a,
                               const BlasMatrix& b, const BlasMatrix& out, const void* bias, bool* done);

}  // namespace cuda
