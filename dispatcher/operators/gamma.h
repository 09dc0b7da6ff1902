// The derivatives of the logarithm of the gamma function, for the table of pointwise functions.
#pragma once

#include "dispatcher/operators/compose.h"

namespace lattis::dispatcher {

lattis_status digamma(lattis_frame* f, const Value* a, Value* r);    // (self)
lattis_status polygamma(lattis_frame* f, const Value* a, Value* r);  // (n, self)

}  // namespace lattis::dispatcher
