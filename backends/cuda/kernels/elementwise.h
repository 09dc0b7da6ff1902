// The operands' memory, for kernels that compute one element at a time.
#pragma once
#include "layout.h"

namespace cuda {

struct Pointers {
  char* data[layout_operands];  // the output first
};

}  // namespace cuda
