// The extension module _python: levels and boxes.
#include <lamella/python.h>

#include <vector>

#include "interface.h"

namespace lamella::transforms {
namespace {

const Interface* table = nullptr;

int64_t number(PyObject* o) { return PyLong_AsLongLong(o); }
PyObject* wrong(const char* who, Py_ssize_t n) {
  return PyErr_Format(PyExc_TypeError, "%s: expected %zd arguments", who, n);
}
lamella_tensor* tensor(const char* who, PyObject* o) {
  lamella_tensor* t = python::face().unwrap(o);
  if (!t) PyErr_Format(PyExc_TypeError, "%s: expected a Tensor, got %s", who, Py_TYPE(o)->tp_name);
  return t;
}

// open_level(kind, size, randomness, choice) returns the number of a new level.
PyObject* open_level(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 4) return wrong("open_level", 4);
  const int64_t kind = number(args[0]), size = number(args[1]), randomness = number(args[2]), choice = number(args[3]);
  if (PyErr_Occurred()) return nullptr;
  int64_t level = 0;
  if (table->open(static_cast<int32_t>(kind), size, static_cast<int32_t>(randomness), static_cast<int32_t>(choice),
                  &level))
    return python::face().raise_pending();
  return PyLong_FromLongLong(level);
}

PyObject* close_level(PyObject*, PyObject* level) {
  const int64_t n = number(level);
  if (PyErr_Occurred()) return nullptr;
  if (table->close(n)) return python::face().raise_pending();
  Py_RETURN_NONE;
}

PyObject* last_level(PyObject*, PyObject*) { return PyLong_FromLongLong(table->last()); }

PyObject* functional_level(PyObject*, PyObject*) { return PyLong_FromLongLong(table->functional_level()); }

// box(batch, dim, level) and unbox(tensor, dim, level)
template <auto Member>
PyObject* convert(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 3) return wrong("box, unbox", 3);
  lamella_tensor* t = tensor("box, unbox", args[0]);
  const int64_t dim = t ? number(args[1]) : 0, level = t ? number(args[2]) : 0;
  if (PyErr_Occurred()) return nullptr;
  lamella_tensor* out = nullptr;
  if ((table->*Member)(t, dim, level, &out)) return python::face().raise_pending();
  return python::face().wrap(out);
}

// dual(primal, tangent, level)
PyObject* dual(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 3) return wrong("dual", 3);
  lamella_tensor* primal = tensor("dual", args[0]);
  lamella_tensor* tangent = primal ? tensor("dual", args[1]) : nullptr;
  const int64_t level = tangent ? number(args[2]) : 0;
  if (PyErr_Occurred()) return nullptr;
  lamella_tensor* out = nullptr;
  if (table->dual(primal, tangent, level, &out)) return python::face().raise_pending();
  return python::face().wrap(out);
}

PyObject* shared(lamella_tensor* t) {
  api().retain(t);
  return python::face().wrap(t);
}

// functional(value, level)
PyObject* functional(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 2) return wrong("functional", 2);
  lamella_tensor* value = tensor("functional", args[0]);
  const int64_t level = value ? number(args[1]) : 0;
  if (PyErr_Occurred()) return nullptr;
  lamella_tensor* out = nullptr;
  if (table->functional(value, level, &out)) return python::face().raise_pending();
  return python::face().wrap(out);
}

// settle(level) returns pairs of tensors from outside that were written and of their values.
PyObject* settle(PyObject*, PyObject* level) {
  const int64_t n = number(level);
  PyObject* pairs = PyErr_Occurred() ? nullptr : PyList_New(0);
  if (!pairs) return nullptr;
  const auto take = [](void* list, lamella_tensor* t, lamella_tensor* value) {
    PyObject* one = python::face().wrap(t);
    PyObject* other = python::face().wrap(value);
    PyObject* pair = one && other ? PyTuple_Pack(2, one, other) : nullptr;
    if (pair) PyList_Append(static_cast<PyObject*>(list), pair);
    Py_XDECREF(pair);
    Py_XDECREF(other);
    Py_XDECREF(one);
  };
  if (table->settle(n, take, pairs)) python::face().raise_pending();
  if (PyErr_Occurred()) Py_CLEAR(pairs);
  return pairs;
}

PyObject* set_below(PyObject*, PyObject* level) {
  const int64_t n = number(level);
  return PyErr_Occurred() ? nullptr : PyLong_FromLongLong(table->set_below(n));
}

// inner_of(tensor) returns what is in a box, and its level's number; None for another tensor.
PyObject* inner_of(PyObject*, PyObject* o) {
  const lamella_tensor* t = tensor("inner_of", o);
  if (!t) return nullptr;
  lamella_tensor* inner = nullptr;
  int64_t level = 0;
  if (table->inner(t, &inner, &level)) return python::face().raise_pending();
  if (!inner) Py_RETURN_NONE;
  PyObject* made = shared(inner);
  return made ? Py_BuildValue("NL", made, static_cast<long long>(level)) : nullptr;
}

