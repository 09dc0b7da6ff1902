// `with` blocks in which the thread draws from a generator of the block.
#pragma once

#include <pybind11/pybind11.h>

namespace lamella::binding {

void add_drawing(pybind11::module_& m);

}  // namespace lamella::binding
