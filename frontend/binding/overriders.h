// The overriders of a call: classes of its arguments and modes of the thread. Used by overrides.cpp and modes.cpp.
#pragma once

#include <vector>

#include "frontend/binding/overrides.h"
#include "frontend/binding/python.h"

namespace pybind11 {
class module_;
}

namespace lamella::binding {

extern PyObject *function_word, *dispatch_word;  // "__torch_function__", "__torch_dispatch__"

using Modes = std::vector<PyObject*>;  // owned, innermost last
struct Overriding {
  Modes functions, calls;
  int without_subclasses = 0;
  ~Overriding();  // for a thread that ends inside a mode
};
extern thread_local Overriding overriding;

// Removes the innermost mode while its handler runs, so that calls that the handler makes go to the next mode.
class Innermost {
 public:
  explicit Innermost(Modes& modes) : modes_(modes), mode_(modes.back()), depth_(modes.size()) { modes_.pop_back(); }
  ~Innermost() {
    while (modes_.size() >= depth_) {  // modes that the handler entered and did not leave
      if (&modes_ == &overriding.functions) function_modes--;
      PyObject* left = modes_.back();
      modes_.pop_back();  // removed before its destructor, which may call operators
      Py_DECREF(left);
    }
    modes_.push_back(mode_);
  }
  Innermost(const Innermost&) = delete;
  PyObject* get() const { return mode_; }

 private:
  Modes& modes_;
  PyObject* mode_;
  size_t depth_;
};

// Returns the implementation of `word` in the type, borrowed; null if the type overrides nothing: it has none, has
// switched it off, or has Tensor's own __torch_dispatch__.
PyObject* implementation(PyTypeObject* t, PyObject* word);

// The arguments whose types override a call, one of each type, in the order in which they are called: subclasses before
// their bases, else in the order of the arguments.
class Overriders {
 public:
  explicit Overriders(PyObject* word) : word_(word) {}
  Overriders(const Overriders&) = delete;
  ~Overriders() {
    for (PyObject* o : found_) Py_DECREF(o);
  }
  void look_at(PyObject* const* args, Py_ssize_t n);
  bool any() const { return !found_.empty(); }
  const std::vector<PyObject*>& all() const { return found_; }
  PyObject* types() const {
    PyObject* t = PyTuple_New(static_cast<Py_ssize_t>(found_.size()));
    for (size_t i = 0; t && i < found_.size(); i++)
      PyTuple_SET_ITEM(t, i, Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(found_[i]))));
    return t;
  }

 private:
  void look_at_one(PyObject* o);
  PyObject* word_;
  std::vector<PyObject*> found_;  // owned: a handler may empty the list that contained an argument
};

// Calls of.word(function, types, args, kwargs); args, n and kwnames are in the form of vectorcall.
PyObject* call_override(PyObject* of, PyObject* word, PyObject* function, PyObject* types, PyObject* const* args,
                        Py_ssize_t n, PyObject* kwnames);

// Raises TypeError, because all overriders returned NotImplemented; returns null.
PyObject* no_implementation(PyObject* function, PyObject* word, const Overriders& who);

// Sets *bit to the bit of the layer that calls __torch_dispatch__. The first call registers the layer. In modes.cpp.
lamella_status python_layer(int32_t* bit);
// Tensor's own __torch_dispatch__: calls the function with the layer off.
PyObject* usual_dispatch(PyObject* type, PyObject* all, PyObject* named);
// Reads the arguments of Tensor's __torch_function__ and __torch_dispatch__. `types` and `args` are new tuples,
// `kwargs` null or borrowed; returns false with an exception.
bool read_override(const char* who, PyObject* all, PyObject* named, PyObject** function, PyObject** types,
                   PyObject** args, PyObject** kwargs);
void add_modes(pybind11::module_& m);

}  // namespace lamella::binding
