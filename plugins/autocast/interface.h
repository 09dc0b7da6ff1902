// The interface "autocast", version 1, by which the Python face opens and closes blocks.
#pragma once

#include <lamella/c_api.h>

#include <algorithm>

namespace lamella::autocast {

inline constexpr int32_t most_devices = 64;

// The settings of a thread. A block replaces them, and its end restores them.
struct Settings {
  uint64_t enabled = 0;  // a bit for each type of device
  uint8_t dtypes[most_devices];
  bool cache = true;

  Settings() { std::fill(dtypes, dtypes + most_devices, LAMELLA_NO_DTYPE); }
};

struct Interface {
  uint32_t size;
  // Opens a block for a type of device on this thread. `block` names it for `leave`. A dtype of -1 stands for the
  // thread's dtype, a cache of -1 for the thread's setting. A backend of -1 is a device that this machine lacks, for which
  // nothing changes.
  lamella_status (*enter)(const void* block, int32_t backend, int32_t on, int32_t dtype, int32_t cache);
  // Returns this thread's settings, and opens a block with settings of another moment.
  Settings (*settings)();
  lamella_status (*enter_settings)(const void* block, const Settings*);
  // Closes the block of this name that was opened last on this thread. Blocks that were opened after it stay open.
  lamella_status (*leave)(const void* block);
  // Returns whether tensors of a type of device are cast on this thread, of any type for -1; switches this on or off.
  int32_t (*is_enabled)(int32_t backend);
  lamella_status (*set_enabled)(int32_t backend, int32_t on);
};

}  // namespace lamella::autocast
