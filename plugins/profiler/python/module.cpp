// The extension module _python: finds the interfaces, and adds the types and functions of the other files. It also
// contains the log of used features.
#include "face.h"

#include <cstring>
#include <new>

namespace lamella::profiler::face {

const lamella_profiler* profiler = nullptr;
const lamella_dispatcher* dispatcher = nullptr;

void report_exception(const char* what) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyObject* text = PyUnicode_FromString(what);
  PyErr_Restore(type, value, traceback);
  PyErr_WriteUnraisable(text ? text : Py_None);
  Py_XDECREF(text);
}

PyTypeObject* add_type(PyObject* module, PyType_Spec* spec) {
  PyObject* type = PyType_FromSpec(spec);
  if (type && PyModule_AddObjectRef(module, std::strrchr(spec->name, '.') + 1, type) < 0) Py_CLEAR(type);
  return reinterpret_cast<PyTypeObject*>(type);
}

namespace {

// Reports the pending error of an observer that failed and therefore was removed.
void report_observer(void*) {
  if (!Py_IsInitialized()) return;
  const Gil gil;
  raise();
  report_exception("a callback of lamella.profiler, which was removed");
}

void report_usage(void* context, const char* key) {
  if (!Py_IsInitialized()) return;
  const Gil gil;
  PyObject* result = PyObject_CallFunction(static_cast<PyObject*>(context), "s", key);
  if (!result) report_exception("a handler of lamella.profiler's usage log");
  Py_XDECREF(result);
}

void drop(void* o) { python::face().drop(static_cast<PyObject*>(o)); }

PyObject* log_usage(PyObject*, PyObject* o) {
  const char* key = PyUnicode_AsUTF8(o);
  if (!key) return nullptr;
  if (profiler->log_usage_once(key)) return raise();
  Py_RETURN_NONE;
}

PyObject* add_usage_handler(PyObject*, PyObject* o) {
  uint64_t handle;
  Py_INCREF(o);
  if (profiler->add_usage_handler(report_usage, o, drop, &handle)) {
    Py_DECREF(o);
    return raise();
  }
  return PyLong_FromUnsignedLongLong(handle);
}

PyObject* remove_usage_handler(PyObject*, PyObject* o) {
  const unsigned long long handle = PyLong_AsUnsignedLongLong(o);
  if (PyErr_Occurred()) return nullptr;
  if (profiler->remove_usage_handler(handle)) return raise();
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef usage_methods[] = {{"_log_usage", log_usage, METH_O, nullptr},
                               {"_add_usage_handler", add_usage_handler, METH_O, nullptr},
                               {"_remove_usage_handler", remove_usage_handler, METH_O, nullptr},
                               {nullptr, nullptr, 0, nullptr}};

}  // namespace lamella::profiler::face

PyMODINIT_FUNC PyInit__python(void) {
  using namespace lamella::profiler::face;
  if (lamella::python::import() < 0) return nullptr;
  profiler = static_cast<const lamella_profiler*>(lamella::api().find_interface("profiler", 1));
  dispatcher = static_cast<const lamella_dispatcher*>(lamella::api().find_interface("dispatcher", 1));
  if (!profiler || !dispatcher) return PyErr_Format(PyExc_ImportError, "the profiler's library is not loaded");
  static PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "_python", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
  PyObject* m = PyModule_Create(&definition);
  if (!m) return nullptr;
  for (PyMethodDef* methods :
       {usage_methods, observer_methods, info_methods, stack_methods, memory_methods, trace_methods})
    if (PyModule_AddFunctions(m, methods) < 0) return nullptr;
  if (add_records(m) < 0 || add_scopes(m) < 0 || add_info(m) < 0 || add_samples(m) < 0 || add_traces(m) < 0)
    return nullptr;
  profiler->set_reporter(report_observer);
  add_stacks();
  return m;
}
