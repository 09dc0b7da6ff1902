// Tensors in memory that processes share, as lamella.multiprocessing needs them.
#pragma once

#include <pybind11/pybind11.h>

namespace lamella::binding {

void add_shared(pybind11::module_& m);

}  // namespace lamella::binding
