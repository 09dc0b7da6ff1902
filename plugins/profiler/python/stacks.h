// Stacks of Python, each with a number.
//
// Note [Stacks]  A stack is a path in a tree whose nodes are frames: the caller above, and the number that frames.h
// gives
//   this one. Taking a stack finds the nodes. The tree is touched with the interpreter's lock.
#pragma once

#include "face.h"

namespace lamella::profiler::face {

// Of this thread; 0 if it runs no Python. With the lock or without; the exception that is set stays.
uint64_t take_stack();
// A list of {"filename", "line", "name"}, the innermost first. Null with an exception.
PyObject* stack_to_python(uint64_t stack);
// "train.py:12 in step": the innermost place outside of Lamella.
void describe_stack(uint64_t stack, char* text, uint64_t room);

}  // namespace lamella::profiler::face
