// The layer: it sees the calls that have a tensor with names, finds the names of the results by the operator's rule, goes
// on with the call, and gives the results their names.
#pragma once

#include "rule.h"

namespace lamella::named {

// Registers the layer. Its fallback serves all operators; each gets its rule as the context.
void register_layer(Library& m);

}  // namespace lamella::named
