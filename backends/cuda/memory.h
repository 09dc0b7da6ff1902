// The part of the allocators that other files use: pools that belong to graphs, host memory that copies still use, and
// memory that libraries allocate past the allocator.
#pragma once

#include <algorithm>

#include "devices.h"

namespace cuda {

// Adds `by` to the number of graphs captured on the stream. While that is above 0, the stream's pool gives no memory
// back to the driver.
void hold_pool(int device, CUstream, int by);

// Returns whether host memory is of this backend's pinned allocator. If so, the allocator does not give the block out
// again, once it is freed, before the stream has done the work that was queued until then.
bool keep_pinned(const void* data, int device, CUstream);
bool is_pinned(const void* data);

// Gives the memory that is kept for reuse on all devices back to the driver, but for segments of which a part is in use
// and pools that graphs hold.
void free_kept();
// Calls `take`, which allocates past the allocator and returns 0 or a status. If the status is one of `lacks`, gives
// the memory that is kept for reuse back and calls `take` once more, as for the memory of a tensor.
template <class Take>
int with_room(std::initializer_list<int> lacks, Take take) {
  const int status = take();
  if (std::find(lacks.begin(), lacks.end(), status) == lacks.end()) return status;
  free_kept();
  return take();
}
// Returns the error of a `take` that still lacks memory: LAMELLA_OUT_OF_MEMORY, with a message that begins with `who`.
lamella_status raise_lack(int device, const std::string& who);

}  // namespace cuda
