// The random words of kernels that may be part of a captured graph.
#pragma once

#include "launch.h"

namespace cuda {

// The random words of a captured kernel, which each replay draws anew. `stream` is device memory with the seed and the
// counter of a replay's first words; `counter` is added to that for the kernel's words. Both are 0 without a capture.
struct CapturedWords {
  CUdeviceptr stream = 0;
  uint64_t counter = 0;
};
// If the device's current stream is being captured, takes `count` words of a generator (undefined: the device's own)
// for a kernel on this stream; else takes none.
CapturedWords captured_words(int device, const lamella::Generator&, uint64_t count);

}  // namespace cuda
