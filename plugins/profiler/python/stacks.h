// Stacks of Python as numbers.
//
// Note [Stacks]  A stack is a path in a tree of nodes; a node is the number of the caller's node and the frame's number
//   of frames.h. Taking a stack looks the nodes up, or adds them. The tree is guarded by the interpreter's lock.
#pragma once

#include "face.h"

namespace lamella::profiler::face {

// Returns the number of this thread's stack; 0 if the thread runs no Python. May be called with or without the
// interpreter's lock; a pending exception is kept.
uint64_t take_stack();
// Returns a list of {"filename", "line", "name"}, innermost first; null with an exception.
PyObject* stack_to_python(uint64_t stack);
// Writes the innermost place outside of Lamella, such as "train.py:12 in step"; the outermost place if all are inside.
void describe_stack(uint64_t stack, char* text, uint64_t room);

}  // namespace lamella::profiler::face
