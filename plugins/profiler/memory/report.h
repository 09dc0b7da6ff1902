// Notes on out-of-memory errors, and the interface "profiler.memory" over the history of memory.
#pragma once

#include <lamella/library.h>

namespace lamella::profiler {

void add_memory(Library&);

}  // namespace lamella::profiler
