#include "operators/linalg.h"

namespace lamella::operators {

void check_matrices(const char* name, const Tensor& t) {
  LAMELLA_CHECK(t.dim() >= 2, argument(name), ": expected matrices, of at least 2 dimensions, got shape ",
                shape_text(t));
}

void check_square(const char* name, const Tensor& t) {
  check_matrices(name, t);
  LAMELLA_CHECK(rows(t) == columns(t), argument(name), ": expected square matrices, got ", rows(t), " by ", columns(t),
                " in shape ", shape_text(t));
}

void check_factorable(const char* name, const Tensor& t) {
  const ScalarType d = t.dtype();
  LAMELLA_CHECK(d == kFloat || d == kDouble || d == kComplexFloat || d == kComplexDouble, argument(name),
                ": expected float32, float64, complex64 or complex128, got ", d, "; convert it first: .to(float32)");
}

void check_same_dtype(const char* name, const Tensor& t, const char* other_name, const Tensor& other) {
  LAMELLA_CHECK(t.dtype() == other.dtype(), argument(other_name), ": expected the dtype of '", name, "', ", t.dtype(),
                ", got ", other.dtype());
}

DimVector batch_of(const Tensor& t, int64_t matrix) {
  const IntArrayRef sizes = t.sizes();
  return DimVector(IntArrayRef(sizes.data(), sizes.size() - matrix));
}

DimVector with(DimVector batch, IntArrayRef sizes) {
  batch.append(sizes);
  return batch;
}

DimVector common_batch(const char* name, const Tensor& t, const char* other_name, const Tensor& other,
                       int64_t other_matrix) {
  DimVector batch = batch_of(t);
  LAMELLA_CHECK(broadcast(&batch, batch_of(other, other_matrix)), argument(other_name), ": its batch of shape ",
                shape_text(batch_of(other, other_matrix)), " does not broadcast with that of '", name, "', ",
                shape_text(batch_of(t)));
  return batch;
}

void set_columns(Output& out, const DimVector& sizes, ScalarType dtype) {
  const size_t n = sizes.size();
  DimVector strides(n, 1);
  int64_t step = 1;
  for (size_t i = n; i-- > 0;) {
    const size_t d = i == n - 1 ? n - 2 : i == n - 2 ? n - 1 : i;  // the rows first, then the columns, then the batch
    strides[d] = step;
    step *= std::max<int64_t>(sizes[d], 1);
  }
  check_bytes(sizes, dtype);
  out.set(sizes, dtype, strides);
}

void set_info(Output& out, const DimVector& batch) {
  out.set(batch, kInt);
  out.exact();
}

}  // namespace lamella::operators
