// The extension module _python: finds the interface, and adds the types and functions of the other files.
#include "face.h"

namespace lamella::graph::face {

const lamella_graph_table* graphs = nullptr;

namespace {

// Prints through sys.stdout, so that programs print as Python does.
void print(const char* text, int64_t length) {
  const python::Gil gil;
  PyObject* out = PySys_GetObject("stdout");
  PyObject* done = out && out != Py_None
                       ? PyObject_CallMethod(out, "write", "s#", text, static_cast<Py_ssize_t>(length))
                       : Py_NewRef(Py_None);
  if (!done) PyErr_WriteUnraisable(out);
  Py_XDECREF(done);
}

lamella_status show(lamella_tensor* t, lamella_value* out) {
  const python::Gil gil;
  api().retain(t);
  PyObject* o = python::face().wrap(t);
  PyObject* text = o ? PyObject_Repr(o) : nullptr;
  Py_XDECREF(o);
  const int failed = !text || python::face().from_python(text, out) < 0;
  Py_XDECREF(text);
  return failed ? python::face().capture_exception() : LAMELLA_OK;
}

void warn(const char* text, int64_t length) {
  const python::Gil gil;
  const std::string message(text, static_cast<size_t>(length));
  if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 1) < 0) PyErr_WriteUnraisable(nullptr);
}

lamella_status raise(const char* name, const char* text) {
  const python::Gil gil;
  PyObject* found = PyDict_GetItemString(PyEval_GetBuiltins(), name);
  if (!found || !PyExceptionClass_Check(found) || PyObject_IsSubclass(found, PyExc_Exception) != 1) return LAMELLA_OK;
  PyErr_SetString(found, text);
  return python::face().capture_exception();
}

const lamella_graph_host host = {sizeof host, 0, print, warn, show, raise};

}  // namespace
}  // namespace lamella::graph::face

PYBIND11_MODULE(_python, m) {
  using namespace lamella::graph::face;
  if (lamella::python::import() < 0) throw py::error_already_set();
  graphs = static_cast<const lamella_graph_table*>(lamella::api().find_interface("graph", 1));
  if (!graphs) throw py::import_error("the library of graphs is not loaded");
  graphs->set_host(&host);
  add_programs(m);
  add_instances(m);
  add_graphs(m);
  add_hooks(m);
  const std::string file = py::str(py::module_::import("lamella").attr("__file__"));
  add_tracing(m, file.substr(0, file.rfind('/') + 1));
  if (add_function(m.ptr()) < 0) throw py::error_already_set();
}
