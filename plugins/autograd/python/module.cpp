// The extension module _python: backward and grad, saved-tensor hooks, anomaly mode. Nodes, modes and Function have
// files of their own.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "face.h"

namespace lamella::autograd::face {

const lamella_autograd* autograd = nullptr;
const Unlocking* unlocking = nullptr;

bool read_gradient(PyObject* o, const char* who, lamella_tensor** out) {
  *out = nullptr;
  if (o == Py_None) return true;
  if (!(*out = unwrap(o))) {
    PyErr_Format(PyExc_TypeError, "%s: a gradient must be a Tensor or None, got %s", who, Py_TYPE(o)->tp_name);
    return false;
  }
  api().retain(*out);
  return true;
}

namespace {

bool read_tensors(PyObject* tuple, const char* name, bool optional, std::vector<lamella_tensor*>* out) {
  if (!PyTuple_Check(tuple)) {
    PyErr_Format(PyExc_TypeError, "backward: argument '%s' must be a tuple, got %s", name, Py_TYPE(tuple)->tp_name);
    return false;
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
    PyObject* o = PyTuple_GET_ITEM(tuple, i);
    out->push_back(optional && o == Py_None ? nullptr : unwrap(o));
    if (!out->back() && !(optional && o == Py_None)) {
      PyErr_Format(PyExc_TypeError, "backward: argument '%s', element %zd: must be Tensor%s, got %s", name, i,
                   optional ? " or None" : "", Py_TYPE(o)->tp_name);
      return false;
    }
  }
  return true;
}

// _run(tensors, grads, inputs, flags): returns the gradients of inputs as a tuple; None if it adds them to their grad.
PyObject* run(PyObject*, PyObject* const* args, Py_ssize_t n) try {
  if (n != 4) return PyErr_Format(PyExc_TypeError, "_run takes 4 arguments");
  std::vector<lamella_tensor*> roots, grads, inputs;
  if (!read_tensors(args[0], "tensors", false, &roots) || !read_tensors(args[1], "grad_tensors", true, &grads) ||
      !read_tensors(args[2], "inputs", false, &inputs))
    return nullptr;
  if (grads.size() != roots.size())
    return PyErr_Format(PyExc_RuntimeError, "backward: got %zu tensors and %zu gradients", roots.size(), grads.size());
  const auto flags = static_cast<uint32_t>(PyLong_AsUnsignedLong(args[3]));
  if (PyErr_Occurred()) return nullptr;
  std::vector<lamella_tensor*> outs(inputs.size());
  const lamella_status st = unlocked([&] {
    return autograd->backward(roots.data(), grads.data(), static_cast<int32_t>(roots.size()), inputs.data(),
                              static_cast<int32_t>(inputs.size()), outs.data(), flags);
  });
  if (st) return raise();
  if (flags & LAMELLA_BACKWARD_ACCUMULATE) Py_RETURN_NONE;
  PyObject* result = make_tuple(static_cast<Py_ssize_t>(outs.size()), [&](Py_ssize_t i) {
    lamella_tensor* t = std::exchange(outs[static_cast<size_t>(i)], nullptr);
    return t ? python::face().wrap(t) : Py_NewRef(Py_None);
  });
  for (lamella_tensor* t : outs)  // the rest, if the tuple could not be made
    if (t) api().release(t);
  return result;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

// ---- saved-tensor hooks: a pair of callables, from push to pop -----------------------------------------------------

struct Hooks {
  lamella_saved_hooks table;
  PyObject *pack, *unpack;
  int64_t users;  // number of packed objects and threads that use it; guarded by the interpreter's lock
};

struct Packed {
  Hooks* hooks;
  PyObject* object;
};

void retain_hooks(void* context) {
  Gil gil;
  static_cast<Hooks*>(context)->users++;
}
void release(Hooks* h) {
  if (--h->users) return;
  Py_DECREF(h->pack);
  Py_DECREF(h->unpack);
  delete h;
}

lamella_status pack(void* context, lamella_tensor* t, void** packed) {
  Gil gil;
  auto* h = static_cast<Hooks*>(context);
  const Ref in(wrap_borrowed(t));
  h->users++;  // pack_hook may remove the hooks
  Ref out(in ? PyObject_CallOneArg(h->pack, in.get()) : nullptr);
  auto* p = out ? new (std::nothrow) Packed{h, out.get()} : nullptr;
  if (!p) {
    if (out) PyErr_NoMemory();
    const lamella_status st = python::face().capture_exception();
    release(h);
    return st;
  }
  out.take();
  *packed = p;
  return LAMELLA_OK;
}

lamella_status unpack(void* packed, lamella_tensor** out) {
  Gil gil;
  auto* p = static_cast<Packed*>(packed);
  PyObject* o = PyObject_CallOneArg(p->hooks->unpack, p->object);
  lamella_tensor* t = o ? unwrap(o) : nullptr;
  if (o && !t)
    PyErr_Format(PyExc_TypeError, "saved_tensors_hooks: unpack_hook must return a Tensor, got %s", Py_TYPE(o)->tp_name);
  if (t) api().retain(*out = t);
  Py_XDECREF(o);
  return t ? LAMELLA_OK : python::face().capture_exception();
}

void destroy(void* packed) {
  auto* p = static_cast<Packed*>(packed);
  if (!Py_IsInitialized()) return;
  Gil gil;
  Py_DECREF(p->object);
  release(p->hooks);
  delete p;
}

void release_hooks(void* context) {
  if (!Py_IsInitialized()) return;
  Gil gil;
  release(static_cast<Hooks*>(context));
}

PyObject* push_hooks(PyObject*, PyObject* const* args, Py_ssize_t n) try {
  if (n != 2) return PyErr_Format(PyExc_TypeError, "_push_hooks takes 2 arguments");
  for (int i = 0; i < 2; i++)
    if (!PyCallable_Check(args[i]))
      return PyErr_Format(PyExc_TypeError, "saved_tensors_hooks: argument '%s' must be callable, got %s",
                          i ? "unpack_hook" : "pack_hook", Py_TYPE(args[i])->tp_name);
  auto* h = new Hooks{{sizeof(lamella_saved_hooks), 0, nullptr, pack, unpack, destroy, retain_hooks, release_hooks},
                      Py_NewRef(args[0]),
                      Py_NewRef(args[1]),
                      1};
  h->table.context = h;
  if (autograd->push_saved_hooks(&h->table)) {
    release(h);
    return raise();
  }
  Py_RETURN_NONE;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

PyObject* pop_hooks(PyObject*, PyObject*) {
  if (autograd->pop_saved_hooks()) return raise();
  Py_RETURN_NONE;
}

// ---- anomaly mode ------------------------------------------------------------------------------------------------

PyObject* tracer = nullptr;  // returns the stack as text

char* trace() {
  Gil gil;
  PyObject* text = tracer ? PyObject_CallNoArgs(tracer) : nullptr;
  const char* s = text ? PyUnicode_AsUTF8(text) : nullptr;
  char* copy = s ? strdup(s) : nullptr;
  Py_XDECREF(text);
  PyErr_Clear();
  return copy;
}

PyObject* set_anomaly(PyObject*, PyObject* const* args, Py_ssize_t n) {
  if (n != 2) return PyErr_Format(PyExc_TypeError, "_set_anomaly takes 2 arguments");
  const bool on = args[0] != Py_None;
  Py_XSETREF(tracer, on ? Py_NewRef(args[0]) : nullptr);
  autograd->set_anomaly(on ? trace : nullptr, args[1] == Py_True);
  Py_RETURN_NONE;
}

lamella_status warn_of_no_grad() {
  Gil gil;
  const int error = PyErr_WarnEx(PyExc_UserWarning,
                                 "Tensor.grad: the tensor is not a leaf, and backward() does not set its grad, so that "
                                 "it is None; call retain_grad() on it before backward(), or read the grad of a leaf",
                                 1);
  return error ? python::face().capture_exception() : LAMELLA_OK;
}

PyObject* retain_grad(PyObject*, PyObject* o) {
  lamella_tensor* t = unwrap(o);
  if (!t)
    return PyErr_Format(PyExc_TypeError, "retain_grad: argument 'self' must be Tensor, got %s", Py_TYPE(o)->tp_name);
  if (autograd->retain_grad(t)) return raise();
  Py_RETURN_NONE;
}

PyObject* detach_in_place(PyObject*, PyObject* o) {
  lamella_tensor* t = unwrap(o);
  if (!t) return PyErr_Format(PyExc_TypeError, "detach_: argument 'self' must be Tensor, got %s", Py_TYPE(o)->tp_name);
  if (autograd->detach_(t)) return raise();
  return Py_NewRef(o);
}

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_python", "The Python face of autograd.", -1, nullptr, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMethodDef run_methods[] = {
    {"_run", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(run)), METH_FASTCALL, nullptr},
    {"_push_hooks", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(push_hooks)), METH_FASTCALL, nullptr},
    {"_pop_hooks", pop_hooks, METH_NOARGS, nullptr},
    {"_set_anomaly", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(set_anomaly)), METH_FASTCALL, nullptr},
    {"_retain_grad", retain_grad, METH_O, nullptr},
    {"_detach_", detach_in_place, METH_O, nullptr},
    {nullptr}};

}  // namespace lamella::autograd::face

PyMODINIT_FUNC PyInit__python(void) {
  using namespace lamella::autograd::face;
  if (lamella::python::import() < 0) return nullptr;
  autograd = static_cast<const lamella_autograd*>(lamella::api().find_interface("autograd", 1));
  unlocking = static_cast<const Unlocking*>(lamella::api().find_interface("python.unlocking", 1));
  if (!unlocking) return PyErr_Format(PyExc_ImportError, "lamella._C and autograd are of different versions");
  if (!autograd) return PyErr_Format(PyExc_ImportError, "the autograd plugin's library is not loaded");
  if (void* reader = const_cast<void*>(lamella::api().find_interface("autograd.reader", 1)))
    static_cast<Reader*>(reader)->fruitless = warn_of_no_grad;
  PyObject* m = PyModule_Create(&definition);
  if (m && (PyModule_AddFunctions(m, run_methods) < 0 || PyModule_AddFunctions(m, node_methods) < 0 ||
            add_nodes(m) < 0 || add_modes(m) < 0 || add_functions(m) < 0))
    Py_CLEAR(m);
  return m;
}
