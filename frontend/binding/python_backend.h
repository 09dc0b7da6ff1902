// Backends written in Python: methods of an object fill the slots of lamella_backend.
#pragma once

#include <string>
#include <vector>

#include "dispatcher/ledger.h"
#include "frontend/binding/python.h"

namespace lamella::binding {

// Returns the names of the methods that a backend may have, which are those of the C slots.
const std::vector<std::string>& backend_slots();

struct PythonBackend {
  std::string name;
  std::vector<PyObject*> methods;  // in the order of backend_slots(); null for a missing method
  int32_t device_count, dlpack_type;
  uint32_t flags;
  std::vector<int> dtypes;  // empty means all
};

// Registers the backend. Its references to the methods are released only if that fails, since tensors may outlive the
// registration and call `free`.
lamella_status register_python_backend(dispatcher::Library& lib, const PythonBackend&, lamella_handle* handle);

}  // namespace lamella::binding
