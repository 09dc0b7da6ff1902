// Converts one Python object to a value of a schema's type, and back.
#pragma once

#include <vector>

#include "dispatcher/call.h"
#include "frontend/binding/python.h"

namespace lamella::binding {

// Memory for the lists of one call, freed with the Arena.
class Arena {
 public:
  ~Arena();
  void* take(size_t bytes);
  void hold(PyObject* o);  // keeps a reference until the call is over
  // Whether convert_any() reads a value that a slot saved, or keywords that a plugin made: lists and dictionaries may
  // contain tensors, and no element of a list is converted to the type of the others.
  bool saved = false;

 private:
  static constexpr size_t inline_bytes = 768;
  alignas(16) char inline_[inline_bytes];
  size_t used_ = 0;
  std::vector<void*> blocks_;
  std::vector<PyObject*> held_;
};

// Reads one argument. Returns false without an exception if the object has another type, and with one if its value is
// wrong.
bool convert(PyObject* o, const dispatcher::Type& t, Value* v, Arena& arena);

// Reads a value without a declared type, by the object's own type. A list becomes a list of tensors, or one of the
// first type among bool, int and float that holds all items, else a list of values; an empty list becomes one of ints.
bool convert_any(PyObject* o, Value* v, Arena& arena);

// Convert values to Python: a list becomes a tuple in to_python(), and a list in borrowed_to_python().
PyObject* to_python(Value& owned);  // takes the value over
PyObject* borrowed_to_python(const Value& v);
std::string expected(const dispatcher::Type& t);  // the type for messages: "Tensor", "list of int"
// The object's type for messages, and the reason why it was refused if there is one.
std::string received(PyObject* o, const dispatcher::Type& t);
// Reads an int, or an object with __index__ that is neither a bool nor a tensor of more than zero dimensions or of
// another class of dtypes. Returns false for any other object; and with an exception if the value does not fit 64 bits
// or __index__ raised.
bool as_index(PyObject* o, int64_t* out);

}  // namespace lamella::binding
