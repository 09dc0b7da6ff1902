// blaslt_multiply() and blaslt_multiply_bytes() compute products by cuBLASLt, which comes with cuBLAS.
#pragma once

#include "blas.h"

namespace cuda {

// Computes out = a b + bias, where the bias is a vector without gaps. It is added to each row while the product is
// written; cuBLAS would need a further pass over the output. *done is false, and nothing is written, if cuBLASLt cannot
// be opened or does not compute the problem.
lamella_status blaslt_multiply(int device, int dtype, int64_t rows, int64_t columns, int64_t depth, const BlasMatrix& a,
                               const BlasMatrix& b, const BlasMatrix& out, const void* bias, bool* done);

// Computes out = a b^T, the exact sums in int32, where a is int8 (rows, depth), and b is int8 (columns, depth). All lie
// row by row. *done is as above. blaslt_multiplies_bytes() returns false for sizes that cuBLASLt does not take.
bool blaslt_multiplies_bytes(int64_t rows, int64_t columns, int64_t depth, const void* b);
lamella_status blaslt_multiply_bytes(int device, int64_t rows, int64_t columns, int64_t depth, const void* a,
                                     const void* b, void* out, bool* done);

}  // namespace cuda
