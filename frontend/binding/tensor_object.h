// The Python object of a tensor.
//
// Note [One object per tensor]  Tensor.host points to the Python object. Normally the object owns the tensor. If the
//   object's last Python reference is dropped while others hold the tensor (a view's base, a layer's state), the object
//   is freed if it has no state to lose: a dict that is not empty, a subclass, weak references. Otherwise ownership
//   flips: the tensor owns the object, which stays alive without owning the tensor, until the next wrap() flips it
//   back.
#pragma once

#include "frontend/binding/python.h"

namespace lamella::binding {

struct TensorObject {
  PyObject_HEAD Tensor* tensor;
  PyObject* dict;
  PyObject* weakrefs;
  bool owned_by_tensor;
};

extern PyTypeObject* tensor_type;

inline bool is_tensor(PyObject* o) { return Py_TYPE(o) == tensor_type || PyType_IsSubtype(Py_TYPE(o), tensor_type); }
inline Tensor* unwrap(PyObject* o) { return reinterpret_cast<TensorObject*>(o)->tensor; }

// Returns the Python object of a tensor; takes over the caller's reference to the tensor.
PyObject* wrap(Tensor* owned);

int init_tensor_type(PyObject* module);

}  // namespace lamella::binding
