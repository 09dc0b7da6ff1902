// The interface "autocast", version 1, by which the Python face opens and closes blocks.
#pragma once

#include <lamella/c_api.h>

#include <algorithm>

namespace lamella::autocast {

inline constexpr int32_t most_devices = 64;

// What a block sets, and its end restores.
struct Settings {
  uint64_t enabled = 0;  // a bit for each type of device
  uint8_t dtypes[most_devices];
  bool cache = true;

  Settings() { std::fill(dtypes, dtypes + most_devices, LAMELLA_NO_DTYPE); }
};

struct Interface {
  uint32_t size;
  // Opens a block for a type of device on this thread. dtype: -1 is the thread's. cache: -1 leaves it as it is.
  // backend: -1 is a device that this machine lacks, for which nothing changes.
  lamella_status (*enter)(int32_t backend, int32_t on, int32_t dtype, int32_t cache);
  // Returns this thread's settings, and opens a block with settings of another moment.
  Settings (*settings)();
  lamella_status (*enter_settings)(const Settings*);
  // Closes the block that was opened last; does nothing if there is none.
  void (*leave)();
};

}  // namespace lamella::autocast
