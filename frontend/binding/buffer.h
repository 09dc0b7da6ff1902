// A tensor's memory for others: the buffer protocol, and views of a storage for pickles and copies.
#pragma once

#include "frontend/binding/python.h"

namespace lattis::binding {

int get_buffer(PyObject* tensor, Py_buffer* view, int flags);
void release_buffer_export(PyObject* tensor, Py_buffer* view);

// _storage_view(tensor, dtype, size, stride, offset) -> a tensor over the same storage, within its bounds
PyObject* storage_view(PyObject*, PyObject* args);

}  // namespace lattis::binding
