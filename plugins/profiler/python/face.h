// Declarations for the files of the Python face. That is an extension module of its own, which uses the profiler only
// by the interface that the native plugin publishes.
#pragma once

#include <lamella/python.h>

#include <lamella/dispatcher.h>
#include <lamella/profiler.h>

namespace lamella::profiler::face {

using python::Gil;

extern const lamella_profiler* profiler;  // the interfaces
extern const lamella_dispatcher* dispatcher;

// The lock, which is not taken where this thread has it.
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

// The current exception goes to sys.unraisablehook, with what was called.
void report_exception(const char* what);

// Numbers, texts and booleans as such; any other object as one that only Python reads. Owned; -1 with an exception.
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

// Adds a type to the module. Null with an exception.
PyTypeObject* add_type(PyObject* module, PyType_Spec*);

}  // namespace lamella::profiler::face
