// Writes state dicts of modules without calling a Python function for each usual module.
#pragma once

#include "frontend/binding/python.h"

namespace lamella::binding {

// Methods of lamella.nn.Module's base class.
PyObject* watch_state(PyObject*, PyObject* usual);
PyObject* write_state(PyObject* self, PyObject* const* args, Py_ssize_t n);

int init_module_state();

}  // namespace lamella::binding
