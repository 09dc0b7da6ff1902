// Frames of Python as numbers: the upper half is the number of the code object, the lower half the instruction
// (before Python 3.11 the line).
//
// Note [Frames]  Taking a stack walks the frames; lines and names are looked up only when the stack is read. A code
//   object gets a number when it is first seen, and is kept alive, since the stack may be read after its function is
//   gone. All of this is guarded by the interpreter's lock.
#pragma once

#include "face.h"

namespace lamella::profiler::face {

int32_t read_frames(int64_t* frames, int32_t room);  // this thread's frames, innermost first; returns their number
PyCodeObject* code_of(int64_t frame);                // borrowed; null for an unknown number
int line_of(int64_t frame);
// Returns a file's or function's name; "?" if it cannot be encoded in UTF-8.
const char* text_of(PyObject*);

}  // namespace lamella::profiler::face
