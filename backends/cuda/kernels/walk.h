// Walk: the sizes and strides by which a kernel finds the elements of several operands from one number.
#pragma once
#include <lamella/quotient.h>

namespace cuda {

constexpr int walk_dims = 16;  // the most dimensions, after neighbouring ones are joined

// Sizes, and the strides of each operand in elements; the last dimension changes fastest.
template <int Operands>
struct Walk {
  int32_t ndim;
  int32_t wide;  // whether there are 2^31 elements or more
  int64_t count;
  int64_t sizes[walk_dims];
  lamella::Quotient quotients[walk_dims];
  int64_t strides[Operands][walk_dims];
};

}  // namespace cuda
