// The slots of Tensor's type for the protocols of numbers, sequences and objects; protocols.cpp fills them.
#pragma once

#include <vector>

#include "frontend/binding/python.h"

namespace lamella::binding {

void add_protocol_slots(std::vector<PyType_Slot>& slots);
// Finds the operators that the protocols call, and makes the type of plugins' attributes. To be called after the
// catalogue is registered; -1 with an exception.
int init_protocols();

// tensor[index] and tensor[index] = value; in indexing.cpp.
PyObject* get_item(PyObject* self, PyObject* index);
int set_item(PyObject* self, PyObject* index, PyObject* value);

}  // namespace lamella::binding
