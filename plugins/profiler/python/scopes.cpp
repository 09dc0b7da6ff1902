// record_function: a named block, as a context manager and a decorator.
#include "face.h"

#include <structmember.h>

namespace lamella::profiler::face {
namespace {

struct Scoped {
  PyObject_HEAD PyObject* name;
  PyObject* args;
  void* scope;       // set while the block runs and is observed
  PyObject* blocks;  // the object that the context holds while the block is open
  PyObject* before;  // the object that the context held before, or null
  bool inside;
};

// The object that a context holds while blocks are open in it; see Note [Contexts] in observe/context.h.
struct Blocks {
  PyObject_HEAD void* blocks;
};
PyTypeObject* blocks_type = nullptr;
PyObject* variable = nullptr;  // the ContextVar that holds a Blocks or None

void destroy_blocks(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  profiler->context_free(reinterpret_cast<Blocks*>(self)->blocks);
  type->tp_free(self);
  Py_DECREF(type);
}

// Returns a new reference to the context's object; null, without an exception, if there is none.
PyObject* held() {
  PyObject* value = nullptr;
  if (PyContextVar_Get(variable, nullptr, &value) < 0) PyErr_Clear();
  return value;
}

void hold(PyObject* value) {
  PyObject* token = PyContextVar_Set(variable, value ? value : Py_None);
  if (!token) PyErr_Clear();
  Py_XDECREF(token);
}

// Returns the context's blocks; the context keeps them alive while this thread reads them.
void* read() {
  if (!Py_IsInitialized()) return nullptr;
  const Gil gil;
  PyObject* value = held();
  void* blocks = value && Py_TYPE(value) == blocks_type ? reinterpret_cast<Blocks*>(value)->blocks : nullptr;
  Py_XDECREF(value);
  return blocks;
}

PyObject* decorate = nullptr;  // the Python function that wraps a function in the block

Scoped* cast(PyObject* o) { return reinterpret_cast<Scoped*>(o); }

PyObject* make(PyTypeObject* type, PyObject* name, PyObject* args) {
  if (!PyUnicode_Check(name))
    return PyErr_Format(PyExc_TypeError, "record_function: argument 'name' must be str, got %s",
                        Py_TYPE(name)->tp_name);
  auto* s = reinterpret_cast<Scoped*>(type->tp_alloc(type, 0));
  if (!s) return nullptr;
  s->name = Py_NewRef(name);
  s->args = args && args != Py_None ? Py_NewRef(args) : nullptr;
  return reinterpret_cast<PyObject*>(s);
}

PyObject* make_scoped(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"name", "args", nullptr};
  PyObject *name, *more = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:record_function", const_cast<char**>(names), &name, &more))
    return nullptr;
  return make(type, name, more);
}

PyObject* call_type(PyObject* type, PyObject* const* args, size_t given, PyObject* names) {
  const Py_ssize_t n = PyVectorcall_NARGS(given);
  if (n == 1 && !names) return make(reinterpret_cast<PyTypeObject*>(type), args[0], nullptr);
  PyObject* tuple = PyTuple_New(n);
  PyObject* kwargs = names ? PyDict_New() : nullptr;
  bool fine = tuple && (!names || kwargs);
  for (Py_ssize_t i = 0; fine && i < n; i++) PyTuple_SET_ITEM(tuple, i, Py_NewRef(args[i]));
  for (Py_ssize_t i = 0; fine && names && i < PyTuple_GET_SIZE(names); i++)
    fine = PyDict_SetItem(kwargs, PyTuple_GET_ITEM(names, i), args[n + i]) == 0;
  PyObject* o = fine ? make_scoped(reinterpret_cast<PyTypeObject*>(type), tuple, kwargs) : nullptr;
  Py_XDECREF(tuple);
  Py_XDECREF(kwargs);
  return o;
}

PyObject* enter(PyObject* self, PyObject*) {
  Scoped* s = cast(self);
  if (s->inside)
    return PyErr_Format(PyExc_RuntimeError, "record_function: the block %R is entered a second time, inside itself",
                        s->name);
  const char* name = PyUnicode_AsUTF8(s->name);
  PyObject* bytes = nullptr;
  if (!name) {  // a lone surrogate, which has no UTF-8
    PyErr_Clear();
    bytes = PyUnicode_AsEncodedString(s->name, "utf-8", "backslashreplace");
    if (!bytes) return nullptr;
    name = PyBytes_AS_STRING(bytes);
  }
  void* blocks;
  const lamella_status st = profiler->context_begin(name, &s->scope, &blocks);
  Py_XDECREF(bytes);
  if (st) return raise();
  s->inside = true;
  if (!blocks) return Py_NewRef(self);
  auto* made = reinterpret_cast<Blocks*>(blocks_type->tp_alloc(blocks_type, 0));
  if (!made) {
    profiler->context_free(blocks);
    profiler->scope_end(std::exchange(s->scope, nullptr));
    s->inside = false;
    return nullptr;
  }
  made->blocks = blocks;
  s->blocks = reinterpret_cast<PyObject*>(made);
  s->before = held();
  hold(s->blocks);
  return Py_NewRef(self);
}

// Takes the block out of the current context. It remains in other contexts, and below a later block that is still open;
// there it is marked as ended.
void leave_context(Scoped* s) {
  PyObject* now = held();
  if (now == s->blocks) hold(s->before);
  Py_XDECREF(now);
  Py_CLEAR(s->blocks);
  Py_CLEAR(s->before);
}

PyObject* leave(PyObject* self, PyObject* const*, Py_ssize_t) {
  Scoped* s = cast(self);
  s->inside = false;
  profiler->scope_end(std::exchange(s->scope, nullptr));
  if (s->blocks) leave_context(s);
  Py_RETURN_NONE;
}

PyObject* call(PyObject* self, PyObject* args, PyObject* kwargs) {
  PyObject* function;
  static const char* names[] = {"func", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:record_function", const_cast<char**>(names), &function))
    return nullptr;
  return PyObject_CallFunctionObjArgs(decorate, self, function, nullptr);
}

void destroy(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Scoped* s = cast(self);
  profiler->scope_end(s->scope);  // for a block that was entered by hand and never left
  Py_XDECREF(s->blocks);
  Py_XDECREF(s->before);
  Py_XDECREF(s->name);
  Py_XDECREF(s->args);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* set_decorator(PyObject*, PyObject* f) {
  Py_XSETREF(decorate, Py_NewRef(f));
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(leave)), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyMemberDef members[] = {{"name", T_OBJECT, offsetof(Scoped, name), READONLY, nullptr},
                         {"args", T_OBJECT, offsetof(Scoped, args), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};
PyMethodDef functions[] = {{"_set_decorator", set_decorator, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};

const char* const doc = R"(record_function(name, args=None)
--

A block of a program with a name, which observers and profiles show: a context manager and a decorator.

Without an observer it costs well under a microsecond. Blocks may be nested.

Args:
    name: what the block is called, a str
    args: anything, kept beside the name; torch's programs pass a text

Raises:
    TypeError: the name is no str
    RuntimeError: a block is entered while it runs

>>> with lamella.profiler.record_function("load a batch"):
...     x = lamella.ones(2)
>>> @lamella.profiler.record_function("double")
... def double(x):
...     return x * 2
>>> double(x)
tensor([2., 2.])
)";

}  // namespace

int add_scopes(PyObject* module) {
  static PyType_Slot blocks_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(destroy_blocks)}, {0, nullptr}};
  static PyType_Spec blocks_spec = {"lamella.profiler._Blocks", sizeof(Blocks), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, blocks_slots};
  blocks_type = add_type(module, &blocks_spec);
  variable = PyContextVar_New("lamella.profiler.blocks", nullptr);
  if (!blocks_type || !variable) return -1;
  profiler->set_context_reader(read);
  static PyType_Slot slots[] = {{Py_tp_methods, methods},
                                {Py_tp_members, members},
                                {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
                                {Py_tp_new, reinterpret_cast<void*>(make_scoped)},
                                {Py_tp_call, reinterpret_cast<void*>(call)},
                                {Py_tp_doc, const_cast<char*>(doc)},
                                {0, nullptr}};
  static PyType_Spec spec = {"lamella.profiler.record_function", sizeof(Scoped), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  PyTypeObject* type = add_type(module, &spec);
  if (!type) return -1;
  type->tp_vectorcall = call_type;
  return PyModule_AddFunctions(module, functions);
}

}  // namespace lamella::profiler::face
