// Keywords that plugins contribute to every operator that makes tensors, as in zeros(2, requires_grad=True). They are
// taken out of the call and applied to its result. One plugin may take all unknown keywords, as in randn(batch=2), and
// put others in their place. dispatcher/keywords.h has their registry.
#pragma once

#include <memory>
#include <vector>

#include "dispatcher/keywords.h"
#include "frontend/binding/arguments.h"

namespace lamella::binding {

// Returns whether plugins' keywords apply: to operators of the categories creation and random with a keyword `dtype`.
bool makes_tensors(const Signature& s);

// The plugins' keywords of one call.
class Contributed {
 public:
  using Overloads = std::vector<std::unique_ptr<Signature>>;
  Contributed() = default;
  Contributed(const Contributed&) = delete;
  ~Contributed() {
    for (PyObject* dict : expanded_) Py_DECREF(dict);
  }
  // Takes the plugins' keywords out of a call; appends the values of the others to `rest` and returns their names, null
  // with an exception. An operator's own argument of the same name has precedence, unless the plugin claims the name.
  // Unknown keywords are replaced by those that the functions of rest_keywords() put in their place, if `expands`.
  PyObject* take(const Overloads& overloads, PyObject* const* values, PyObject* kwnames, std::vector<PyObject*>& rest,
                 bool expands = true);
  // Adds a keyword with its value; returns false with an exception, which names `op` unless that is null.
  bool add(const dispatcher::Keyword* k, PyObject* value, const dispatcher::Operator* op = nullptr);
  // Returns whether the pending exception says that an argument has two values, one of which a plugin has put in the
  // place of unknown keywords.
  bool doubled() const;
  bool any() const { return !found_.empty() || !expanded_.empty(); }
  // Applies the keywords to the result in the order of their ranks, and returns it or the tensor that a plugin replaces
  // it by. A result that is no tensor is left as it is. If a plugin refuses, the result is released, and null is
  // returned with an exception. `op` is an overload of the operator that made the result.
  PyObject* apply(const dispatcher::Operator* op, PyObject* result);

 private:
  struct One {
    const dispatcher::Keyword* keyword;
    Value value;
  };
  struct Named {
    PyObject *name, *value;  // borrowed
  };
  // Returns the keywords that a function puts in the place of unknown ones, as a borrowed dictionary; null with an
  // exception. None of them may be among `given`, which are the other keywords of the call.
  PyObject* expand(const dispatcher::Keyword* by, const dispatcher::Operator* op, const std::vector<Named>& unknown,
                   const std::vector<PyObject*>& given);
  std::vector<One> found_;
  std::vector<PyObject*> expanded_;  // the dictionaries that replace unknown keywords
  Arena arena_;
};

// Applies a dictionary of keywords to a tensor that Python made. Returns a new reference to the tensor, or to the one
// that replaces it; null with an exception. If a keyword does not exist, returns null with its name in *unknown.
PyObject* apply_keywords(PyObject* tensor, PyObject* keywords, PyObject** unknown);

// Calls a PythonKernel with the tensor *result and the value. If it returns another tensor, that replaces *result.
lamella_status apply_python_keyword(const lamella_operator* op, void* context, lamella_tensor** result,
                                    const lamella_value* value);
// Calls a PythonKernel with the operator's name and the given keywords, and converts the dictionary that it returns.
lamella_status expand_python_keywords(const lamella_operator* op, void* context, const lamella_value* given,
                                      lamella_value* out);

}  // namespace lamella::binding
