// The extension module _python: the class autocast, whose blocks are opened and closed without a function of Python.
#include <lamella/python.h>
#include <structmember.h>

#include <cstring>

#include "interface.h"

namespace lamella::autocast {
namespace {

const Interface* table = nullptr;
PyObject* resolve = nullptr;   // the Python function that checks the arguments of a block
PyObject* decorate = nullptr;  // the Python function that wraps a function in blocks
PyTypeObject* type = nullptr;

// A block: what it sets. The thread's state keeps what it restores, so that one object may be open several times, also on
// several threads.
struct Block {
  PyObject_HEAD int32_t backend, dtype, cache;
  bool on;
  PyObject *device, *fast_dtype;
};

// Remembers the last call with a device alone: `with autocast("cpu"):` in a loop checks nothing again.
struct Last {
  PyObject* device;
  int32_t backend;
} last = {nullptr, -1};

Block* block_of(PyObject* o) { return reinterpret_cast<Block*>(o); }
int32_t number(PyObject* o) { return static_cast<int32_t>(PyLong_AsLong(o)); }

// Fills a block by the answer of `resolve`: the device's number and name, the dtype's, whether it is on, the cache's.
int fill(PyObject* self, PyObject* args, PyObject* kwargs) {
  PyObject* answer = PyObject_Call(resolve, args, kwargs);
  if (!answer) return -1;
  Block* b = block_of(self);
  b->backend = number(PyTuple_GET_ITEM(answer, 0));
  Py_XSETREF(b->device, Py_NewRef(PyTuple_GET_ITEM(answer, 1)));
  Py_XSETREF(b->fast_dtype, Py_NewRef(PyTuple_GET_ITEM(answer, 2)));
  b->on = PyTuple_GET_ITEM(answer, 3) == Py_True;
  b->cache = number(PyTuple_GET_ITEM(answer, 4));
  lamella_value dtype = none();
  b->dtype = -1;
  if (b->fast_dtype != Py_None) {
    if (python::face().from_python(b->fast_dtype, &dtype) < 0) return Py_DECREF(answer), -1;
    b->dtype = static_cast<int32_t>(dtype.as.i);
  }
  Py_DECREF(answer);
  return PyErr_Occurred() ? -1 : 0;
}

PyObject* vectorcall(PyObject* cls, PyObject* const* args, size_t nargsf, PyObject* names) {
  const Py_ssize_t n = PyVectorcall_NARGS(nargsf);
  if (n == 1 && !names && args[0] == last.device) {
    auto* b = reinterpret_cast<Block*>(type->tp_alloc(type, 0));
    if (!b) return nullptr;
    b->backend = last.backend;
    b->dtype = b->cache = -1;
    b->on = true;
    b->device = Py_NewRef(args[0]);
    b->fast_dtype = Py_NewRef(Py_None);
    return reinterpret_cast<PyObject*>(b);
  }
  PyObject* positional = PyTuple_New(n);
  PyObject* keywords = names ? PyDict_New() : nullptr;
  for (Py_ssize_t i = 0; positional && i < n; i++) PyTuple_SET_ITEM(positional, i, Py_NewRef(args[i]));
  for (Py_ssize_t i = 0; keywords && i < PyTuple_GET_SIZE(names); i++)
    if (PyDict_SetItem(keywords, PyTuple_GET_ITEM(names, i), args[n + i]) < 0) Py_CLEAR(keywords);
  PyObject* self = positional && (!names || keywords) ? type->tp_alloc(type, 0) : nullptr;
  if (self && fill(self, positional, keywords) < 0) Py_CLEAR(self);
  if (self && n == 1 && !names && block_of(self)->on) {
    Py_XSETREF(last.device, Py_NewRef(args[0]));
    last.backend = block_of(self)->backend;
  }
  (void)cls;
  Py_XDECREF(positional);
  Py_XDECREF(keywords);
  return self;
}

PyObject* make(PyTypeObject* cls, PyObject*, PyObject*) { return cls->tp_alloc(cls, 0); }

void destroy(PyObject* o) {
  PyTypeObject* cls = Py_TYPE(o);
  Py_XDECREF(block_of(o)->device);
  Py_XDECREF(block_of(o)->fast_dtype);
  cls->tp_free(o);
  Py_DECREF(cls);
}

PyObject* enter(PyObject* o, PyObject*) {
  const Block* b = block_of(o);
  if (!b->device) return PyErr_Format(PyExc_RuntimeError, "autocast: a derived class has not called __init__");
  if (table->enter(o, b->backend, b->on, b->dtype, b->cache)) return python::face().raise_pending();
  return Py_NewRef(o);
}

PyObject* leave(PyObject* o, PyObject* const*, Py_ssize_t) {
  if (table->leave(o)) return python::face().raise_pending();
  Py_RETURN_FALSE;
}

// The dtype of a block that was given none is the device's.
PyObject* get_fast_dtype(PyObject* o, void*) {
  const Block* b = block_of(o);
  if (!b->device || b->fast_dtype != Py_None) return Py_NewRef(b->device ? b->fast_dtype : Py_None);
  PyObject* answer = PyObject_CallFunctionObjArgs(resolve, b->device, nullptr);
  PyObject* dtype = answer ? Py_NewRef(PyTuple_GET_ITEM(answer, 2)) : nullptr;
  Py_XDECREF(answer);
  return dtype;
}

// Copies and pickles of a block are made of its arguments.
PyObject* reduce(PyObject* o, PyObject*) {
  const Block* b = block_of(o);
  if (!b->device) return PyErr_Format(PyExc_RuntimeError, "autocast: a derived class has not called __init__");
  PyObject* cache = b->cache < 0 ? Py_None : b->cache ? Py_True : Py_False;
  return Py_BuildValue("O(OOOO)", Py_TYPE(o), b->device, b->fast_dtype, b->on ? Py_True : Py_False, cache);
}

PyObject* call(PyObject* o, PyObject* args, PyObject* kwargs) {
  PyObject* f;
  static const char* names[] = {"func", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:autocast", const_cast<char**>(names), &f)) return nullptr;
  return PyObject_CallFunctionObjArgs(decorate, o, f, nullptr);
}

PyObject* set_functions(PyObject*, PyObject* args) {
  PyObject *r, *d;
  if (!PyArg_ParseTuple(args, "OO", &r, &d)) return nullptr;
  Py_XSETREF(resolve, Py_NewRef(r));
  Py_XSETREF(decorate, Py_NewRef(d));
  Py_RETURN_NONE;
}

// _settings() returns this thread's settings as bytes, _enter(block, settings) opens a block with them, and _leave(block)
// closes it. An operator cannot do this, nor say whether autocast is on: it sees other layers than its caller.
PyObject* get_settings(PyObject*, PyObject*) {
  const Settings s = table->settings();
  return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(&s), sizeof s);
}

PyObject* enter_settings(PyObject*, PyObject* args) {
  PyObject *block, *o;
  if (!PyArg_ParseTuple(args, "OO", &block, &o)) return nullptr;
  if (!PyBytes_Check(o) || PyBytes_GET_SIZE(o) != sizeof(Settings))
    return PyErr_Format(PyExc_TypeError, "_enter: the argument 'settings' must be what _settings returned");
  Settings s;
  std::memcpy(&s, PyBytes_AS_STRING(o), sizeof s);
  if (table->enter_settings(block, &s)) return python::face().raise_pending();
  Py_RETURN_NONE;
}

PyObject* leave_settings(PyObject*, PyObject* block) { return leave(block, nullptr, 0); }

PyObject* is_enabled(PyObject*, PyObject* backend) { return PyBool_FromLong(table->is_enabled(number(backend))); }

PyObject* set_enabled(PyObject*, PyObject* args) {
  int backend, on;
  if (!PyArg_ParseTuple(args, "ip", &backend, &on)) return nullptr;
  if (table->set_enabled(backend, on)) return python::face().raise_pending();
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(leave)), METH_FASTCALL, nullptr},
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {nullptr}};
PyGetSetDef getset[] = {{"fast_dtype", get_fast_dtype, nullptr, nullptr, nullptr}, {nullptr}};
PyMemberDef members[] = {{"device", T_OBJECT, offsetof(Block, device), READONLY, nullptr},
                         {"_enabled", T_BOOL, offsetof(Block, on), READONLY, nullptr},
                         {nullptr}};
