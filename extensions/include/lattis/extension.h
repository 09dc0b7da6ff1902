/* Everything for those who write operators, in C++17 over <lattis/c_api.h> alone: lattis::Tensor with the catalogue's
 * operators as methods, kernels that are C++ functions, dtype dispatch, LATTIS_CHECK, autograd Functions.
 *
 *   lattis::Tensor twice(const lattis::Tensor& x) { return x * 2; }
 *
 *   LATTIS_LIBRARY(mine, m) {
 *     m.def("twice(Tensor self) -> Tensor", twice);
 *   }
 *
 * docs/custom_operators_cpp.md is the way through it. The operators are half of what this costs a compiler;
 * LATTIS_NO_OPERATORS leaves them out. */
#ifndef LATTIS_EXTENSION_H
#define LATTIS_EXTENSION_H

#include <lattis/function.h>
#include <lattis/kernel.h>
#include <lattis/library.h>
#include <lattis/tensor.h>
#ifndef LATTIS_NO_OPERATORS
#include <lattis/arithmetic.h>
#include <lattis/operators.h>
#endif

#endif
