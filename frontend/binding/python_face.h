// The part of the binding for other extension modules: the interface "python" of <lamella/python.h>, and the capsule
// with the table of the C ABI.
#pragma once

#include "dispatcher/operator.h"
#include "frontend/binding/python.h"

namespace lamella::binding {

// The operator that a packet or a name ("mine::twice.Tensor") means; null with an exception. Out= forms are told by
// name.
const dispatcher::Operator* find_operator(PyObject* packet_or_name);

int init_python_face(PyObject* module);

}  // namespace lamella::binding
