// The groups of kernels, a function each; plugin.cpp calls them all.
#pragma once

#include "faults.h"
#include "launch.h"

namespace cuda {
void add_pointwise(lamella::Library&);  // and copy_, fill_
void add_reductions(lamella::Library&);
}  // namespace cuda
