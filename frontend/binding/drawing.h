// `with` blocks in which the thread draws from the block's own generator in place of the device's default one.
#pragma once

#include <pybind11/pybind11.h>

namespace lamella::binding {

void add_drawing(pybind11::module_& m);

}  // namespace lamella::binding
