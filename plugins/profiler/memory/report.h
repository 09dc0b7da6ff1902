// The notes of an error of too little memory, and the interface over the history of memory.
#pragma once

#include <lamella/library.h>

namespace lamella::profiler {

void add_memory(Library&);

}  // namespace lamella::profiler
