// The texts of the dispatcher's errors: they name the operator, the argument, and the kernels that are registered if
// one is missing.
#pragma once

#include <string>

#include "core/tensor.h"
#include "core/value.h"
#include "dispatcher/operator.h"

namespace lamella::dispatcher {

// Returns "add", or "mine::twice" if the namespace is not the catalogue's.
inline const std::string& operator_title(const Operator* op) { return op->title; }
// Returns "add: argument 'other'".
std::string where(const lamella_frame* f, int arg);

lamella_status device_clash(lamella_frame& f, int first, int second, const core::Tensor* a, const core::Tensor* b);
lamella_status declined_by_all(lamella_frame& f);
lamella_status dynamic_without_kernel(lamella_frame& f);
lamella_status unknown_bits(const lamella_frame& f, const lamella_meta& m);

// Stands in an entry for an operator that nothing serves on a device: raises an error that lists the registered kernels
// and their owners.
lamella_status missing_kernel(lamella_frame* f, const core::Value* args, core::Value* rets);

}  // namespace lamella::dispatcher
