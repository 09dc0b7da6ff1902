// einsum: sums of products of tensors, by an equation of labels.
#pragma once

#include "dispatcher/operators/compose.h"

namespace lamella::dispatcher {

lamella_status einsum(lamella_frame* f, const Value* args, Value* rets);

}  // namespace lamella::dispatcher
