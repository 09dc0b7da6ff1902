// Searches of autograd's graph, by the interface of the plugin that differentiates.
#pragma once

#include <vector>

#include "level.h"

namespace lamella::transforms {

// Returns whether the roots, or their batches, depend on a leaf that requires a gradient and is none of the inputs.
bool has_other_leaves(const std::vector<lamella_tensor*>& roots, const std::vector<lamella_tensor*>& inputs);

}  // namespace lamella::transforms
