// What operators share that put elements in order.
#pragma once

#include "dispatcher/operators/compose.h"

namespace lamella::dispatcher {

// Complex numbers have no order.
lamella_status check_ordered(lamella_frame* f, const Tensor* self);

}  // namespace lamella::dispatcher
