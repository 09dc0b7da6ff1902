// The derivatives of the logarithm of the gamma function, for the table of pointwise functions.
#pragma once

#include "dispatcher/operators/compose.h"

namespace lamella::dispatcher {

lamella_status digamma(lamella_frame* f, const Value* a, Value* r);    // (self)
lamella_status polygamma(lamella_frame* f, const Value* a, Value* r);  // (n, self)

}  // namespace lamella::dispatcher
