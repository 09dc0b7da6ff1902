// What others need of the memory: pools that belong to graphs, and host memory that copies still read.
#pragma once

#include "devices.h"

namespace cuda {

// While a graph lives, the memory of the stream that it was captured on is its own: it is not given back.
void hold_pool(int device, CUstream, int by);

// Whether host memory is of this backend's pinned allocator; then it is not given out again before the stream has
// passed what is queued on it now.
bool keep_pinned(const void* data, int device, CUstream);
bool is_pinned(const void* data);

}  // namespace cuda
