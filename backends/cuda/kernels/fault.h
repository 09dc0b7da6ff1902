// An error that a kernel meets in its data.
#pragma once
#include <cstdint>

namespace cuda {

// The first error of a stream stays.
struct Fault {
  int32_t code, reserved;
  int64_t value, size;
};

}  // namespace cuda
