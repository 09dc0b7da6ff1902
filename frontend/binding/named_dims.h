// Dimensions that a call gives by name, as in sum(x, "channel"): the resolver that a plugin registers finds their
// numbers. dispatcher/dims.h has its registration.
#pragma once

#include <functional>
#include <string>

#include "frontend/binding/conversion.h"

namespace lamella::binding {

// Makes the beginning of an error's message; calls without an error do not make it.
using Where = std::function<std::string()>;

// Returns whether an object names dimensions: a str, or, for a list of them, a list or tuple of strs and perhaps ints.
bool names_dims(PyObject* o, bool list);
// Returns the end of an error's message about an argument of another type: if it names dimensions and no resolver is
// registered, what is missing, else "".
const char* names_hint(PyObject* o, bool list);
// Converts an object that names dimensions of `self` to a value of the type, which is int or a list of int. One str
// stands for a list as one int does, also in a list without a fixed size. Returns false with an exception; `where`
// begins its message, unless Python code raised it.
bool resolve_dims(Tensor* self, PyObject* o, const dispatcher::Type& t, Value* v, Arena& arena, const Where& where);

// Finds the dimension that an object names or counts. Returns false with an exception; `where` begins its message.
bool resolve_one(Tensor* self, PyObject* o, int64_t* dim, const Where& where);

// Calls a PythonKernel with the tensor and the name. It returns an int, or NotImplemented to decline, or raises.
lamella_status resolve_python_dim(void* context, lamella_tensor* self, const char* name, int64_t* dim);

}  // namespace lamella::binding
