// check(): turns a status of the dispatcher into a Python exception, in functions of pybind11.
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
