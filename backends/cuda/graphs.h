// Random words of a kernel that may be part of a capture.
#pragma once

#include "launch.h"

namespace cuda {

// CapturedWords says where a captured kernel finds its random words, since each replay has new ones: `stream` is device
// memory with the seed and the counter of a replay's first word, `counter` is the kernel's place behind it. Without a
// capture both are null.
struct CapturedWords {
  CUdeviceptr stream = 0;
  uint64_t counter = 0;
};
// Takes `count` words of a generator (undefined: the device's own) for a kernel on the device's current stream.
CapturedWords captured_words(int device, const lamella::Generator&, uint64_t count);

}  // namespace cuda
