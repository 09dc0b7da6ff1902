// The dispatcher's status in functions of pybind11: an error becomes Python's exception.
#pragma once

#include <pybind11/pybind11.h>

#include "frontend/binding/conversion.h"

namespace lamella::binding {

inline void check(lamella_status st) {
  if (!st) return;
  raise_pending();
  throw pybind11::error_already_set();
}

}  // namespace lamella::binding
