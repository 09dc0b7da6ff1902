// Objects of named kinds in Python. A schema names a kind, as in "mine::wait(mine.Work work) -> Tensor"; an object of
// it is made by a library, or by Python around a payload.
#pragma once

#include <string>

#include "frontend/binding/conversion.h"

namespace lamella::binding {

// What the wrapper makes of the object, else a lamella.library.Object. Takes it over; null with an exception.
PyObject* new_object(lamella_object* owned);
// Reads an Object of the kind, or something whose __lamella_object__ is one; false where it is neither, with an
// exception or without. The arena keeps alive what is borrowed.
bool read_object(PyObject* o, const std::string& kind, lamella_object** borrowed, Arena& arena);
// Called with each Object that goes to Python; its result goes there instead.
void set_object_wrapper(PyObject* callable);

int init_objects(PyObject* module);  // -1 with an exception

}  // namespace lamella::binding
