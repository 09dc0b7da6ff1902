// Keywords that plugins contribute to every operator that makes tensors: zeros(2, requires_grad=True). They are taken
// out of the call and applied to its result. Read with dispatcher/state.h, which keeps them.
#pragma once

#include <memory>
#include <vector>

#include "dispatcher/state.h"
#include "frontend/binding/arguments.h"

namespace lamella::binding {

// Whether plugins' keywords apply: to operators of the categories creation and random that have a keyword `dtype`.
bool makes_tensors(const Signature& s);

// The keywords of plugins in one call.
class Contributed {
 public:
  // Adds the values of the other keywords to `rest` and returns their names; null with an exception. An operator's own
  // argument of that name goes first.
  PyObject* take(const std::vector<std::unique_ptr<Signature>>& overloads, PyObject* const* values, PyObject* kwnames,
                 std::vector<PyObject*>& rest);
  bool any() const { return !found_.empty(); }
  // The result itself; if a plugin refuses, it is dropped: null with an exception.
  PyObject* apply(PyObject* result) const;

 private:
  struct One {
    const dispatcher::Keyword* keyword;
    Value value;
  };
  std::vector<One> found_;
  Arena arena_;
};

// Applies one keyword to a tensor that Python made. 1; 0 if there is no such keyword; -1 with an exception.
int apply_keyword(PyObject* tensor, const std::string& name, PyObject* value);

// Calls a PythonKernel with the tensor and the value.
lamella_status apply_python_keyword(lamella_frame*, void* context, lamella_tensor* result, const lamella_value* value);

}  // namespace lamella::binding