PyMethodDef functions[] = {{"_set_functions", set_functions, METH_VARARGS, nullptr},
                           {"_settings", get_settings, METH_NOARGS, nullptr},
                           {"_enter", enter_settings, METH_VARARGS, nullptr},
                           {"_leave", leave_settings, METH_O, nullptr},
                           {"_is_enabled", is_enabled, METH_O, nullptr},
                           {"_set_enabled", set_enabled, METH_VARARGS, nullptr},
                           {nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "_python",
                          "The Python face of autocast.",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

constexpr char documentation[] =
    "autocast(device_type, dtype=None, enabled=True, cache_enabled=None)\n--\n\n"
    "A block, or a decorator, in which operators choose the dtype that they compute in.\n\n"
    "Products of matrices get their tensors of floats in the dtype of the block, sums and losses in float32:\n"
    "``docs/autocast.md`` lists the policies. Blocks may be nested, also with ``enabled=False``. Backward runs "
    "outside.\n\n"
    "Args:\n"
    "    device_type: a type of device, such as \"cpu\"; tensors of other devices are not cast\n"
    "    dtype: the lower dtype; by default that of ``get_autocast_dtype``\n"
    "    enabled: False switches autocast off within the block\n"
    "    cache_enabled: whether casts of weights are kept until the outermost block ends; None leaves this as it is\n\n"
    "Raises:\n"
    "    ValueError: the device type is no str\n"
    "    TypeError: the dtype is none\n"
    "    RuntimeError: there is no such device, or the dtype is not one of floats below 64 bits\n\n"
    ">>> x = lamella.ones(2, 2)\n"
    ">>> with lamella.autocast(\"cpu\"):\n"
    "...     (x @ x).dtype\n"
    "lamella.bfloat16\n";

}  // namespace
}  // namespace lamella::autocast

PyMODINIT_FUNC PyInit__python(void) {
  using namespace lamella::autocast;
  if (lamella::python::import() < 0) return nullptr;
  table = static_cast<const Interface*>(lamella::api().find_interface("autocast", 1));
  if (!table) return PyErr_Format(PyExc_ImportError, "the autocast plugin's library is not loaded");
  PyObject* m = PyModule_Create(&definition);
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                         {Py_tp_init, reinterpret_cast<void*>(fill)},
                         {Py_tp_call, reinterpret_cast<void*>(call)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
                         {Py_tp_methods, methods},
                         {Py_tp_members, members},
                         {Py_tp_getset, getset},
                         {Py_tp_doc, const_cast<char*>(documentation)},
                         {0, nullptr}};
  PyType_Spec spec = {"lamella.amp.autocast", sizeof(Block), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  PyObject* t = m ? PyType_FromSpec(&spec) : nullptr;
  if (!t || PyModule_AddType(m, reinterpret_cast<PyTypeObject*>(t)) < 0) return Py_XDECREF(m), nullptr;
  type = reinterpret_cast<PyTypeObject*>(t);
  type->tp_vectorcall = vectorcall;
  return m;
}
