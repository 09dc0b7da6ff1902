// The one shape rule of all pointwise operators: broadcasting, promotion, and the layout of the result.
#pragma once

#include <lattis/c_api.h>

namespace lattis::dispatcher {

// context: the operator's lattis_pointwise.
lattis_status infer_pointwise(lattis_frame* f, const lattis_value* args, lattis_meta* out);

// Broadcasts `sizes` into `into`; false where they do not fit.
bool broadcast(int* ndim, int64_t* into, int other_ndim, const int64_t* other);

}  // namespace lattis::dispatcher
