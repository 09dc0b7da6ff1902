// Stacks of Python, each with a number.
//
// Note [Stacks]  A stack is a path in a tree whose nodes are places in code: the caller above, the code object, the
//   instruction. Taking one walks the frames and finds the nodes; lines are looked up when somebody reads the stack.
//   The tree is Python's: it is touched with the interpreter's lock, and keeps the code objects that it names.
#pragma once

#include "face.h"

namespace lamella::profiler::face {

// Where a frame is in its code, and the line of such a place. Python before 3.11 tells the line alone.
int place_of(PyFrameObject*);
int line_of(PyCodeObject*, int place);
// A file's or function's name; "?" where it is no UTF-8.
const char* text_of(PyObject*);

// Of this thread; 0 if it runs no Python. With the lock or without; the exception that is set stays.
uint64_t take_stack();
// A list of {"filename", "line", "name"}, the innermost first. Null with an exception.
PyObject* stack_to_python(uint64_t stack);
// "train.py:12 in step": the innermost place outside of Lamella.
void describe_stack(uint64_t stack, char* text, uint64_t room);

}  // namespace lamella::profiler::face