// kind_of(tensor) returns the kind of a box; -1 for another tensor.
PyObject* kind_of(PyObject*, PyObject* o) {
  const lamella_tensor* t = tensor("kind_of", o);
  if (!t) return nullptr;
  int32_t kind = -1;
  if (table->kind_of(t, &kind)) return python::face().raise_pending();
  return PyLong_FromLong(kind);
}

PyObject* is_recorded(PyObject*, PyObject* o) {
  lamella_tensor* t = tensor("is_recorded", o);
  int32_t is = 0;
  if (!t) return nullptr;
  if (table->is_recorded(t, &is)) return python::face().raise_pending();
  return PyBool_FromLong(is);
}

// tangent_of(tensor) returns the tangent of a box; None for another tensor.
PyObject* tangent_of(PyObject*, PyObject* o) {
  lamella_tensor* t = tensor("tangent_of", o);
  if (!t) return nullptr;
  lamella_tensor* tangent = nullptr;
  if (table->tangent(t, &tangent)) return python::face().raise_pending();
  if (!tangent) Py_RETURN_NONE;
  return shared(tangent);
}

PyObject* depth(PyObject*, PyObject* level) {
  const int64_t n = number(level);
  if (PyErr_Occurred()) return nullptr;
  int32_t place = 0;
  if (table->depth(n, &place)) return python::face().raise_pending();
  return PyLong_FromLong(place);
}

// fresh(tensor) returns a leaf over the same elements that requires a gradient, cut(tensor) one without history.
template <auto Member>
PyObject* over_elements(PyObject*, PyObject* o) {
  lamella_tensor *t = tensor("fresh, cut", o), *out = nullptr;
  if (!t) return nullptr;
  if ((table->*Member)(t, &out)) return python::face().raise_pending();
  return python::face().wrap(out);
}

bool fill(const char* who, PyObject* list, std::vector<lamella_tensor*>* out) {
  PyObject* fast = PySequence_Fast(list, "expected a sequence of tensors");
  if (!fast) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast); i++) {
    lamella_tensor* t = tensor(who, PySequence_Fast_GET_ITEM(fast, i));
    if (!t) break;
    out->push_back(t);
  }
  Py_DECREF(fast);
  return !PyErr_Occurred();
}

// has_other_leaves(roots, inputs)
PyObject* has_other_leaves(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 2) return wrong("has_other_leaves", 2);
  std::vector<lamella_tensor*> roots, inputs;
  if (!fill("has_other_leaves", args[0], &roots) || !fill("has_other_leaves", args[1], &inputs)) return nullptr;
  int32_t found = 0;
  if (table->has_other_leaves(roots.data(), static_cast<int32_t>(roots.size()), inputs.data(),
                              static_cast<int32_t>(inputs.size()), &found))
    return python::face().raise_pending();
  return PyBool_FromLong(found);
}

template <class F>
PyCFunction fast(F* f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f));
}

PyMethodDef functions[] = {{"open_level", fast(open_level), METH_FASTCALL, nullptr},
                           {"last_level", last_level, METH_NOARGS, nullptr},
                           {"functional_level", functional_level, METH_NOARGS, nullptr},
                           {"close_level", close_level, METH_O, nullptr},
                           {"box", fast(convert<&Interface::box>), METH_FASTCALL, nullptr},
                           {"unbox", fast(convert<&Interface::unbox>), METH_FASTCALL, nullptr},
                           {"dual", fast(dual), METH_FASTCALL, nullptr},
                           {"inner_of", inner_of, METH_O, nullptr},
                           {"kind_of", kind_of, METH_O, nullptr},
                           {"functional", fast(functional), METH_FASTCALL, nullptr},
                           {"set_below", set_below, METH_O, nullptr},
                           {"settle", settle, METH_O, nullptr},
                           {"is_recorded", is_recorded, METH_O, nullptr},
                           {"tangent_of", tangent_of, METH_O, nullptr},
                           {"depth", depth, METH_O, nullptr},
                           {"cut", over_elements<&Interface::cut>, METH_O, nullptr},
                           {"fresh", over_elements<&Interface::fresh>, METH_O, nullptr},
                           {"has_other_leaves", fast(has_other_leaves), METH_FASTCALL, nullptr},
                           {nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "_python",
                          "The Python face of the transforms.",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace lamella::transforms

PyMODINIT_FUNC PyInit__python(void) {
  using namespace lamella::transforms;
  if (lamella::python::import() < 0) return nullptr;
  table = static_cast<const Interface*>(lamella::api().find_interface("vmap", 1));
  if (!table) return PyErr_Format(PyExc_ImportError, "the transforms plugin's library is not loaded");
  return PyModule_Create(&definition);
}
