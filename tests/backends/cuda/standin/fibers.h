// Runs the blocks of a grid: each thread of a block is a fiber where the kernel has barriers, else a call.
#pragma once

#include <string>

namespace standin {

struct Grid {
  unsigned grid[3], block[3], shared_bytes;
  void (*entry)(void**);
  void** arguments;
  bool fibers;
};
// What was wrong with the kernel, or "".
std::string run_grid(const Grid&);

}  // namespace standin
