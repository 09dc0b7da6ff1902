// The derivatives of the logarithm of the gamma function, which elementwise.cpp declares as operators.
#pragma once

#include <lamella/extension.h>

namespace lamella::operators {

Tensor digamma(const Tensor& self);
Tensor polygamma(int64_t n, const Tensor& self);

}  // namespace lamella::operators
