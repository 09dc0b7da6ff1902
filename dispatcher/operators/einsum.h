// einsum: sums of products of tensors, by an equation of labels.
#pragma once

#include "dispatcher/operators/compose.h"

namespace lattis::dispatcher {

lattis_status einsum(lattis_frame* f, const Value* args, Value* rets);

}  // namespace lattis::dispatcher
