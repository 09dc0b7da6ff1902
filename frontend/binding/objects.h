// Objects of named kinds in Python. A schema names a kind, as in "mine::wait(mine.Work work) -> Tensor". An object is
// made by a native library, or by Python with a payload.
#pragma once

#include <string>

#include "frontend/binding/conversion.h"

namespace lamella::binding {

// Passes the object to the wrapper and returns the result; without a wrapper, returns a lamella.library.Object. Takes
// the object over; null with an exception.
PyObject* new_object(lamella_object* owned);
// Reads an Object of the kind, or an object whose attribute __lamella_object__ is one. Returns false for another
// object, with or without an exception. The arena keeps the borrowed object alive.
bool read_object(PyObject* o, const std::string& kind, lamella_object** borrowed, Arena& arena);
// Sets the function that each Object is passed to on its way to Python; its result replaces the Object.
void set_object_wrapper(PyObject* callable);

int init_objects(PyObject* module);  // -1 with an exception

}  // namespace lamella::binding
