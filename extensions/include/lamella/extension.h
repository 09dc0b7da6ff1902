/* Everything for writing operators, in C++17 over <lamella/c_api.h> alone: lamella::Tensor with the catalogue's
 * operators as methods, kernels that are C++ functions, dtype dispatch, LAMELLA_CHECK, autograd Functions, states and
 * attributes of tensors.
 *
 *   lamella::Tensor twice(const lamella::Tensor& x) { return x * 2; }
 *
 *   LAMELLA_LIBRARY(mine, m) {
 *     m.def("twice(Tensor self) -> Tensor", twice);
 *   }
 *
 * docs/custom_operators_cpp.md explains how. The operators take half of the time that this header costs a compiler;
 * LAMELLA_NO_OPERATORS leaves them out. */
#ifndef LAMELLA_EXTENSION_H
#define LAMELLA_EXTENSION_H

#include <lamella/attribute.h>
#include <lamella/function.h>
#include <lamella/kernel.h>
#include <lamella/library.h>
#include <lamella/opaque.h>
#include <lamella/slot.h>
#include <lamella/tensor.h>
#ifndef LAMELLA_NO_OPERATORS
#include <lamella/arithmetic.h>
#include <lamella/indexing.h>
#include <lamella/operators.h>
#endif

#endif
