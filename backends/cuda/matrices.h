// Batches of matrices in column-major order, as cuSOLVER and cuBLAS take them.
#pragma once

#include <algorithm>
#include <climits>

#include "operands.h"

namespace cuda {

// Calls visit(dimension, stride) for a layout of column-major matrices without gaps, one after the other.
template <class Visit>
void visit_column_strides(const lamella_tensor* t, Visit visit) {
  int64_t step = 1;
  const int n = t->dl.ndim;
  for (int i = n - 1; i >= 0; i--) {
    const int d = i == n - 1 ? n - 2 : i == n - 2 ? n - 1 : i;
    visit(d, step);
    step *= std::max<int64_t>(t->dl.shape[d], 1);
  }
}
inline bool lies_in_columns(const lamella_tensor* t) {
  bool lies = true;
  visit_column_strides(t,
                       [&](int d, int64_t step) { lies = lies && (t->dl.shape[d] == 1 || t->dl.strides[d] == step); });
  return lies;
}
struct ColumnStrides {
  explicit ColumnStrides(const lamella_tensor* t) {
    visit_column_strides(t, [&](int d, int64_t step) { of[d] = step; });
  }
  int64_t of[LAMELLA_MAX_DIMS];
};

// A copy of matrices in column-major order, which a factorization may overwrite.
inline Tensor columns_of(const Tensor& t) {
  Tensor copy = lamella::allocate_like(t.get(), t.get()->dtype, ColumnStrides(t.get()).of);
  if (t.numel()) lamella::check(assign(copy.get(), t.get()));
  return copy;
}

// Returns a tensor's view with its last two dimensions exchanged.
inline Tensor transposed(const Tensor& t) {
  const lamella_tensor* raw = t.get();
  const int n = raw->dl.ndim;
  int64_t sizes[LAMELLA_MAX_DIMS], strides[LAMELLA_MAX_DIMS];
  std::copy(raw->dl.shape, raw->dl.shape + n, sizes);
  std::copy(raw->dl.strides, raw->dl.strides + n, strides);
  std::swap(sizes[n - 1], sizes[n - 2]);
  std::swap(strides[n - 1], strides[n - 2]);
  return view_of(raw, n, sizes, strides);
}

// A result whose matrices lie in column-major order.
class ColumnResult {
 public:
  explicit ColumnResult(const Tensor& out)
      : result_(out.get(), out.get()->dtype, lies_in_columns(out.get()), ColumnStrides(out.get()).of) {}
  char* data() const { return result_.data(); }
  const lamella_tensor* get() const { return result_.get(); }
  void copy_from(const Tensor& source) const {
    if (source.numel()) lamella::check(assign(result_.get(), source.get()));
  }
  lamella_status finish() const { return result_.finish(); }

 private:
  Result result_;
};

// Matrices that are read in column-major order: the tensor itself, or a copy.
class ColumnOperand {
 public:
  explicit ColumnOperand(const Tensor& t) : data_(static_cast<const char*>(t.get()->dl.data)) {
    if (lies_in_columns(t.get())) return;
    copy_ = columns_of(t);
    data_ = data_of(copy_);
  }
  const char* data() const { return data_; }

 private:
  Tensor copy_;
  const char* data_;
};

// The sizes of a batch of matrices.
struct MatrixSizes {
  explicit MatrixSizes(const Tensor& t) : m(t.size(-2)), n(t.size(-1)) {
    for (int64_t d = 0; d < t.dim() - 2; d++) count *= t.size(d);
    LAMELLA_CHECK(m <= INT_MAX && n <= INT_MAX, "cuda: a matrix has at most ", INT_MAX, " rows and columns, got ", m,
                  " by ", n);
  }
  int64_t each() const { return m * n; }
  bool empty() const { return count == 0 || m == 0 || n == 0; }

  int64_t count = 1, m, n;
};

// Copies each result that was computed in other memory to its target. Returns the first error.
template <class... Results>
Status all_finished(const Results&... results) {
  lamella_status st = LAMELLA_OK;
  (void)(... && ((st = results.finish()) == LAMELLA_OK));
  return st;
}

}  // namespace cuda
