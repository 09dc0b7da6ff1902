// RowLaunch shares rows among threads: see Note [Row groups] in kernels/rows.cuh.
#pragma once

#include "operands.h"

namespace cuda {

struct RowLaunch {
  Dim grid, block;
  unsigned shared = 0;
  int packs = 0;       // packs that a thread keeps in registers, or 0
  bool keeps = false;  // whether rows are kept in shared memory

  // A thread reads `width` elements at a time. `kept_item` is the bytes that each element takes in shared memory if
  // registers do not hold the row. The row is read again if `kept_item` is 0 or shared memory has no room.
  RowLaunch(const lamella_tensor* on, int64_t rows, int64_t length, int width, int kept_item) {
    const int64_t count = (length + width - 1) / width;
    unsigned threads = 32;
    while (threads < 512 && threads * (width == 8 ? 2 : 4) < count) threads *= 2;
    for (int k : {8, 4, 2, 1})
      if (count <= int64_t{threads} * k) packs = k;
    if (!packs) threads = 1024;
    block = {threads, threads == 32 ? 4u : 1u};
    const int64_t bytes = length * kept_item * block.y;
    keeps = !packs && kept_item && bytes <= 47 * 1024;  // kernels declare shared memory, too
    shared = keeps ? static_cast<unsigned>(bytes) : 0;
    grid = blocks_for(on, rows * threads, threads * block.y);
  }
};

}  // namespace cuda
