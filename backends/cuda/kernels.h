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
void add_norms(lamella::Library&);
void add_losses(lamella::Library&);
void add_updates(lamella::Library&);
void add_convolutions(lamella::Library&);
void add_pools(lamella::Library&);
void add_attention(lamella::Library&);
void add_code(lamella::Library&);  // the interface code.cuda
}  // namespace cuda
