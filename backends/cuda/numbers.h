// Numbers of a call, as elements that a kernel takes by value.
#pragma once

#include "devices.h"

namespace cuda {

// Writes a number, or the element of a zero-dim tensor of the host, as an element of the type in which `dtype` is
// computed: float for the short floats. `absent` (enum lamella_absent) decides the number that stands for None.
void put_number(const lamella_value&, int dtype, void* to, int absent = LAMELLA_ABSENT_ERROR);

// Returns the dtype in which elements of a dtype are computed: float32 for the short floats.
constexpr int computed_in(int dtype) {
  return dtype == LAMELLA_FLOAT16 || dtype == LAMELLA_BFLOAT16 ? static_cast<int>(LAMELLA_FLOAT32) : dtype;
}

}  // namespace cuda
