// Registration from Python: lamella._C._Library, the libraries of Python code, and the rules that there are.
#pragma once

#include <pybind11/pybind11.h>

namespace lamella::binding {

void add_registration(pybind11::module_& m);

}  // namespace lamella::binding
