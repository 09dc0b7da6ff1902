// The base class of lamella.nn.Module, in C: calls of modules, and the look-up of their attributes.
#pragma once

#include "frontend/binding/python.h"

namespace lamella::binding {

int init_module_base(PyObject* module);

}  // namespace lamella::binding
