// Dimensions by name, as in sum(x, "channel"): functions of plugins that find their numbers.
#pragma once

#include "core/tensor.h"
#include "dispatcher/ledger.h"

namespace lamella::dispatcher {

lamella_status add_dim_resolver(Library&, lamella_resolve_dim, void* context, lamella_handle*);
bool any_dim_resolver();
// Finds the dimension of `self` that has a name, by the newest function that does not decline. Raises the function's
// error, or a RuntimeError if its answer is no dimension of `self`, or if every function declines.
lamella_status resolve_dim(core::Tensor* self, const char* name, int64_t* dim);

}  // namespace lamella::dispatcher
