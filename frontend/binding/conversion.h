// One Python object to one value of a schema's type, and back.
#pragma once

#include <vector>

#include "dispatcher/call.h"
#include "frontend/binding/python.h"

namespace lamella::binding {

// Memory for the lists of one call; freed with it.
class Arena {
 public:
  ~Arena();
  void* take(size_t bytes);
  void hold(PyObject* o);  // until the call is over

 private:
  static constexpr size_t inline_bytes = 768;
  alignas(16) char inline_[inline_bytes];
  size_t used_ = 0;
  std::vector<void*> blocks_;
  std::vector<PyObject*> held_;
};

// One argument. False without an exception where it does not fit; with one where it fits but is wrong.
bool convert(PyObject* o, const dispatcher::Type& t, Value* v, Arena& arena);

// Without a declared type, as attributes of Tensor have none: by the object's own. A list is one of tensors, else of
// the narrowest of bool, int and float that holds all its items.
bool convert_any(PyObject* o, Value* v, Arena& arena);

// Owned values to Python, and back for Python kernels.
PyObject* to_python(Value& owned);  // takes it over
PyObject* borrowed_to_python(const Value& v);
std::string expected(const dispatcher::Type& t);               // "Tensor", "list of int": for messages
std::string received(PyObject* o, const dispatcher::Type& t);  // what came in its place, and why it does not do
bool as_index(PyObject* o, int64_t* out);  // an int, not a bool; false, perhaps with an exception, if it is none

}  // namespace lamella::binding
