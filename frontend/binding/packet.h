// OperatorPacket: the callable behind lamella.add and Tensor.add: every overload of one name, or one of them.
#pragma once

#include "frontend/binding/arguments.h"

namespace lamella::binding {

extern PyTypeObject* packet_type;

// One packet per qualified name ("aten::add", "aten::add.Tensor"), made on first use; null with an exception if there
// is no such operator.
PyObject* packet(const std::string& name);        // borrowed, never freed
const std::string* packet_name(PyObject* o);      // null if it is no packet
const std::string* packet_overload(PyObject* o);  // null if it has all
void forget_signatures();                         // after registrations: packets look again

// Calls a packet with positional arguments. Null with an exception.
PyObject* call_packet(PyObject* packet, PyObject* const* args, Py_ssize_t n);
// As above, but Py_NotImplemented where no overload takes the arguments: for number protocols.
PyObject* try_packet(PyObject* packet, PyObject* const* args, Py_ssize_t n);

// Runs an operator on values and turns its results into Python; releases the GIL above a work threshold.
PyObject* run(const dispatcher::Operator* op, const Value* values);

// "max"; "mine_max" for an operator of the namespace "mine".
std::string results_name(const dispatcher::Operator* op);
// The type of an operator's results if all of them have names, else null: lamella.return_types.max. Overloads with the
// same names share it. Borrowed, never freed.
PyTypeObject* results_type(const dispatcher::Operator* op);

int init_packets(PyObject* module);

}  // namespace lamella::binding
