// Declarations for every file of the binding: CPython's API, and functions that turn errors into exceptions and back.
// Operators and Tensor use CPython's API directly, because they are on the call path; pybind11 serves the rest.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <lamella/c_api.h>

#include <new>
#include <string>

#include "core/device.h"
#include "core/error.h"
#include "core/tensor.h"
#include "core/value.h"

namespace lamella::binding {

using core::Tensor;
using core::Value;

// Turns the thread's pending error into a Python exception; always returns null.
PyObject* raise_pending();
// Runs the body of a function that CPython calls, and turns std::bad_alloc into a Python exception, since no C++
// exception may reach CPython's frames.
template <class F>
inline __attribute__((always_inline)) auto with_memory(F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    core::raise_exception();
    return raise_pending();
  }
}
// Turns the current Python exception into a pending error, which keeps the exception object itself.
lamella_status capture_exception();

// Returns a str as UTF-8, with lone surrogates and zeros escaped; "" if memory is lacking. Leaves no exception.
std::string text_of(PyObject* str);

// Drops a reference on any thread. Without the GIL, the reference is queued until a thread holds the GIL. After the
// interpreter has ended, does nothing.
void drop_anywhere(PyObject* o);

// Releases a tensor later, on a thread that holds the GIL.
void release_with_gil(Tensor* t);

// Holds the interpreter's lock. The lock usually is held already; then this costs two reads.
struct Gil {
  bool held;
  PyGILState_STATE state = PyGILState_LOCKED;
  Gil() {
#if PY_VERSION_HEX >= 0x030d0000
    PyThreadState* running = PyThreadState_GetUnchecked();
#else
    PyThreadState* running = _PyThreadState_UncheckedGet();
#endif
    held = running && running == PyGILState_GetThisThreadState();
    if (!held) state = PyGILState_Ensure();
  }
  ~Gil() {  // Python, at exit, may end a thread by unwinding it, when the lock is not held any more
    if (!held && PyGILState_Check()) PyGILState_Release(state);
  }
  Gil(const Gil&) = delete;
};

// Returns the class of the exceptions for a kind of errors, borrowed: enum lamella_error_kind, or a registered one. Null
// with an exception for another number.
PyObject* exception_type(int kind);

// Returns the name of an object's type for messages: "int", "numpy.ndarray", "list of str".
std::string type_name(PyObject* o);

void init_errors(PyObject* module);

}  // namespace lamella::binding
