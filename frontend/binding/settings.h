// Settings of the process and the thread for Python: number of threads, default dtype and device, seeds, generators;
// and look-ups of dtypes.
#pragma once

#include <pybind11/pybind11.h>

namespace lamella::binding {

void add_settings(pybind11::module_& m);

}  // namespace lamella::binding
