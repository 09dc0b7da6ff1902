// Matrices in memory and their products: what matmul.cpp computes, for kernels that add something to it.
#pragma once

#include <complex>

#include "backends/cpu/kernels.h"

namespace lattis::cpu {

struct Matrix {
  char* data;
  int64_t rows, columns, row, column;  // the strides in elements

  Matrix transposed() const { return {data, columns, rows, column, row}; }
};

inline Matrix matrix(const lattis_tensor* t) {
  const int d = t->dl.ndim - 2;
  return {static_cast<char*>(t->dl.data), t->dl.shape[d], t->dl.shape[d + 1], t->dl.strides[d], t->dl.strides[d + 1]};
}
inline Matrix column(const lattis_tensor* t) {
  return {static_cast<char*>(t->dl.data), t->dl.shape[0], 1, t->dl.strides[0], 1};
}
inline Matrix row(const lattis_tensor* t) { return column(t).transposed(); }
inline Matrix single(const lattis_tensor* t) { return {static_cast<char*>(t->dl.data), 1, 1, 1, 1}; }
// A tensor of at least one dimension as the rows of one matrix, or as one row; its leading dimensions lie without gaps.
inline Matrix rows_of(const lattis_tensor* t) {
  const int n = t->dl.ndim;
  const int64_t k = t->dl.shape[n - 1];
  return {static_cast<char*>(t->dl.data), k ? t->numel / k : 0, k, n > 1 ? t->dl.strides[n - 2] : k,
          t->dl.strides[n - 1]};
}

// c = a · b + bias, one number per column, or null; the bias is left out of complex products. The dtype is one that
// products are computed in.
lattis_status multiply(int dtype, const Matrix& a, const Matrix& b, const Matrix& c, const char* bias = nullptr);
// The same for each matrix of three dimensions.
lattis_status multiply_batches(int dtype, const lattis_tensor* a, const lattis_tensor* b, const lattis_tensor* c);

// What products of a dtype are computed in. Narrow integers wrap the same way in 32 bits.
inline int product_dtype(int dtype) {
  if (dtype == LATTIS_FLOAT16 || dtype == LATTIS_BFLOAT16) return LATTIS_FLOAT32;
  if (dtype == LATTIS_UINT8 || dtype == LATTIS_INT8 || dtype == LATTIS_INT16 || dtype == LATTIS_UINT16)
    return LATTIS_INT32;
  return dtype;
}

inline bool is_complex(int dtype) { return dtype == LATTIS_COMPLEX64 || dtype == LATTIS_COMPLEX128; }

// The operands and the result of a product in the dtype that it is computed in; the result is copied back at the end.
class Operands {
 public:
  Operands(const lattis_tensor* a, const lattis_tensor* b, const lattis_tensor* c)
      : a(a), b(b), c(c), result_(c), dtype(product_dtype(c->dtype)) {}
  const lattis_tensor *a, *b, *c;

 private:
  const lattis_tensor* result_;
  Tensor x_, y_, z_;

 public:
  const int dtype;

  lattis_status open() {
    if (dtype == result_->dtype) return LATTIS_OK;
    if (lattis_status st = converted(a, dtype, &x_)) return st;
    if (lattis_status st = converted(b, dtype, &y_)) return st;
    lattis_tensor* raw;
    if (lattis_status st =
            api().tensor_empty(c->dl.ndim, c->dl.shape, nullptr, static_cast<uint8_t>(dtype), device_of(c), &raw))
      return st;
    z_ = Tensor::steal(raw);
    c = raw;
    return LATTIS_OK;
  }
  lattis_status close() const { return c == result_ ? LATTIS_OK : copy_into(result_, c); }
};

}  // namespace lattis::cpu
