// Backends written in Python: the slots of lamella_backend as methods of an object.
#pragma once

#include <string>
#include <vector>

#include "dispatcher/ledger.h"
#include "frontend/binding/python.h"

namespace lamella::binding {

// The methods that a backend may have, by the names of the C slots that they fill.
const std::vector<std::string>& backend_slots();

struct PythonBackend {
  std::string name;
  std::vector<PyObject*> methods;  // in the order of backend_slots(); null: it has no such thing
  int32_t device_count, dlpack_type;
  uint32_t flags;
  std::vector<int> dtypes;  // empty: all
};

// Registers it, with references of its own to the methods, which are never given back: tensors may outlive the
// registration, and come back to `free`. A backend that is refused leaves nothing.
lamella_status register_python_backend(dispatcher::Library& lib, const PythonBackend&, lamella_handle* handle);

}  // namespace lamella::binding
