// Kernels and layers written in Python: how a call goes out into Python and comes back.
#pragma once

#include "dispatcher/call.h"
#include "frontend/binding/python.h"

namespace lamella::binding {

// Owns the callable until it is withdrawn. The cell itself stays: an old table may still point to it.
struct PythonKernel {
  enum class Of { Layer, Device, Composite, Category, Other };
  PyObject* callable;  // of a layer or a category called as f(call, *args, **kwargs), others as f(*args, **kwargs)
  Of of = Of::Other;
};

// A call's arguments as Python is called with them: those at their default, as far as they are the last ones, are left
// out, keyword-only ones too.
class SpreadArguments {
 public:
  SpreadArguments(const lamella_frame* f, const core::Value* args);
  ~SpreadArguments();
  SpreadArguments(const SpreadArguments&) = delete;
  PyObject* const* objects() const { return objects_ + 1; }
  Py_ssize_t positional() const { return positional_; }
  PyObject* names() const { return kwnames_; }  // null: none has one
  PyObject* const* behind(PyObject* first) const {
    objects_[0] = first;
    return objects_;
  }

 private:
  mutable PyObject* objects_[66];
  Py_ssize_t n_ = 0, positional_ = 0;
  PyObject* kwnames_ = nullptr;
};

// What a layer's handler returned, as results of the call.
lamella_status take_layer_results(lamella_frame* f, PyObject* result, lamella_value* rets);

lamella_status run_python(lamella_frame* f, const lamella_value* args, lamella_value* rets);

// The kernel that serves an operator under a key now, as a callable. Null with an exception.
PyObject* new_kernel(const dispatcher::Operator* op, const std::string& key);

int init_python_kernels(PyObject* module);

}  // namespace lamella::binding
