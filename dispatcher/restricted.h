// Restricted tensors below the layers: opaque ones, and those whose dtype is not plain. Decides which kernel gets such
// a tensor, and raises the error if none takes it.
//
// Note [Restricted arguments]  Such a tensor has the lowest bit of keys, which no layer has. So a call with one reaches
//   run_restricted() after all layers, and a call without one costs nothing. The thread cannot switch the bit off.
//   run_restricted() passes the call on to a kernel that was registered for such tensors, to a composite, or to a shape
//   rule that is the whole operator. Operands of a pointwise operator that computes in a plain dtype are converted for
//   the usual kernel. A result of such a dtype in a call without such a tensor is found after the shape rule
//   (forms.cpp).
#pragma once

#include "core/tensor.h"
#include "dispatcher/call.h"

namespace lamella::dispatcher {

// The entry of the restricted key in every table: serves calls with restricted tensors after all layers.
lamella_status run_restricted(Frame*, const Value* args, Value* rets);
// Returns whether a result of a dtype that is not plain needs another kernel, a composite or an error instead of this
// entry.
bool serves_otherwise(const Frame&, const Entry&, core::DType, const Value* args);
// Serves a call for which serves_otherwise() is true.
lamella_status run_for_dtype(Frame&, const Entry&, core::DType, const Value* args, Value* rets);
// Raises an error that names the first opaque argument, and its layers.
lamella_status refuse_opaque(const Frame&, const Value* args);
// Returns the live layers whose keys a tensor has, as a text: "'packed' (lamella-packed)"; empty if there are none.
std::string layers_of(const core::Tensor*);

}  // namespace lamella::dispatcher
