// What operators share that put elements in order.
#pragma once

#include "dispatcher/operators/compose.h"

namespace lattis::dispatcher {

// Complex numbers have no order.
lattis_status check_ordered(lattis_frame* f, const Tensor* self);

}  // namespace lattis::dispatcher
