// Python's frames as numbers: that of the code object in the upper half, the instruction in the lower one.
//
// Note [Frames]  Taking a stack walks the frames; lines and names are looked up when somebody reads it. Code objects
// get a
//   number each when they are met for the first time, and are kept: a stack names them when their functions may be
//   gone. All of this is touched with the interpreter's lock.
#pragma once

#include "face.h"

namespace lamella::profiler::face {

int32_t read_frames(int64_t* frames, int32_t room);  // of this thread, the innermost first; how many
PyCodeObject* code_of(int64_t frame);                // borrowed; null: there is none
int line_of(int64_t frame);
// A file's or function's name; "?" where it is no UTF-8.
const char* text_of(PyObject*);

}  // namespace lamella::profiler::face
