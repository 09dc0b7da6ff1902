// Ranges: shows calls, steps of backward and blocks in other tools, through the libraries NVTX or ITT.
#pragma once

#include <lamella/profiler.h>

namespace lamella::profiler {

lamella_status ranges_begin(const char* kind, const char* path, int32_t shapes, uint64_t* observer);

}  // namespace lamella::profiler
