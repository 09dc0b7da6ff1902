// Tensors in memory that processes share, for lamella.multiprocessing.
#pragma once

#include <pybind11/pybind11.h>

namespace lamella::binding {

void add_shared(pybind11::module_& m);

}  // namespace lamella::binding
