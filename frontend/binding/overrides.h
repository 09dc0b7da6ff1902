// Overriding operators from Python: `__torch_function__` and `__torch_dispatch__` of subclasses, and modes over both.
//
// Note [Two places]  `__torch_function__` is asked when Python calls an operator, before its arguments are read. It
//   belongs to the binding: the packets and the indexing of Tensor look for it. `__torch_dispatch__` is asked by a
//   layer of its own behind autograd, so that it sees what autograd and composites call. Neither costs a call anything
//   but the comparison of one word, unless a mode is on or an argument is of a subclass. Modes are of one thread. All
//   levels of nested modes are the state of that one layer: the handler of the innermost one runs with the others left
//   on.
#pragma once

#include <atomic>

#include "dispatcher/operator.h"
#include "frontend/binding/python.h"
#include "frontend/binding/tensor_object.h"

namespace pybind11 {
class module_;
}

namespace lamella::binding {

extern std::atomic<int> function_modes;  // how many are on, on all threads

inline bool any_function_mode() { return function_modes.load(std::memory_order_relaxed) != 0; }

// Whether a mode of this thread or the type of an argument overrides a call of `function`; its result is in *result,
// null with an exception. kwnames: the names of the last arguments, or null.
bool overridden(PyObject* function, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, PyObject** result);
// The same for modes alone: for calls whose arguments are no subclasses.
bool overridden_by_mode(PyObject* function, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, PyObject** result);

// The class of tensors, such as Parameter, that was last found to override nothing. Its version changes with the class.
struct QuietClass {
  PyTypeObject* type;
  unsigned int version;
};
extern QuietClass quiet_class;

// Whether an object is a tensor whose class overrides nothing, as far as that is known. False: look closer.
inline bool is_quiet_tensor(PyObject* o) {
  const PyTypeObject* t = Py_TYPE(o);
  return t == tensor_type || (t == quiet_class.type && t->tp_version_tag == quiet_class.version);
}

// Whether a call may be overridden by its first argument, or by a mode.
bool may_override(PyObject* self);

// The same tensor as an object of a subclass. The reference that is passed must be the only one to the object, which
// ends. Null with an exception.
PyObject* of_class(PyObject* fresh, PyTypeObject* type);
// Has the layer see the calls with a tensor if the class of its object has a __torch_dispatch__, or no longer.
lamella_status mark_class(Tensor* t, PyTypeObject* type);
// Whether a class has a __torch_dispatch__ of its own.
bool answers_calls(PyTypeObject* type);

int init_overrides(PyObject* module);
void add_overrides(pybind11::module_& m);

}  // namespace lamella::binding
