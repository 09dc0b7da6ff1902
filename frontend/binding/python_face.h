// The binding's services for other extension modules: the interface "python" of <lamella/python.h>, and the capsule
// with the table of the C ABI.
#pragma once

#include "dispatcher/operator.h"
#include "frontend/binding/python.h"

namespace lamella::binding {

// Returns the operator of a packet or a name ("mine::twice.Tensor"); null with an exception, also for a packet or name
// of several overloads. An out= form is found only by its full name.
const dispatcher::Operator* find_operator(PyObject* packet_or_name);

int init_python_face(PyObject* module);

}  // namespace lamella::binding
