// `Function`, which calls one graph of a program without a detour through pybind11.
#include "face.h"

#include <structmember.h>

#include <cstddef>

namespace lamella::graph::face {
namespace {

struct Function {
  PyObject_HEAD lamella_object* program;
  PyObject* name;      // a str
  const char* c_name;  // its text
  PyObject* keywords;  // the parameters' names, a tuple of str
  PyObject* defaults;  // the values of the last parameters, a tuple
  PyObject* self;      // null, or the first argument of each call
  vectorcallfunc vectorcall;
};

// Runs the graph; takes the values over.
PyObject* run_function(const Function* f, lamella_value* args, Py_ssize_t n) {
  Owned result;
  const lamella_status status = unlocked([&] {
    const lamella_status ran = graphs->run(f->program, f->c_name, args, static_cast<int32_t>(n), &result.v);
    for (Py_ssize_t i = 0; i < n; i++) api().value_release(&args[i]);
    return ran;
  });
  return status ? python::face().raise_pending() : to_python(result.v);
}

// Finds the object for each parameter behind `self`: given by place or by name, or its default.
int place(const Function* f, PyObject* const* args, Py_ssize_t n, PyObject* names, PyObject** to, Py_ssize_t count) {
  if (n > count) {
    PyErr_Format(PyExc_TypeError, "%U() takes %zd arguments, got %zd", f->name, count, n);
    return -1;
  }
  std::fill(to, to + count, nullptr);
  std::copy(args, args + n, to);
  for (Py_ssize_t k = 0; names && k < PyTuple_GET_SIZE(names); k++) {
    PyObject* key = PyTuple_GET_ITEM(names, k);
    Py_ssize_t at = 0;
    while (at < count && PyUnicode_Compare(PyTuple_GET_ITEM(f->keywords, at), key) != 0) at++;
    if (at == count || to[at]) {
      PyErr_Format(PyExc_TypeError, at == count ? "%U() has no argument '%U'" : "%U() got argument '%U' twice", f->name,
                   key);
      return -1;
    }
    to[at] = args[n + k];
  }
  const Py_ssize_t first_default = count - PyTuple_GET_SIZE(f->defaults);
  for (Py_ssize_t i = 0; i < count; i++) {
    if (to[i]) continue;
    if (i < first_default) {
      PyErr_Format(PyExc_TypeError, "%U() lacks its argument '%U'", f->name, PyTuple_GET_ITEM(f->keywords, i));
      return -1;
    }
    to[i] = PyTuple_GET_ITEM(f->defaults, i - first_default);
  }
  return 0;
}

PyObject* call(PyObject* o, PyObject* const* args, size_t nargsf, PyObject* names) {
  const auto* f = reinterpret_cast<Function*>(o);
  const Py_ssize_t n = PyVectorcall_NARGS(nargsf), count = PyTuple_GET_SIZE(f->keywords), own = f->self ? 1 : 0;
  if (count + own > LAMELLA_MAX_ARGUMENTS)
    return PyErr_Format(PyExc_TypeError, "%U() has too many parameters", f->name);
  PyObject* objects[LAMELLA_MAX_ARGUMENTS];
  if (n != count || names) {
    if (place(f, args, n, names, objects, count) < 0) return nullptr;
    args = objects;
  }
  lamella_value values[LAMELLA_MAX_ARGUMENTS];
  for (Py_ssize_t i = 0; i < count + own; i++) {
    if (to_value(i < own ? f->self : args[i - own], &values[i]) == 0) continue;
    while (i-- > 0) api().value_release(&values[i]);
    return nullptr;
  }
  return run_function(f, values, count + own);
}

// Function(program, name, parameters, defaults, self=None)
PyObject* make(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"program", "name", "parameters", "defaults", "self", nullptr};
  PyObject *program, *name, *parameters, *defaults, *self = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OUO!O!|O", const_cast<char**>(names), &program, &name, &PyTuple_Type,
                                   &parameters, &PyTuple_Type, &defaults, &self))
    return nullptr;
  if (!py::isinstance<Program>(program))
    return PyErr_Format(PyExc_TypeError, "Function: argument 'program' must be Program");
  auto* f = reinterpret_cast<Function*>(type->tp_alloc(type, 0));
  if (!f) return nullptr;
  f->name = Py_NewRef(name);
  f->keywords = Py_NewRef(parameters);
  f->defaults = Py_NewRef(defaults);
  f->c_name = PyUnicode_AsUTF8(name);
  f->vectorcall = call;
  f->self = self == Py_None ? nullptr : Py_NewRef(self);
  f->program = py::handle(program).cast<Program&>().ref.get();
  api().retain(f->program);
  if (f->c_name) return reinterpret_cast<PyObject*>(f);
  Py_DECREF(f);
  return nullptr;
}

int traverse(PyObject* o, visitproc visit, void* arg) {
  auto* f = reinterpret_cast<Function*>(o);
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(f->defaults);
  Py_VISIT(f->self);
  return 0;
}

int clear(PyObject* o) {
  auto* f = reinterpret_cast<Function*>(o);
  Py_CLEAR(f->self);
  return 0;
}

void destroy(PyObject* o) {
  auto* f = reinterpret_cast<Function*>(o);
  PyObject_GC_UnTrack(o);
  PyTypeObject* type = Py_TYPE(o);
  if (f->program) api().release(f->program);
  Py_XDECREF(f->name);
  Py_XDECREF(f->keywords);
  Py_XDECREF(f->defaults);
  Py_XDECREF(f->self);
  type->tp_free(o);
  Py_DECREF(type);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Function, vectorcall), READONLY, nullptr},
    {"name", T_OBJECT, offsetof(Function, name), READONLY, "The name of the graph in its program."},
    {"parameters", T_OBJECT, offsetof(Function, keywords), READONLY, "The names of the parameters."},
    {nullptr, 0, 0, 0, nullptr},
};

}  // namespace

int add_function(PyObject* m) {
  static PyType_Slot slots[] = {
      {Py_tp_new, reinterpret_cast<void*>(make)},
      {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(clear)},
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_members, members},
      {Py_tp_doc, const_cast<char*>("Calls one graph of a program with positional and named arguments.")},
      {0, nullptr},
  };
  static PyType_Spec spec = {"lamella.graph.Function", sizeof(Function), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (!type) return -1;
  const int failed = PyModule_AddObjectRef(m, "Function", type);
  Py_DECREF(type);
  return failed;
}

}  // namespace lamella::graph::face
