// The state that layers keep on tensors and threads, for Python: slots for pickles, the exchange of two tensors, and
// the captured state of a thread.
#pragma once

#include <pybind11/pybind11.h>

namespace lamella::binding {

void add_state(pybind11::module_& m);

}  // namespace lamella::binding
