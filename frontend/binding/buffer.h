// A tensor's memory for others: the buffer protocol, and views of a storage for pickles and copies.
#pragma once

#include "frontend/binding/python.h"

namespace lamella::binding {

int get_buffer(PyObject* tensor, Py_buffer* view, int flags);
void release_buffer_export(PyObject* tensor, Py_buffer* view);

// Whether the tensor's memory may be given to code that goes around the dispatcher, or its element be read as a number
// that is an operator's argument: plugins are asked about tensors that a layer follows. False with the exception of the
// plugin that refuses.
enum class ExportAs { Memory, Number };
bool may_export(PyObject* tensor, ExportAs as);
// _set_export_checks(list): of callables, which are given the tensor and "memory" or "number", and raise
PyObject* set_export_checks(PyObject*, PyObject* list);

// The tensor whose memory is read in place of a tensor's: the tensor, or, of an opaque one, what its layer gives for
// it. `shared`: the reader keeps the memory. A new reference; null with an exception where no layer answers.
PyObject* readable(PyObject* tensor, bool shared);

// _storage_view(tensor, dtype, size, stride, offset) -> a tensor over the same storage, within its bounds
PyObject* storage_view(PyObject*, PyObject* args);

}  // namespace lamella::binding
