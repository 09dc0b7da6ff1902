// Loops of the optimizers' updates, compiled once per instruction set, for float and double.
#pragma once

#include <lamella/c_api.h>
#include <lamella/updates.h>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

// Updates n elements. `at` has the addresses of the parameter, its gradient and its state, in this order; `sign` is -1
// to maximize.
using UpdateLoop = void (*)(int64_t n, char* const* at, double sign, const updates::Plan& plan);

}  // namespace lamella::cpu

// Returns the loop of an update by its number in LAMELLA_UPDATES.
LAMELLA_DECLARE_ISA(UpdateLoop, update_loop, (int number, unsigned variant, int dtype))
