// Grad mode: context managers, decorators and functions that switch recording on or off for a thread: while it
// is off, the thread excludes the layer's bit.
#include "face.h"

#include <structmember.h>

namespace lamella::autograd::face {
namespace {

// The inference mode of a thread: the state of the thread's slot, made at first use.
struct Modes {
  bool inference = false;
};
int32_t slot = -1;
thread_local Modes* modes = nullptr;

bool inference() { return modes && modes->inference; }
void set_inference(bool on) {
  if (!modes && on) {
    modes = new Modes;
    api().thread_slot_set(slot, modes);
  }
  if (modes) modes->inference = on;
}

lamella_status copy_modes(void* state, void** out) {
  *out = new (std::nothrow) Modes(*static_cast<Modes*>(state));
  return *out ? LAMELLA_OK : api().raise(LAMELLA_OUT_OF_MEMORY, "autograd: not enough memory");
}
void swapped_modes(void* state) { modes = static_cast<Modes*>(state); }
void destroy_modes(void* state) {
  if (state == modes) modes = nullptr;
  delete static_cast<Modes*>(state);
}
const lamella_thread_slot_type slot_type = {sizeof slot_type, 0, "autograd.modes", copy_modes, destroy_modes,
                                            swapped_modes};

bool enabled() { return !(api().thread()->exclude & layer_bit()); }
void enable(bool on) {
  lamella_thread* t = api().thread();
  t->exclude = on ? t->exclude & ~layer_bit() : t->exclude | layer_bit();
}

// The modes that a `with` block switches to, and those that it restores at its end.
struct Mode {
  PyObject_HEAD bool to, before, inference_to, inference_before;
};
PyTypeObject *no_grad_type, *enable_grad_type, *set_type, *inference_type;
PyObject* decorate = nullptr;  // the Python function that wraps a function or generator in the block

Mode* cast(PyObject* o) { return reinterpret_cast<Mode*>(o); }

Mode* make(PyTypeObject* type, bool to) {
  auto* m = reinterpret_cast<Mode*>(type->tp_alloc(type, 0));
  if (!m) return nullptr;
  m->to = to;
  m->before = enabled();
  m->inference_to = m->inference_before = inference();
  return m;
}

PyObject* wrap_function(PyObject* mode, PyObject* f) {
  PyObject* r = decorate ? PyObject_CallFunctionObjArgs(decorate, mode, f, nullptr)
                         : PyErr_Format(PyExc_RuntimeError, "autograd is not set up");
  Py_DECREF(mode);
  return r;
}

// The constructor of no_grad and enable_grad. Given a function, it returns the decorated function instead of a Mode.
template <bool On>
PyObject* plain(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* function = nullptr;
  static const char* names[] = {"orig_func", nullptr};
  if ((PyTuple_GET_SIZE(args) || kwargs) &&
      !PyArg_ParseTupleAndKeywords(args, kwargs, "|O", const_cast<char**>(names), &function))
    return nullptr;
  Mode* m = make(type, On);
  if (!m || !function) return reinterpret_cast<PyObject*>(m);
  return wrap_function(reinterpret_cast<PyObject*>(m), function);
}

// The vectorcall of the same types, which makes no tuple of arguments, for the usual `with no_grad():`.
template <bool On>
PyObject* plain_call(PyObject* type, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  if (__builtin_expect(PyVectorcall_NARGS(nargsf) == 0 && !kwnames, 1))
    return reinterpret_cast<PyObject*>(make(reinterpret_cast<PyTypeObject*>(type), On));
  const Py_ssize_t keywords = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  if (PyVectorcall_NARGS(nargsf) + keywords != 1 ||
      (keywords && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, 0), "orig_func")))
    return PyErr_Format(PyExc_TypeError, "no_grad and enable_grad take one function to decorate, or nothing");
  Mode* m = make(reinterpret_cast<PyTypeObject*>(type), On);
  return m ? wrap_function(reinterpret_cast<PyObject*>(m), args[0]) : nullptr;
}

PyObject* set_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  int on;
  static const char* names[] = {"mode", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "p:set_grad_enabled", const_cast<char**>(names), &on)) return nullptr;
  Mode* m = make(type, on != 0);
  if (m) enable(on != 0);  // takes effect now; a `with` block restores the former mode at its end
  return reinterpret_cast<PyObject*>(m);
}

PyObject* inference_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* mode = Py_True;
  static const char* names[] = {"mode", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:inference_mode", const_cast<char**>(names), &mode)) return nullptr;
  const bool function = PyCallable_Check(mode) && !PyBool_Check(mode);
  const int on = function ? 1 : PyObject_IsTrue(mode);
  if (on < 0) return nullptr;
  Mode* m = make(type, !on);
  if (!m) return nullptr;
  m->inference_to = on != 0;
  return function ? wrap_function(reinterpret_cast<PyObject*>(m), mode) : reinterpret_cast<PyObject*>(m);
}

PyObject* enter(PyObject* o, PyObject*) {
  Mode* m = cast(o);
  if (Py_TYPE(o) != set_type) m->before = enabled();
  m->inference_before = inference();
  set_inference(m->inference_to);
  enable(m->to);
  return Py_NewRef(o);
}

