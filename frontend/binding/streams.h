// Streams, events, memory and the current device of every backend, for lamella.accelerator.
#pragma once

#include <pybind11/pybind11.h>

namespace lamella::binding {

void add_streams(pybind11::module_&);

}  // namespace lamella::binding
