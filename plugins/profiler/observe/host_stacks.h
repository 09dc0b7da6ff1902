// The host language's stacks: frames as numbers, which the host gives and turns into texts.
#pragma once

#include <cstdint>
#include <string>

namespace lamella::profiler {

// read: this thread's frames, the innermost first; how many. describe: writes at most `room` bytes; their number.
void set_stack_reader(int32_t (*read)(int64_t* frames, int32_t room),
                      int32_t (*describe)(int64_t frame, char* out, int32_t room));
int32_t read_host_stack(int64_t* frames, int32_t room);  // 0 without a host
std::string host_frame(int64_t frame);

}  // namespace lamella::profiler
