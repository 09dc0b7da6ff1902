// A product of matrices on the device, for kernels that need one.
#pragma once

#include "blas.h"
#include "kernels/matmul.h"
#include "operands.h"

namespace cuda {

struct Matrix {
  void* data = nullptr;
  MatrixStrides strides{};
};

// out = alpha a b + beta added. With a null `added` nothing is added. It may be the output, and strides of 0 broadcast
// it.
struct Product {
  Product(int dtype, int out_dtype, const Scalar& alpha = 1, const Scalar& beta = 1);
  int dtype, out_dtype;
  int64_t batches = 1, rows = 0, columns = 0, depth = 0;
  Matrix a, b, out, added;
  alignas(16) unsigned char alpha[16], beta[16];
};
lamella_status multiply(const Product&, const lamella_tensor* on);

// Multiplies the rows of the input by the transposed weight, and adds the bias.
Status linear(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& out);

}  // namespace cuda
