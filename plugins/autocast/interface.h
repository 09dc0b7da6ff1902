// The interface "autocast", version 1, by which the Python face opens and closes blocks.
#pragma once

#include <lamella/c_api.h>

namespace lamella::autocast {

struct Interface {
  uint32_t size;
  // Opens a block for a type of device on this thread. dtype: -1 is the thread's. cache: -1 leaves it as it is.
  // backend: -1 is a device that this machine lacks, for which nothing changes.
  lamella_status (*enter)(int32_t backend, int32_t on, int32_t dtype, int32_t cache);
  // Closes the block that was opened last; does nothing if there is none.
  void (*leave)();
};

}  // namespace lamella::autocast
