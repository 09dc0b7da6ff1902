// Shape rules of views that have an operator in place: that operator gives its argument the geometry which the rule
// describes.
#pragma once

#include "operators/shapes.h"

namespace lamella::operators {

void infer_t(const Tensor& self, Output out);
void infer_transpose(const Tensor& self, int64_t dim0, int64_t dim1, Output out);
void infer_swapaxes(const Tensor& self, int64_t axis0, int64_t axis1, Output out);
void infer_squeeze(const Tensor& self, Output out);
void infer_squeeze_dim(const Tensor& self, int64_t dim, Output out);
void infer_squeeze_dims(const Tensor& self, IntArrayRef dim, Output out);
void infer_unsqueeze(const Tensor& self, int64_t dim, Output out);
void infer_as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset,
                      Output out);

}  // namespace lamella::operators
