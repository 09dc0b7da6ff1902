// The base class of lamella.nn.Module: how a module is called, and how its attributes are found.
#pragma once

#include "frontend/binding/python.h"

namespace lamella::binding {

int init_module_base(PyObject* module);

}  // namespace lamella::binding
