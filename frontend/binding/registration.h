// Registration from Python: lamella._C._Library, the libraries of Python code, and the rules that there are.
#pragma once

#include <pybind11/pybind11.h>

namespace lamella::binding {

// After a withdrawal, all of which is done, throws what Python's callables were the first to raise on the way.
void raise_first();

void add_registration(pybind11::module_& m);

}  // namespace lamella::binding
