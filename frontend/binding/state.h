// What layers keep on tensors and threads, as Python sees it: the state of slots for pickles, tensors that trade
// places, and the captured state of a thread.
#pragma once

#include <pybind11/pybind11.h>

namespace lamella::binding {

void add_state(pybind11::module_& m);

}  // namespace lamella::binding
