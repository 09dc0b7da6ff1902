// Keywords that plugins contribute to every operator that makes tensors: zeros(2, requires_grad=True). They are taken
// out of the call and applied to its result. Read with dispatcher/keywords.h, which keeps them.
#pragma once

#include <memory>
#include <vector>

#include "dispatcher/keywords.h"
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
  // One more keyword with its value; false with an exception.
  bool add(const dispatcher::Keyword* k, PyObject* value);
  bool any() const { return !found_.empty(); }
  // The result, or what a plugin puts in its place; if one refuses, it is dropped: null with an exception. `op`: an
  // overload of the operator that made it.
  PyObject* apply(const dispatcher::Operator* op, PyObject* result);

 private:
  struct One {
    const dispatcher::Keyword* keyword;
    Value value;
  };
  std::vector<One> found_;
  Arena arena_;
};

// Applies keywords, a dictionary, to a tensor that Python made. A new reference to the tensor or to what took its
// place; null with an exception, and the name in *unknown if there is no such keyword.
PyObject* apply_keywords(PyObject* tensor, PyObject* keywords, PyObject** unknown);

// Calls a PythonKernel with the tensor and the value. A tensor that it returns takes the first one's place.
lamella_status apply_python_keyword(const lamella_operator* op, void* context, lamella_tensor** result,
                                    const lamella_value* value);

}  // namespace lamella::binding
