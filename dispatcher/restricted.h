// Restricted tensors below the layers: opaque ones, and those whose dtype is not plain. Decides
// which kernel gets such a tensor, and raises the error where none takes it.
//
// Note [Restricted arguments]  Such a tensor has the lowest bit of keys, which no layer has: among its storage's sticky
//   ones if it is opaque, among its own if its dtype is not plain. So a call with one comes here after all layers, and
//   a call without pays nothing. The thread cannot switch the bit off. What comes here goes on to a kernel that was
//   registered for it, to a composite, or to a shape rule that is the whole operator. A result of such a dtype, of
//   operators that make it without having a tensor, is noticed once the shape rule has said so (forms.cpp).
#pragma once

#include "core/tensor.h"
#include "dispatcher/call.h"

namespace lamella::dispatcher {

// Serves every operator at the lowest rank of keys.
lamella_status run_restricted(Frame*, const Value* args, Value* rets);
// Whether a result of a dtype that is not plain is for another kernel, a composite or an error, not for this entry.
bool serves_otherwise(const Frame&, const Entry&, core::DType, const Value* args);
// Serves such a call.
lamella_status run_for_dtype(Frame&, const Entry&, core::DType, const Value* args, Value* rets);
// Raises an error that names the first opaque argument, and the layers that may know its values.
lamella_status refuse_opaque(const Frame&, const Value* args);
// Which layers a tensor asks for, as a text: "'packed' (lamella-packed)"; empty if there are none.
std::string layers_of(const core::Tensor*);

}  // namespace lamella::dispatcher
