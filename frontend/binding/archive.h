// Archives of checkpoints for Python: _C._Archive reads them, _C._ArchiveWriter writes them.
#pragma once

#include <pybind11/pybind11.h>

namespace lamella::binding {

void add_archive(pybind11::module_& m);

}  // namespace lamella::binding
