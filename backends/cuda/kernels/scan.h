// The arguments of scans.
#pragma once
#include <cstdint>

namespace cuda {

struct ScanLines {
  int64_t lines, length, chunk;  // chunk: elements of a line that a block scans
  int64_t in_step, out_step;     // in bytes
  int32_t chunks, reserved;
};

}  // namespace cuda
