// The extension module _python: levels and boxes of vmap.
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

// open_level(size, randomness, fallback) returns the number of a new level.
PyObject* open_level(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 3) return wrong("open_level", 3);
  const int64_t size = number(args[0]), randomness = number(args[1]), fallback = number(args[2]);
  if (PyErr_Occurred()) return nullptr;
  int64_t level = 0;
  if (table->open(size, static_cast<int32_t>(randomness), static_cast<int32_t>(fallback), &level))
    return python::face().raise_pending();
  return PyLong_FromLongLong(level);
}

PyObject* close_level(PyObject*, PyObject* level) {
  const int64_t n = number(level);
  if (PyErr_Occurred()) return nullptr;
  if (table->close(n)) return python::face().raise_pending();
  Py_RETURN_NONE;
}

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

// batch_of(tensor) returns a box's batch along dimension 0 and its level's number; None for another tensor.
PyObject* batch_of(PyObject*, PyObject* o) {
  lamella_tensor* t = tensor("batch_of", o);
  if (!t) return nullptr;
  int64_t level = 0;
  lamella_tensor* batch = table->batch(t, &level);
  if (!batch) Py_RETURN_NONE;
  api().retain(batch);
  PyObject* made = python::face().wrap(batch);
  return made ? Py_BuildValue("NL", made, static_cast<long long>(level)) : nullptr;
}

PyObject* depth(PyObject*, PyObject* level) {
  const int64_t n = number(level);
  if (PyErr_Occurred()) return nullptr;
  int32_t place = 0;
  if (table->depth(n, &place)) return python::face().raise_pending();
  return PyLong_FromLong(place);
}

// fresh(tensor) returns a leaf over the same elements that requires a gradient.
PyObject* fresh(PyObject*, PyObject* o) {
  lamella_tensor *t = tensor("fresh", o), *out = nullptr;
  if (!t) return nullptr;
  if (table->fresh(t, &out)) return python::face().raise_pending();
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
                           {"close_level", close_level, METH_O, nullptr},
                           {"box", fast(convert<&Interface::box>), METH_FASTCALL, nullptr},
                           {"unbox", fast(convert<&Interface::unbox>), METH_FASTCALL, nullptr},
                           {"batch_of", batch_of, METH_O, nullptr},
                           {"depth", depth, METH_O, nullptr},
                           {"fresh", fresh, METH_O, nullptr},
                           {"has_other_leaves", fast(has_other_leaves), METH_FASTCALL, nullptr},
                           {nullptr}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_python", "The Python face of vmap.", -1, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace lamella::transforms

PyMODINIT_FUNC PyInit__python(void) {
  using namespace lamella::transforms;
  if (lamella::python::import() < 0) return nullptr;
  table = static_cast<const Interface*>(lamella::api().find_interface("vmap", 1));
  if (!table) return PyErr_Format(PyExc_ImportError, "the transforms plugin's library is not loaded");
  return PyModule_Create(&definition);
}
