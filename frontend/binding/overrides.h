// Overrides operators from Python: `__torch_function__` and `__torch_dispatch__` of subclasses, and modes over both.
//
// Note [Two places]  `__torch_function__` is called when Python calls an operator, before its arguments are read. It
//   belongs to the binding: packets and the indexing of Tensor look for it. `__torch_dispatch__` is called by a layer
//   below autograd, so it sees the calls that autograd and composites make. Each costs a call the comparison of one
//   word, unless a mode is on or an argument is of a subclass. A mode belongs to one thread. All nested modes are
//   levels of the one layer: while the handler of the innermost runs, the outer ones stay on.
#pragma once

#include <atomic>

#include "dispatcher/operator.h"
#include "frontend/binding/python.h"
#include "frontend/binding/tensor_object.h"

namespace pybind11 {
class module_;
}

namespace lamella::binding {

extern std::atomic<int> function_modes;  // the number of modes over __torch_function__, of all threads

inline bool any_function_mode() { return function_modes.load(std::memory_order_relaxed) != 0; }

// Returns whether a mode of this thread or the type of an argument overrides a call of `function`. Then *result is the
// call's result, null with an exception. `kwnames` are the names of the last arguments, or null.
bool overridden(PyObject* function, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, PyObject** result);
// Returns whether a mode of this thread overrides a call. Classes of arguments are called only if the mode returned
// NotImplemented. *result is as above.
bool overridden_by_mode(PyObject* function, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, PyObject** result);

// The last tensor class, such as Parameter, that was found to override nothing. A change of the class changes its
// version.
struct QuietClass {
  PyTypeObject* type;
  unsigned int version;
};
extern QuietClass quiet_class;

// Returns whether an object is a tensor whose class is known to override nothing; for false, implementation() decides.
inline bool is_quiet_tensor(PyObject* o) {
  const PyTypeObject* t = Py_TYPE(o);
  return t == tensor_type || (t == quiet_class.type && t->tp_version_tag == quiet_class.version);
}

// Returns whether the first argument of a call, or a mode, may override it.
bool may_override(PyObject* self);

// Returns the same tensor as an object of a subclass. Takes over `fresh`, which must be the only reference to that
// object. Null with an exception.
PyObject* of_class(PyObject* fresh, PyTypeObject* type);
// Sets or clears the layer's bit on the tensor, by whether the class has a __torch_dispatch__.
lamella_status mark_class(Tensor* t, PyTypeObject* type);
// Returns whether a class has a __torch_dispatch__ of its own.
bool has_dispatch(PyTypeObject* type);

int init_overrides(PyObject* module);
void add_overrides(pybind11::module_& m);

}  // namespace lamella::binding
