// Access to a tensor's memory for other code: the buffer protocol, and views of a storage for pickles and copies.
#pragma once

#include "frontend/binding/python.h"

namespace lamella::binding {

int get_buffer(PyObject* tensor, Py_buffer* view, int flags);
void release_buffer_export(PyObject* tensor, Py_buffer* view);

// Returns whether the tensor's memory may be given to code that bypasses the dispatcher (Memory), or its element be
// read as a number for an operator's argument (Number). For a tensor that a layer follows, the plugins' export checks
// decide. Returns false with the exception of the check that refused.
enum class ExportAs { Memory, Number };
bool may_export(PyObject* tensor, ExportAs as);
// _set_export_checks(list): sets the callables that check an export. Each takes the tensor and "memory" or "number",
// and raises to refuse.
PyObject* set_export_checks(PyObject*, PyObject* list);

// Warns that a tensor over read-only memory may be written to. Returns false if the warning is an error.
bool warn_read_only(const char* who);

// Returns the tensor whose memory may be read in place of `tensor`: itself, or for an opaque tensor the one that its
// layer's `_materialize` makes. `shared` says that the reader keeps the memory. Returns a new reference; null with an
// exception if no layer has a kernel for it, or the kernel fails.
PyObject* readable(PyObject* tensor, bool shared);

// _storage_view(tensor, dtype, size, stride, offset) -> a tensor over the same storage, within its bounds
PyObject* storage_view(PyObject*, PyObject* args);

}  // namespace lamella::binding
