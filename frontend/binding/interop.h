// Conversion of data: tensor(), from_numpy, tolist.
#pragma once

#include "frontend/binding/python.h"

namespace lamella::binding {

extern PyMethodDef interop_methods[];

bool is_ndarray(PyObject* o);
PyObject* tensor_of_array(PyObject* array);  // over the array's memory if a tensor can describe it, else over a copy

}  // namespace lamella::binding
