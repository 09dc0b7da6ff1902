// Who overrides a call: the classes of its arguments and the modes of the thread. For overrides.cpp and modes.cpp.
#pragma once

#include <vector>

#include "frontend/binding/overrides.h"
#include "frontend/binding/python.h"

namespace pybind11 {
class module_;
}

namespace lamella::binding {

extern PyObject *function_word, *dispatch_word;  // "__torch_function__", "__torch_dispatch__"

using Modes = std::vector<PyObject*>;  // owned, the innermost last
struct Overriding {
  Modes functions, calls;
  int without_subclasses = 0;
  ~Overriding();  // of a thread that ends in a mode
};
extern thread_local Overriding overriding;

// Takes the innermost mode off while its handler runs, so that what that calls goes to the next one.
class Innermost {
 public:
  explicit Innermost(Modes& modes) : modes_(modes), mode_(modes.back()), depth_(modes.size()) { modes_.pop_back(); }
  ~Innermost() {
    while (modes_.size() >= depth_) {  // entered inside, and not left
      if (&modes_ == &overriding.functions) function_modes--;
      PyObject* left = modes_.back();
      modes_.pop_back();  // before its end, which may call operators
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

// The type's implementation, borrowed; null if it has none.
PyObject* implementation(PyTypeObject* t, PyObject* word);

// Arguments whose types override, one of each type, in the order in which they are asked: subclasses before their
// bases, else as they come.
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
  std::vector<PyObject*> found_;  // owned: a handler may empty the list that an argument came in
};

// of.word(function, types, args, kwargs), of what came as for vectorcall.
PyObject* ask(PyObject* of, PyObject* word, PyObject* function, PyObject* types, PyObject* const* args, Py_ssize_t n,
              PyObject* kwnames);

// The error that nothing of what was asked answers; null.
PyObject* no_implementation(PyObject* function, PyObject* word, const Overriders& who);

// In modes.cpp: the bit of the layer that asks __torch_dispatch__, which is there from the first use on.
lamella_status python_layer(int32_t* bit);
// As Tensor has it: the layer is off for the call of the function.
PyObject* usual_dispatch(PyObject* type, PyObject* all, PyObject* named);
// The arguments of both of Tensor's own methods. `args` is a new tuple, `kwargs` null or borrowed; false: an exception.
bool read_override(const char* who, PyObject* all, PyObject* named, PyObject** function, PyObject** types,
                   PyObject** args, PyObject** kwargs);
void add_modes(pybind11::module_& m);

}  // namespace lamella::binding
