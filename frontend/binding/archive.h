// Archives of checkpoints, as Python reads and writes them: _C._Archive, _C._ArchiveWriter.
#pragma once

#include <pybind11/pybind11.h>

namespace lamella::binding {

void add_archive(pybind11::module_& m);

}  // namespace lamella::binding
