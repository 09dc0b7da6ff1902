// The C table that every plugin gets.
#pragma once

#include <lamella/c_api.h>

namespace lamella::dispatcher {

const lamella_api* api();

// Registers meta, composites and the catalogue. Called once by whoever uses the library first; cheap afterwards.
void start();

}  // namespace lamella::dispatcher
