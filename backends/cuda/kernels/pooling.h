// The arguments of pools.
#pragma once
#include <lamella/window.h>

namespace cuda {

// An image (planes, height, width) in contiguous memory and its windows.
struct Pool : lamella::Window<2> {
  int64_t planes;
  bool adaptive = false;       // places share the image evenly; kernel, stride, padding and dilation are unused
  bool count_padding = false;  // whether means count the padding
  int64_t divisor = 0;         // means divide by it; 0: the number of elements that count
};

}  // namespace cuda
