// Kernels and layers written in Python: converts a call's arguments for Python, and its results back.
#pragma once

#include "dispatcher/call.h"
#include "frontend/binding/python.h"

namespace lamella::binding {

// Holds a callable until it is withdrawn. The struct of a registered kernel is never freed, because an old table may
// still point to it.
struct PythonKernel {
  enum class Of { Layer, Device, Composite, Category, Other };
  // f(call, *args, **kwargs) for a layer or a category; f(*args, **kwargs) for a device or a composite.
  PyObject* callable;
  Of of = Of::Other;
};

// The Python arguments of a call. Trailing positional arguments, and keyword-only ones, are left out if they have their
// default values.
class SpreadArguments {
 public:
  SpreadArguments(const lamella_frame* f, const core::Value* args);
  ~SpreadArguments();
  SpreadArguments(const SpreadArguments&) = delete;
  PyObject* const* objects() const { return objects_ + 1; }
  Py_ssize_t positional() const { return positional_; }
  PyObject* names() const { return kwnames_; }  // null if there are no keywords
  PyObject* const* behind(PyObject* first) const {
    objects_[0] = first;
    return objects_;
  }

 private:
  mutable PyObject* objects_[66];
  Py_ssize_t n_ = 0, positional_ = 0;
  PyObject* kwnames_ = nullptr;
};

// Converts the result of a layer's handler to the results of the call.
lamella_status take_layer_results(lamella_frame* f, PyObject* result, lamella_value* rets);

lamella_status run_python(lamella_frame* f, const lamella_value* args, lamella_value* rets);

// Returns the kernel that serves an operator under a key now, as a callable; null with an exception.
PyObject* new_kernel(const dispatcher::Operator* op, const std::string& key);

int init_python_kernels(PyObject* module);

}  // namespace lamella::binding
