// Registration from Python: lamella._C._Library for libraries written in Python, and the registered rules.
#pragma once

#include <pybind11/pybind11.h>

namespace lamella::binding {

// Throws the first exception that Python callables raised during a withdrawal; called when the withdrawal is complete.
void raise_first();

void add_registration(pybind11::module_& m);

}  // namespace lamella::binding
