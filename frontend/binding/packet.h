// OperatorPacket: the callable object of lamella.add and Tensor.add, for all overloads of a name or for one.
#pragma once

#include "frontend/binding/arguments.h"

namespace lamella::binding {

extern PyTypeObject* packet_type;

// Returns the packet of a qualified name ("aten::add", "aten::add.Tensor"), made at its first use; null with an
// exception if there is no such operator.
PyObject* packet(const std::string& name);        // borrowed, never freed
const std::string* packet_name(PyObject* o);      // null if it is no packet
const std::string* packet_overload(PyObject* o);  // null if it stands for all overloads, or is no packet
void forget_signatures();                         // called after registrations: packets compile their signatures anew

// Calls a packet with positional arguments. Null with an exception.
PyObject* call_packet(PyObject* packet, PyObject* const* args, Py_ssize_t n);
// As call_packet(), but returns Py_NotImplemented if no overload takes the arguments; for number protocols.
PyObject* try_packet(PyObject* packet, PyObject* const* args, Py_ssize_t n);

// Runs an operator on values and turns its results into Python; releases the GIL above a work threshold.
PyObject* run(const dispatcher::Operator* op, const Value* values);

int init_packets(PyObject* module);

}  // namespace lamella::binding
