// The C table that every plugin gets.
#pragma once

#include <lattis/c_api.h>

namespace lattis::dispatcher {

const lattis_api* api();

// Registers meta, composites and the catalogue. Called once by whoever uses the library first; cheap afterwards.
void start();

}  // namespace lattis::dispatcher
