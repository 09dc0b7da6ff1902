// The memory that a kernel of one element at a time works on.
#pragma once
#include "layout.h"

namespace cuda {

struct Pointers {
  char* data[layout_operands];  // the output first
};

}  // namespace cuda
