// Settings of the process and the thread for Python: threads, defaults, seeds, memory of devices; and dtypes.
#pragma once

#include <pybind11/pybind11.h>

namespace lamella::binding {

void add_settings(pybind11::module_& m);

}  // namespace lamella::binding
