// Stacks of the languages that call operators: each represents its frames as numbers, and turns these into text.
#pragma once

#include <lamella/profiler_table.h>

#include <string>

namespace lamella::profiler {

// `read` writes this thread's frames, innermost first, and returns their number. `describe` writes a frame's text, of
// at most `room` bytes, and returns its length.
void set_stack_reader(lamella_stack_language language, int32_t (*read)(int64_t* frames, int32_t room),
                      int32_t (*describe)(int64_t frame, char* out, int32_t room));
int32_t read_host_stack(int64_t* frames, int32_t room);  // returns the number of frames of all languages
int32_t describe_frame(int64_t frame, char* out, int32_t room);
std::string host_frame(int64_t frame);

}  // namespace lamella::profiler
