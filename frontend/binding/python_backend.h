// Backends written in Python: an allocator and copies as callables over addresses.
#pragma once

#include <string>

#include "dispatcher/ledger.h"
#include "frontend/binding/python.h"

namespace lamella::binding {

struct PythonBackendCalls {
  PyObject *alloc, *free, *copy_from_host, *copy_to_host, *synchronize;  // synchronize may be None
  int32_t device_count;
  uint32_t flags;
};

// Registers it, with references of its own to the callables, which are never given back: tensors may outlive the
// registration, and come back to `free`. A backend that is refused leaves nothing.
lamella_status register_python_backend(dispatcher::Library& lib, const std::string& name,
                                       const PythonBackendCalls& calls, lamella_handle* handle);

}  // namespace lamella::binding
