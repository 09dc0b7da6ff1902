// How rows are shared among threads: Note [Row groups] in kernels/rows.cuh.
#pragma once

#include "operands.h"

namespace cuda {

struct RowLaunch {
  Dim grid, block;
  unsigned shared = 0;
  bool keeps = false;  // whether rows are kept in shared memory

  // `width` elements at a time; `kept_item` bytes of each element are to be kept, or none.
  RowLaunch(const lamella_tensor* on, int64_t rows, int64_t length, int width, int kept_item) {
    const int64_t packs = (length + width - 1) / width;
    unsigned threads = 32;
    while (threads < 1024 && threads * 4 < packs) threads *= 2;
    block = {threads, threads == 32 ? 4u : 1u};
    const int64_t bytes = length * kept_item * block.y;
    keeps = kept_item && bytes <= 48 * 1024;
    shared = keeps ? static_cast<unsigned>(bytes) : 0;
    grid = blocks_for(on, rows * threads, threads * block.y);
  }
};
inline int width_number(int width) { return width == 1 ? 0 : width == 2 ? 1 : width == 4 ? 2 : width == 8 ? 3 : 4; }

}  // namespace cuda
