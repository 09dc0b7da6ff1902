// The groups of kernels, a function each; plugin.cpp calls them all.
#pragma once

#include "faults.h"
#include "launch.h"

namespace cuda {
void add_pointwise(lamella::Library&);  // and copy_, fill_
void add_reductions(lamella::Library&);
void add_scans(lamella::Library&);
void add_random(lamella::Library&);
void add_arange(lamella::Library&);
void add_products(lamella::Library&);
void add_gather(lamella::Library&);
void add_indexing(lamella::Library&);
void add_nonzero(lamella::Library&);
void add_sorts(lamella::Library&);
void add_softmax(lamella::Library&);
}  // namespace cuda
