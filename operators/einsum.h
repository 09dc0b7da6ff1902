// einsum: sums of products of tensors, by an equation of labels.
#pragma once

#include "operators/shapes.h"

namespace lamella::operators {

Tensor einsum(std::string_view equation, TensorList tensors);

}  // namespace lamella::operators
