// The arguments of pools.
#pragma once
#include <cstdint>

namespace cuda {

// An image (planes, height, width) in contiguous memory and its windows.
struct Window {
  int64_t planes = 1, size[2] = {1, 1}, places[2] = {1, 1};
  int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, padding[2] = {0, 0}, dilation[2] = {1, 1};
  bool adaptive = false;       // places share the image evenly: kernel, stride, padding and dilation mean nothing
  bool count_padding = false;  // of means
  int64_t divisor = 0;         // of means; 0: the elements that count
};

}  // namespace cuda
