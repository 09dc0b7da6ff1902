// Kernels and layers written in Python: how a call goes out into Python and comes back.
#pragma once

#include "dispatcher/call.h"
#include "frontend/binding/python.h"

namespace lamella::binding {

// Owns the callable until it is withdrawn. The cell itself stays: an old table may still point to it.
struct PythonKernel {
  PyObject* callable;  // a layer's is called as handler(call, *args, **kwargs), others as kernel(*args, **kwargs)
};

lamella_status run_python(lamella_frame* f, const lamella_value* args, lamella_value* rets);

// The kernel that serves an operator under a key now, as a callable. Null with an exception.
PyObject* new_kernel(const dispatcher::Operator* op, const std::string& key);

int init_python_kernels(PyObject* module);

}  // namespace lamella::binding
