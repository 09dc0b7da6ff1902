// Runs the blocks of a grid. A thread of a block is a fiber if the kernel has barriers, else a call.
#pragma once

#include <string>

namespace standin {

struct Grid {
  unsigned grid[3], block[3], shared_bytes;
  void (*entry)(void**);
  void** arguments;
  bool fibers;
};
// Returns the error that the kernel made, or "".
std::string run_grid(const Grid&);

}  // namespace standin
