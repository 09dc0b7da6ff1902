// The layer: it casts the tensors of a call as the operator's policy says, and goes on. Start with layer.cpp.
#pragma once

#include <lamella/library.h>

namespace lamella::autocast {

void register_layer(Library& m);

}  // namespace lamella::autocast
