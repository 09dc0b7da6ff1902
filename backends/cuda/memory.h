// What others need of the memory: pools that belong to graphs, host memory that copies still read, and room for what
// libraries allocate past the allocator.
#pragma once

#include <algorithm>

#include "devices.h"

namespace cuda {

// While a graph lives, the memory of the stream that it was captured on is its own: it is not given back.
void hold_pool(int device, CUstream, int by);

// Whether host memory is of this backend's pinned allocator; then it is not given out again before the stream has
// passed what is queued on it now.
bool keep_pinned(const void* data, int device, CUstream);
bool is_pinned(const void* data);

// Gives the memory that is kept for reuse on all devices back to the driver.
void free_kept();
// Calls `take`, which allocates past the allocator and returns 0 or a status. Where the status is one of a lack of
// memory, what is kept for reuse is given back and `take` is called once more, as for the memory of a tensor.
template <class Take>
int with_room(std::initializer_list<int> lacks, Take take) {
  const int status = take();
  if (std::find(lacks.begin(), lacks.end(), status) == lacks.end()) return status;
  free_kept();
  return take();
}
// The error of a `take` that lacks memory still.
lamella_status raise_lack(int device, const std::string& who);

}  // namespace cuda
