// The lines of the programs that run on a thread, for the profiler's stacks.
#pragma once

#include <lamella/library.h>

namespace lamella::graph {

// Gives the interface "profiler", once it is there, the functions that read and describe the frames of programs.
void register_stacks(Library& m);

}  // namespace lamella::graph
