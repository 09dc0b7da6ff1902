// Converts errors: Python exceptions from pending errors, and pending errors from exceptions.
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/fork.h"
#include "dispatcher/named_kinds.h"
#include "dispatcher/parallel.h"
#include "frontend/binding/python.h"

namespace lamella::binding {

namespace {

PyObject *out_of_memory_error = nullptr, *accelerator_error = nullptr;

// Returns the class of a kind that a plugin registered, derived from its base's class; null with an exception if there
// is no such kind or no memory. A class is made at first use and kept; pickles find it as lamella.library.NAME.
PyObject* registered_type(int kind) {
  static auto* classes = new std::unordered_map<int, PyObject*>;
  PyObject*& made = (*classes)[kind];
  if (made) return made;
  int32_t base = 0;
  const char* name = dispatcher::describe_error_kind(kind, &base);
  if (!name) return PyErr_Format(PyExc_ValueError, "no kind of errors has the number %d", kind);
  PyObject* parent = exception_type(base);
  return parent ? made = PyErr_NewException((std::string("lamella.library.") + name).c_str(), parent, nullptr)
                : nullptr;
}

}  // namespace

PyObject* exception_type(int kind) {
  switch (kind) {
    case LAMELLA_TYPE_ERROR:
      return PyExc_TypeError;
    case LAMELLA_VALUE_ERROR:
      return PyExc_ValueError;
    case LAMELLA_INDEX_ERROR:
      return PyExc_IndexError;
    case LAMELLA_NOT_IMPLEMENTED:
      return PyExc_NotImplementedError;
    case LAMELLA_OUT_OF_MEMORY:
      return out_of_memory_error;
    case LAMELLA_OVERFLOW:
      return PyExc_OverflowError;
    case LAMELLA_BUFFER_ERROR:
      return PyExc_BufferError;
    case LAMELLA_INTERRUPTED:
      return PyExc_KeyboardInterrupt;
    case LAMELLA_ACCELERATOR_ERROR:
      return accelerator_error;
    default:  // as in torch, also for an integer division by zero
      return kind < dispatcher::first_error_kind ? PyExc_RuntimeError : registered_type(kind);
  }
}

namespace {

void release_payload(void* p) { drop_anywhere(static_cast<PyObject*>(p)); }

std::mutex& queue_mutex = core::new_innermost_mutex();
std::vector<Tensor*>& tensor_queue() {
  static auto* q = new std::vector<Tensor*>;
  return *q;
}
std::vector<PyObject*>& queue() {
  static auto* q = new std::vector<PyObject*>;
  return *q;
}

int drain(void*) {
  for (;;) {
    std::vector<PyObject*> some;
    std::vector<Tensor*> tensors;
    {
      std::lock_guard lock(queue_mutex);
      some.swap(queue());
      tensors.swap(tensor_queue());
    }
    if (some.empty() && tensors.empty()) return 0;
    for (PyObject* o : some) Py_DECREF(o);
    for (Tensor* t : tensors) core::release(t);
  }
}

// Long kernels call this from time to time, so that Ctrl-C stops them. Only the process's first thread handles signals.
// Other threads must not wait for the interpreter's lock here: at exit, Python ends such a thread by unwinding its
// stack, and a stack inside a parallel loop cannot be unwound.
lamella_status check_signals() {
  if (gettid() != getpid() || !Py_IsInitialized()) return LAMELLA_OK;
  Gil gil;
  if (PyErr_CheckSignals() == 0) return LAMELLA_OK;
  return capture_exception();
}

}  // namespace

void drop_anywhere(PyObject* o) {
  if (!o || !Py_IsInitialized()) return;
  if (PyGILState_Check()) {
    Py_DECREF(o);
    return;
  }
  {
    std::lock_guard lock(queue_mutex);
    queue().push_back(o);
  }
  Py_AddPendingCall(drain, nullptr);
}

void release_with_gil(Tensor* t) {
  {
    std::lock_guard lock(queue_mutex);
    tensor_queue().push_back(t);
  }
  Py_AddPendingCall(drain, nullptr);
}

PyObject* raise_pending() {
  core::Error& e = core::pending_error();
  if (e.kind == LAMELLA_HOST_ERROR && e.payload) {
    auto* exception = static_cast<PyObject*>(e.payload);
    e.payload = nullptr;
    PyObject* noted = nullptr;  // Python before 3.11 has no notes on exceptions
    if (!e.notes.empty()) noted = PyObject_CallMethod(exception, "add_note", "s", e.notes.c_str());
    if (!noted) PyErr_Clear();
    Py_XDECREF(noted);
    e.clear();
    Py_INCREF(Py_TYPE(exception));
    PyErr_Restore(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception, PyException_GetTraceback(exception));
    return nullptr;
  }
  if (PyObject* type = exception_type(e.kind)) PyErr_SetString(type, e.message.c_str());
  e.clear();
  return nullptr;
}

std::string text_of(PyObject* str) {
  PyObject* bytes = PyUnicode_AsEncodedString(str, "utf-8", "backslashreplace");
  std::string text = bytes ? std::string(PyBytes_AS_STRING(bytes), PyBytes_GET_SIZE(bytes)) : "";
  Py_XDECREF(bytes);
  PyErr_Clear();
  for (size_t at = 0; (at = text.find('\0', at)) != std::string::npos;) text.replace(at, 1, "\\0");
  return text;
}

lamella_status capture_exception() {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  PyObject* text = PyObject_Str(value);
  std::string message = text ? text_of(text) : "";
  Py_XDECREF(text);
  PyErr_Clear();
  return core::raise_host(value, release_payload, message);
}

std::string type_name(PyObject* o) {
  if (o == Py_None) return "None";
  std::string s = Py_TYPE(o)->tp_name;
  if (!PyList_Check(o) && !PyTuple_Check(o)) return s;
  std::vector<const PyTypeObject*> kinds;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); i++) {
    PyObject* item = PySequence_Fast_GET_ITEM(o, i);
    if (std::find(kinds.begin(), kinds.end(), Py_TYPE(item)) != kinds.end()) continue;
    kinds.push_back(Py_TYPE(item));
    s += (kinds.size() > 1 ? " and " : " of ") + std::string(item == Py_None ? "None" : Py_TYPE(item)->tp_name);
  }
  return s;
}

void init_errors(PyObject* module) {
  out_of_memory_error = PyErr_NewExceptionWithDoc("lamella.OutOfMemoryError", "A device has too little memory.",
                                                  PyExc_RuntimeError, nullptr);
  PyModule_AddObject(module, "OutOfMemoryError", Py_NewRef(out_of_memory_error));
  accelerator_error = PyErr_NewExceptionWithDoc("lamella.AcceleratorError", "A device or its driver has failed.",
                                                PyExc_RuntimeError, nullptr);
  PyModule_AddObject(module, "AcceleratorError", Py_NewRef(accelerator_error));
  dispatcher::set_interrupt_hook(check_signals);
}

}  // namespace lamella::binding
