// The places of nonzero elements in a tensor.
#pragma once

#include <vector>

#include "backends/cpu/index_loops.h"
#include "backends/cpu/kernels.h"

namespace lamella::cpu {

// Returns a mask or any tensor as contiguous bytes, which are zero where an element is zero.
inline Operand as_bytes(const lamella_tensor* t) { return {t, itemsize(t) == 1 ? int{t->dtype} : int{LAMELLA_BOOL}}; }

inline constexpr int64_t mask_block = 65536;

// The flat positions of nonzero elements. The constructor counts them block by block, on several threads.
struct Found {
  const uint8_t* mask;
  int64_t n, blocks;
  int64_t near[2] = {};
  std::vector<int64_t> far;
  int64_t* before = near;              // the number of nonzero elements before each block
  lamella_status status = LAMELLA_OK;  // the status of counting

  explicit Found(const Operand& bytes)
      : mask(bytes.data<uint8_t>()), n(bytes->numel), blocks((n + mask_block - 1) / mask_block) {
    if (blocks <= 1) {
      near[1] = index_loops().count(n, mask);
      blocks = 1;
      return;
    }
    far.resize(blocks + 1);
    before = far.data();
    status = parallel_for(0, blocks, 4, [&](int64_t b, int64_t e) -> lamella_status {
      for (; b < e; b++)
        before[b + 1] = index_loops().count(std::min(mask_block, n - b * mask_block), mask + b * mask_block);
      return LAMELLA_OK;
    });
    for (int64_t b = 0; b < blocks; b++) before[b + 1] += before[b];
  }
  Found(const Found&) = delete;
  int64_t count() const { return before[blocks]; }

  // Writes the flat positions to out, in order.
  lamella_status write(int64_t* out) const {
    if (blocks == 1) {
      index_loops().positions(n, mask, 0, out);
      return LAMELLA_OK;
    }
    return parallel_for(0, blocks, 4, [&](int64_t b, int64_t e) -> lamella_status {
      for (; b < e; b++)
        index_loops().positions(std::min(mask_block, n - b * mask_block), mask + b * mask_block, b * mask_block,
                                out + before[b]);
      return LAMELLA_OK;
    });
  }
};

}  // namespace lamella::cpu
