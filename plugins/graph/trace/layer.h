// The layer that records operators.
#pragma once

#include <lamella/library.h>

namespace lamella::graph {

void register_layer(Library& m);

}  // namespace lamella::graph
