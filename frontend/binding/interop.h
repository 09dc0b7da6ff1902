// Data in and out: tensor(), from_numpy, tolist.
#pragma once

#include "frontend/binding/python.h"

namespace lamella::binding {

extern PyMethodDef interop_methods[];

bool is_ndarray(PyObject* o);
PyObject* tensor_of_array(PyObject* array);  // over the array's memory where it can lie there, else over a copy

}  // namespace lamella::binding