PyObject* leave(PyObject* o, PyObject* const*, Py_ssize_t) {
  enable(cast(o)->before);
  set_inference(cast(o)->inference_before);
  Py_RETURN_NONE;
}

PyObject* call(PyObject* o, PyObject* args, PyObject* kwargs) {
  PyObject* f;
  static const char* names[] = {"func", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O", const_cast<char**>(names), &f)) return nullptr;
  // used as a decorator: restore the mode that the constructor switched
  if (Py_TYPE(o) == set_type) enable(cast(o)->before);
  return wrap_function(Py_NewRef(o), f);
}

// Makes a copy of a mode, for each call of a decorated function.
PyObject* fresh(PyObject* o, PyObject*) {
  Mode* m = make(Py_TYPE(o), cast(o)->to);
  if (m) m->inference_to = cast(o)->inference_to;
  return reinterpret_cast<PyObject*>(m);
}

PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(leave)), METH_FASTCALL, nullptr},
    {"_fresh", fresh, METH_NOARGS, nullptr},
    {nullptr}};
PyMemberDef members[] = {{"mode", T_BOOL, offsetof(Mode, to), READONLY, nullptr}, {nullptr}};

PyTypeObject* make_type(PyObject* module, const char* name, newfunc create, const char* doc) {
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(create)},
                         {Py_tp_call, reinterpret_cast<void*>(call)},
                         {Py_tp_methods, methods},
                         {Py_tp_members, members},
                         {Py_tp_doc, const_cast<char*>(doc)},
                         {0, nullptr}};
  PyType_Spec spec = {name, sizeof(Mode), 0, Py_TPFLAGS_DEFAULT, slots};
  PyObject* t = PyType_FromSpec(&spec);
  if (t && PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(t)) < 0) return nullptr;
  return reinterpret_cast<PyTypeObject*>(t);
}

PyObject* is_enabled(PyObject*, PyObject*) { return PyBool_FromLong(enabled()); }
PyObject* is_inference(PyObject*, PyObject*) { return PyBool_FromLong(inference()); }
PyObject* set_decorate(PyObject*, PyObject* f) {
  Py_XSETREF(decorate, Py_NewRef(f));
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"is_grad_enabled", is_enabled, METH_NOARGS,
     "is_grad_enabled()\n--\n\nReturns whether operators are recorded in this thread.\n\n>>> "
     "lamella.is_grad_enabled()\nTrue\n"},
    {"is_inference_mode_enabled", is_inference, METH_NOARGS,
     "is_inference_mode_enabled()\n--\n\nReturns whether inference mode is on in this thread.\n\n>>> "
     "lamella.is_inference_mode_enabled()\nFalse\n"},
    {"_set_decorate", set_decorate, METH_O, nullptr},
    {nullptr}};

}  // namespace

int add_modes(PyObject* module) {
  const lamella_library_def def = {sizeof def, LAMELLA_TARGET_VERSION, "autograd", "autograd", LAMELLA_EXTENDS, 0};
  lamella_library* library;
  if (api().library_open(&def, &library) || api().thread_slot(library, &slot_type, &slot)) return raise(), -1;
  no_grad_type =
      make_type(module, "lamella.autograd.no_grad", plain<false>,
                "no_grad(orig_func=None)\n--\n\nSwitches recording off: results do not require grad, "
                "and leaves may be written. "
                "A context manager and a decorator.\n\n>>> x = lamella.ones(2, requires_grad=True)\n>>> with "
                "lamella.no_grad():\n...   "
                "  y = x * 2\n>>> y.requires_grad\nFalse\n");
  enable_grad_type = make_type(
      module, "lamella.autograd.enable_grad", plain<true>,
      "enable_grad(orig_func=None)\n--\n\nSwitches recording on, inside no_grad().\n\n>>> x = lamella.ones(2, "
      "requires_grad=True)\n>>> with lamella.no_grad():\n...     with lamella.enable_grad():\n...         y "
      "= x * 2\n>>> "
      "y.requires_grad\nTrue\n");
  set_type =
      make_type(module, "lamella.autograd.set_grad_enabled", set_new,
                "set_grad_enabled(mode)\n--\n\nSwitches recording on or off, at once; as a context manager, until "
                "its end.\n\n>>> with lamella.set_grad_enabled(False):\n...     lamella.is_grad_enabled()\nFalse\n");
  inference_type = make_type(module, "lamella.autograd.inference_mode", inference_new,
                             "inference_mode(mode=True)\n--\n\nNothing is recorded inside, as with no_grad(), and the "
                             "code says that its results "
                             "are never to be differentiated.\n\n>>> with lamella.inference_mode():\n...     "
                             "(lamella.ones(2, requires_grad=True) * "
                             "2).requires_grad\nFalse\n");
  if (!no_grad_type || !enable_grad_type || !set_type || !inference_type) return -1;
  no_grad_type->tp_vectorcall = plain_call<false>;
  enable_grad_type->tp_vectorcall = plain_call<true>;
  return PyModule_AddFunctions(module, functions);
}

}  // namespace lamella::autograd::face
