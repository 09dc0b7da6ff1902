// The optimizers' updates for Python: their options and their state, with names, defaults and ranges.
#pragma once

#include <pybind11/pybind11.h>

namespace lamella::binding {

void add_updates(pybind11::module_&);

}  // namespace lamella::binding
