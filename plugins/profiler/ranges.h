// Ranges: calls, steps of backward and blocks as ranges of another tool's library, NVTX or ITT.
#pragma once

#include <lamella/profiler.h>

namespace lamella::profiler {

lamella_status ranges_begin(const char* kind, const char* path, int32_t shapes, uint64_t* observer);

}  // namespace lamella::profiler
