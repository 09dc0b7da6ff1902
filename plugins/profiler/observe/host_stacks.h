// Stacks of the host language: the host represents frames as numbers, and turns these into text.
#pragma once

#include <cstdint>
#include <string>

namespace lamella::profiler {

// `read` writes this thread's frames, innermost first, and returns their number. `describe` writes a frame's text, of
// at most `room` bytes, and returns its length.
void set_stack_reader(int32_t (*read)(int64_t* frames, int32_t room),
                      int32_t (*describe)(int64_t frame, char* out, int32_t room));
int32_t read_host_stack(int64_t* frames, int32_t room);  // 0 without a host language
std::string host_frame(int64_t frame);

}  // namespace lamella::profiler
