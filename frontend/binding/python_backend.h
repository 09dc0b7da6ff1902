// Backends written in Python: an allocator and copies as callables over addresses.
#pragma once

#include <string>

#include "frontend/binding/python.h"

namespace lattis::binding {

struct PythonBackendCalls {
  PyObject *alloc, *free, *copy_from_host, *copy_to_host, *synchronize;  // synchronize may be None
  int32_t device_count;
  uint32_t flags;
};

// Fills a description, with references of its own to the callables. Nothing of it is ever freed: tensors may outlive
// the registration, and come back to `free`.
void describe_python_backend(const std::string& name, const PythonBackendCalls& calls, lattis_backend* out);

}  // namespace lattis::binding
