// Matrices in memory and their products, which matmul.cpp computes, also for kernels that add something to them.
#pragma once

#include <complex>

#include "backends/cpu/gemm.h"
#include "backends/cpu/kernels.h"

namespace lamella::cpu {

struct Matrix {
  char* data;
  int64_t rows, columns, row, column;  // the strides in elements

  Matrix transposed() const { return {data, columns, rows, column, row}; }
};

inline Matrix matrix(const lamella_tensor* t) {
  const int d = t->dl.ndim - 2;
  return {static_cast<char*>(t->dl.data), t->dl.shape[d], t->dl.shape[d + 1], t->dl.strides[d], t->dl.strides[d + 1]};
}
inline Matrix column(const lamella_tensor* t) {
  return {static_cast<char*>(t->dl.data), t->dl.shape[0], 1, t->dl.strides[0], 1};
}
inline Matrix row(const lamella_tensor* t) { return column(t).transposed(); }
inline Matrix single(const lamella_tensor* t) { return {static_cast<char*>(t->dl.data), 1, 1, 1, 1}; }
// A tensor of at least one dimension as the rows of one matrix, or as one row; its leading dimensions lie without gaps.
inline Matrix rows_of(const lamella_tensor* t) {
  const int n = t->dl.ndim;
  const int64_t k = t->dl.shape[n - 1];
  return {static_cast<char*>(t->dl.data), k ? t->numel / k : 0, k, n > 1 ? t->dl.strides[n - 2] : k,
          t->dl.strides[n - 1]};
}

// c = a · b + bias. The bias is one number per column, or null; complex products leave it out. The dtype is a result of
// product_dtype.
lamella_status multiply(int dtype, const Matrix& a, const Matrix& b, const Matrix& c, const char* bias = nullptr);
// The same for each matrix of three dimensions.
lamella_status multiply_batches(int dtype, const lamella_tensor* a, const lamella_tensor* b, const lamella_tensor* c);

// The dtype in which products of a dtype are computed. Narrow integers wrap the same way in 32 bits.
inline int product_dtype(int dtype) {
  if (dtype == LAMELLA_FLOAT16 || dtype == LAMELLA_BFLOAT16) return LAMELLA_FLOAT32;
  if (dtype == LAMELLA_UINT8 || dtype == LAMELLA_INT8 || dtype == LAMELLA_INT16 || dtype == LAMELLA_UINT16)
    return LAMELLA_INT32;
  return dtype;
}

inline bool is_complex(int dtype) { return dtype == LAMELLA_COMPLEX64 || dtype == LAMELLA_COMPLEX128; }

// The operands and the result of a product in the dtype that it is computed in; the result is copied back at the end.
class Operands {
 public:
  Operands(const lamella_tensor* a, const lamella_tensor* b, const lamella_tensor* c)
      : a(a), b(b), c(c), result_(c), dtype(product_dtype(c->dtype)), operands(pairs() ? LAMELLA_BFLOAT16 : dtype) {}
  const lamella_tensor *a, *b, *c;

 private:
  const lamella_tensor* result_;
  TensorRef x_, y_, z_;

  // Whether the processor multiplies these pair by pair. Products with few rows or columns are better converted.
  bool pairs() const {
    const int n = c->dl.ndim;
    const int64_t columns = n >= 2 ? c->dl.shape[n - 1] : 0;
    return c->dtype == LAMELLA_BFLOAT16 && columns >= 8 && c->numel / columns >= 8 && c->dl.shape[n - 2] >= 8 &&
           bf16_gemm();
  }

 public:
  const int dtype;     // of the result
  const int operands;  // what a and b are read as, and `multiply` is asked for

  lamella_status open() {
    if (dtype == result_->dtype) return LAMELLA_OK;
    if (lamella_status st = converted(a, operands, &x_)) return st;
    if (lamella_status st = converted(b, operands, &y_)) return st;
    lamella_tensor* raw;
    if (lamella_status st =
            api().tensor_empty(c->dl.ndim, c->dl.shape, nullptr, static_cast<uint8_t>(dtype), device_of(c), &raw))
      return st;
    z_ = TensorRef::steal(raw);
    c = raw;
    return LAMELLA_OK;
  }
  lamella_status close() const { return c == result_ ? LAMELLA_OK : copy_into(result_, c); }
};

}  // namespace lamella::cpu
