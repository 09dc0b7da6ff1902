// Shared declarations of the Python face, an extension module that uses autograd through the native plugin's published
// interface alone.
#pragma once

#include <lamella/python.h>

#include <lamella/autograd.h>

namespace lamella::autograd::face {

using python::Gil;

extern const lamella_autograd* autograd;  // the interface
struct Unlocking {                        // the interface "python.unlocking", as frontend/binding/unlocked.h has it
  void* (*begin)();
  void (*end)(void* state);
  int (*pause)();
  void (*resume)();
};
extern const Unlocking* unlocking;
struct Reader {  // the interface "autograd.reader", as plugins/autograd/plugin.cpp has it
  lamella_status (*fruitless)();
};
inline uint64_t layer_bit() { return uint64_t{1} << autograd->layer; }

inline PyObject* raise() { return python::face().raise_pending(); }
inline lamella_tensor* unwrap(PyObject* o) { return python::face().unwrap(o); }
inline PyObject* wrap_borrowed(lamella_tensor* t) {
  if (!t) Py_RETURN_NONE;
  api().retain(t);
  return python::face().wrap(t);
}

// Returns a tuple of the n new references that `item` returns; null, with the exception, if one of them is null.
template <class Item>
PyObject* make_tuple(Py_ssize_t n, Item&& item) {
  PyObject* t = PyTuple_New(n);
  for (Py_ssize_t i = 0; t && i < n; i++) {
    PyObject* o = item(i);
    if (!o) Py_CLEAR(t);
    if (t) PyTuple_SET_ITEM(t, i, o);
  }
  return t;
}

// An owned reference, or null.
class Ref {
 public:
  explicit Ref(PyObject* o) : o_(o) {}
  Ref(const Ref&) = delete;
  ~Ref() { Py_XDECREF(o_); }
  PyObject* get() const { return o_; }
  PyObject* take() { return std::exchange(o_, nullptr); }
  explicit operator bool() const { return o_ != nullptr; }

 private:
  PyObject* o_;
};

// Runs f without the interpreter's lock; no tensor's memory is moved meanwhile.
template <class F>
auto unlocked(F&& f) {
  void* state = unlocking->begin();
  auto r = f();
  unlocking->end(state);
  return r;
}

// Holds the interpreter's lock while a hook or node of Python runs inside backward. Tensors' memory may be moved
// meanwhile, since no kernel runs on the thread.
class BetweenKernels {
 public:
  BetweenKernels() : paused_(unlocking->pause()) {}
  BetweenKernels(const BetweenKernels&) = delete;
  ~BetweenKernels() {
    if (paused_) unlocking->resume();
  }

 private:
  Gil gil_;
  int paused_;
};

// Reads a Tensor or None into an owned pointer, null for None; returns false with an exception for another type.
bool read_gradient(PyObject* o, const char* who, lamella_tensor** out);

PyObject* node_object(lamella_node* owned);  // the node's one Python object, a new reference; None for null
bool is_node(PyObject* o);
lamella_node* node_of(PyObject* o);

PyObject* context_of(lamella_node* n);  // the ctx of a node of a Function, borrowed; null for another node

int add_nodes(PyObject* module);
int add_modes(PyObject* module);
int add_functions(PyObject* module);
extern PyMethodDef node_methods[], run_methods[];

}  // namespace lamella::autograd::face
