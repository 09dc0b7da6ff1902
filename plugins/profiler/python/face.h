// Shared declarations of the Python face, an extension module that uses the profiler through the native plugin's
// published interface alone.
#pragma once

#include <lamella/python.h>

#include <lamella/dispatcher.h>
#include <lamella/profiler.h>

namespace lamella::profiler::face {

using python::Gil;

extern const lamella_profiler* profiler;  // the interfaces
extern const lamella_dispatcher* dispatcher;

// Takes the interpreter's lock, unless this thread has it.
class HeldGil {
 public:
  HeldGil() : had_(PyGILState_Check()) {
    if (!had_) state_ = PyGILState_Ensure();
  }
  ~HeldGil() {
    if (!had_) PyGILState_Release(state_);
  }
  HeldGil(const HeldGil&) = delete;

 private:
  const bool had_;
  PyGILState_STATE state_{};
};

inline PyObject* raise() { return python::face().raise_pending(); }

// Reports the current exception to sys.unraisablehook; `what` names the function that failed.
void report_exception(const char* what);

// Converts to a value, owned: numbers, texts and booleans as such; any other object, an int that is too large, or a
// text without UTF-8 as an object that only Python reads. Returns -1 with an exception.
int info_to_value(PyObject*, lamella_value* out);
PyObject* info_to_python(const lamella_value*);

int add_records(PyObject* module);
int add_scopes(PyObject* module);
int add_info(PyObject* module);
int add_samples(PyObject* module);
int add_traces(PyObject* module);
void add_stacks();
extern PyMethodDef observer_methods[], info_methods[], usage_methods[], memory_methods[], stack_methods[],
    trace_methods[];

// Adds a type to the module; returns null with an exception.
PyTypeObject* add_type(PyObject* module, PyType_Spec*);

}  // namespace lamella::profiler::face
