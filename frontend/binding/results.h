// The results of operators that have several: a tuple, or a type such as lamella.return_types.max if they have names.
#pragma once

#include "dispatcher/call.h"
#include "frontend/binding/python.h"

namespace lamella::binding {

// Returns the name of the results' type: "max", or "mine_max" for an operator of the namespace "mine".
std::string results_name(const dispatcher::Operator* op);
// Returns the type of an operator's results, such as lamella.return_types.max, if all of them have names, else null.
// Overloads with the same names share it. Borrowed, never freed.
PyTypeObject* results_type(const dispatcher::Operator* op);
// Converts the results of an operator that has none or several to Python, and takes them over.
PyObject* named_results(const dispatcher::Operator* op, Value* rets, int n);

}  // namespace lamella::binding
