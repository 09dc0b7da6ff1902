// Matrices in memory and their products, which matmul.cpp computes, also for addmm and its like.
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
// Returns a tensor of at least one dimension as the rows of one matrix, or as one row; its leading dimensions must have
// no gaps.
inline Matrix rows_of(const lamella_tensor* t) {
  const int n = t->dl.ndim;
  const int64_t k = t->dl.shape[n - 1];
  return {static_cast<char*>(t->dl.data), k ? t->numel / k : 0, k, n > 1 ? t->dl.strides[n - 2] : k,
          t->dl.strides[n - 1]};
}

// Computes c = a · b + bias. The bias has one number per column, or is null; it must be null for complex products. The
// dtype is a result of product_dtype, Operands::operands, or the dtype of a in a product of bytes with int8 (c is then
// int32). With `narrow`, c has the operands' dtype and lies in rows: see Operands::narrow.
lamella_status multiply(int dtype, const Matrix& a, const Matrix& b, const Matrix& c, const char* bias = nullptr,
                        bool narrow = false);
// Multiplies float64 or complex matrices by OpenBLAS. Returns false if it is not there, if they are small, or if BLAS
// cannot read them as they lie; otherwise sets the status.
bool blas_multiplies(int dtype, const Matrix& a, const Matrix& b, const Matrix& c, lamella_status* status);
// Multiplies each pair of matrices of tensors of three dimensions.
lamella_status multiply_batches(int dtype, const lamella_tensor* a, const lamella_tensor* b, const lamella_tensor* c,
                                bool narrow = false);

// Returns the dtype in which products of a dtype are computed. Narrow integers wrap the same way in 32 bits.
inline int product_dtype(int dtype) {
  if (dtype == LAMELLA_UINT8 || dtype == LAMELLA_INT8 || dtype == LAMELLA_INT16 || dtype == LAMELLA_UINT16)
    return LAMELLA_INT32;
  return wide_of(dtype);
}

// The operands and the result of a product in the dtype that it is computed in; the result is copied back at the end.
class Operands {
 public:
  // `alone` says that nothing is added to the result of `multiply`.
  Operands(const lamella_tensor* a, const lamella_tensor* b, const lamella_tensor* c, bool alone = false)
      : a(a),
        b(b),
        c(c),
        result_(c),
        dtype(product_dtype(c->dtype)),
        operands(groups() ? as_groups() : dtype),
        narrow(alone && rounds()) {}
  const lamella_tensor *a, *b, *c;

 private:
  const lamella_tensor* result_;
  Operand x_, y_;
  Result z_;

  // Returns whether the operands are multiplied in their own dtype, by groups (isa/groups.h). Operands of products with
  // few columns are converted instead, which is faster.
  bool groups() const {
    const int n = c->dl.ndim;
    const int64_t columns = n >= 2 ? c->dl.shape[n - 1] : 0;
    if (columns < 8 || (columns < 32 && c->dl.shape[n - 2] < 8)) return false;
    return c->dtype == LAMELLA_BFLOAT16 ? bf16_gemm() != nullptr : as_groups() == LAMELLA_INT8;
  }
  // Returns the dtype of the groups. uint8 is multiplied as int8: the lowest byte of the product is the same.
  int as_groups() const {
    const int t = c->dtype;
    return t == LAMELLA_UINT8 ? static_cast<int>(LAMELLA_INT8) : t;
  }
  bool rounds() const {
    const int64_t depth = a->dl.ndim ? a->dl.shape[a->dl.ndim - 1] : 0;
    return operands == LAMELLA_BFLOAT16 && depth >= 8 && depth <= narrow_depth && is_contiguous(c) &&
           !amx_multiplies(operands);
  }

 public:
  const int dtype;     // the dtype that the result is computed in
  const int operands;  // the dtype as which a and b are read; the first argument of `multiply`
  const bool narrow;   // `multiply` itself rounds its sums to the result's dtype

  void open() {
    if (dtype == result_->dtype) return;
    x_ = Operand(a, operands, true);
    y_ = Operand(b, operands, true);
    a = x_.get();
    b = y_.get();
    if (narrow) return;
    z_ = Result(result_, dtype, false);
    c = z_.get();
  }
  lamella_status finish() const { return z_.finish(); }
};

}  // namespace lamella::cpu
