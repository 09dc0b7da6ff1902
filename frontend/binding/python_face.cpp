#include "frontend/binding/python_face.h"

#include <lamella/program.h>
#include <lamella/python.h>

#include "dispatcher/api.h"
#include "dispatcher/operators.h"
#include "dispatcher/registry_lock.h"
#include "frontend/binding/conversion.h"
#include "frontend/binding/packet.h"
#include "frontend/binding/tensor_object.h"
#include "frontend/binding/unlocked.h"

namespace lamella::binding {

using dispatcher::Operator;

const Operator* find_operator(PyObject* o) {
  std::string name, overload;
  const std::string* packed = packet_name(o);
  if (packed) {
    name = *packed;
    if (const std::string* one = packet_overload(o))
      if (const Operator* op = dispatcher::find_operator(name, overload = *one)) return op;
  } else if (PyUnicode_Check(o) && PyUnicode_AsUTF8(o)) {
    std::string full = PyUnicode_AsUTF8(o);
    dispatcher::split_name(full.find("::") == std::string::npos ? "aten::" + full : full, &name, &overload);
    if (const Operator* op = dispatcher::find_operator(name, overload)) return op;
  } else {
    if (!PyErr_Occurred())
      PyErr_Format(PyExc_TypeError, "operator: expected an operator or its name, as 'aten::add.Tensor', got %s",
                   type_name(o).c_str());
    return nullptr;
  }
  const Operator* only = nullptr;
  std::string all;
  int n = 0;
  for (const Operator* op : dispatcher::overloads_of(name)) {
    if (op->form == dispatcher::Form::Out) continue;
    all += (n++ ? ", " : "") + op->full_name();
    only = op;
  }
  if (n == 1 && overload.empty()) return only;
  const std::string wanted = overload.empty() ? name : name + "." + overload;
  if (n == 0)
    PyErr_Format(PyExc_RuntimeError, "operator: there is no %s; define it first", wanted.c_str());
  else if (overload.empty())
    PyErr_Format(PyExc_RuntimeError, "operator: %s has several overloads; name one of %s", name.c_str(), all.c_str());
  else
    PyErr_Format(PyExc_RuntimeError, "operator: there is no %s; %s has %s", wanted.c_str(), name.c_str(), all.c_str());
  return nullptr;
}

namespace {

PyObject* wrap_public(lamella_tensor* t) { return wrap(core::full(t)); }
lamella_tensor* unwrap_public(PyObject* o) { return is_tensor(o) ? unwrap(o) : nullptr; }

PyObject* value_to_python(const lamella_value* v) {
  return with_memory([&] { return borrowed_to_python(*v); });
}

PyObject* read_value(PyObject* o, lamella_value* out) {  // returns true, or null with an exception
  return with_memory([&]() -> PyObject* {
    Arena arena;
    Value v;
    if (convert_any(o, &v, arena)) {
      *out = core::retain_value(v);
      return Py_True;
    }
    if (!PyErr_Occurred())
      PyErr_Format(PyExc_TypeError,
                   "expected a tensor, a number, a string, a dtype, a device, None or a list of them, got %s",
                   type_name(o).c_str());
    return nullptr;
  });
}
int value_from_python(PyObject* o, lamella_value* out) {
  *out = core::none();
  return read_value(o, out) ? 0 : -1;
}

const lamella_operator* find_operator_public(PyObject* o) {
  const lamella_operator* found = nullptr;
  with_memory([&]() -> PyObject* {
    found = find_operator(o);
    return nullptr;
  });
  return found;
}

}  // namespace

// Releases the interpreter's lock, because this function may wait for another library's init that needs the lock.
int load_plugin_public(const char* path) {
  PyThreadState* state = PyEval_SaveThread();
  const lamella_status st = lamella_load_plugin(path);
  PyEval_RestoreThread(state);
  forget_signatures();
  if (!st) return 0;
  raise_pending();
  return -1;
}

int init_python_face(PyObject* module) {
  watch_unlocked();
  static const lamella_python face = {sizeof(lamella_python), tensor_type,         wrap_public,   unwrap_public,
                                      value_to_python,        value_from_python,   raise_pending, capture_exception,
                                      drop_anywhere,          find_operator_public};
  static const Unlocking unlocking = {begin_unlocked, end_unlocked, pause_unlocked, resume_unlocked};
  const lamella_api* api = dispatcher::api();
  lamella_library* library;
  const lamella_library_def def = {sizeof def, LAMELLA_ABI_VERSION, "aten", "the Python binding", LAMELLA_EXTENDS, 0};
  if (api->library_open(&def, &library) ||
      api->publish_interface(library, "python", LAMELLA_PYTHON_VERSION, &face, nullptr) ||
      api->publish_interface(library, "python.unlocking", 1, &unlocking, nullptr)) {
    raise_pending();
    return -1;
  }
  static const lamella_capsule entrance = {sizeof entrance, LAMELLA_ABI_VERSION, api->library_version, lamella_get_api,
                                           load_plugin_public};
  dispatcher::set_host_lock([]() -> void* { return PyGILState_Check() ? PyEval_SaveThread() : nullptr; },
                            [](void* state) { PyEval_RestoreThread(static_cast<PyThreadState*>(state)); });
  PyObject* capsule = PyCapsule_New(const_cast<lamella_capsule*>(&entrance), LAMELLA_PYTHON_CAPSULE, nullptr);
  if (!capsule) return -1;
  return PyModule_AddObject(module, "_api", capsule);
}

}  // namespace lamella::binding
