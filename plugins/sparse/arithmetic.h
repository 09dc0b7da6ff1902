// Sums and products of tensors of which one or both are sparse, for rules.
#pragma once

#include "rules.h"

namespace lamella::sparse {

Scalar negated(const Scalar& x);
Tensor scaled(const Tensor& t, const Scalar& by);
Tensor sum_of(const Tensor& a, const Tensor& b, const Scalar& alpha);  // a + alpha b
void add_into(const Tensor& dense, const Tensor& sparse, const Scalar& alpha);
Tensor times_plain(const Tensor& sparse, const Tensor& dense);
Tensor times_sparse(const Tensor& a, const Tensor& b);

}  // namespace lamella::sparse
