// The layer of vmap. It lies inside autograd: autograd records calls on samples, and calls on batches anew.
#pragma once

#include "level.h"

namespace lamella::transforms {

void register_layer(Library& m);

}  // namespace lamella::transforms
