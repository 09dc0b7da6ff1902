#include "frontend/binding/overrides.h"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "core/thread.h"
#include "dispatcher/layer.h"
#include "dispatcher/operators.h"
#include "frontend/binding/overriders.h"
#include "frontend/binding/packet.h"
#include "frontend/binding/status.h"
#include "frontend/binding/tensor_object.h"
#include "frontend/binding/types.h"

namespace py = pybind11;

namespace lamella::binding {

std::atomic<int> function_modes{0};
PyObject *function_word, *dispatch_word;
thread_local Overriding overriding;
QuietClass quiet_class;

namespace {

PyObject* usual;                  // Tensor's own __torch_function__
PyObject* usual_dispatch_method;  // Tensor's own __torch_dispatch__
PyObject* switched_off;           // the value of __torch_function__ in a class that overrides nothing

}  // namespace

PyObject* implementation(PyTypeObject* t, PyObject* word) {
  if (t == tensor_type || t == &PyLong_Type || t == &PyFloat_Type || t == &PyBool_Type || t == &PyUnicode_Type ||
      t == Py_TYPE(Py_None) || t == dtype_type || t == device_type)
    return nullptr;
  PyObject* found = _PyType_Lookup(t, word);
  // The class is remembered by its version; version 0 means that it has none. Before Python 3.11 a changed class keeps
  // its version, so nothing is remembered there.
  if (PY_VERSION_HEX >= 0x030b0000 && found == switched_off && word == function_word && t->tp_version_tag &&
      PyType_IsSubtype(t, tensor_type))
    quiet_class = {t, t->tp_version_tag};
  return found == switched_off || found == usual_dispatch_method || found == Py_None ? nullptr : found;
}

Overriding::~Overriding() {
  function_modes -= static_cast<int>(functions.size());
  for (const Modes* modes : {&functions, &calls})
    for (PyObject* mode : *modes) drop_anywhere(mode);
}

void Overriders::look_at(PyObject* const* args, Py_ssize_t n) {
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject* o = args[i];
    if (PyTuple_CheckExact(o) || PyList_CheckExact(o)) {
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(o); k++) look_at_one(PySequence_Fast_GET_ITEM(o, k));
    } else {
      look_at_one(o);
    }
  }
}

void Overriders::look_at_one(PyObject* o) {
  PyTypeObject* t = Py_TYPE(o);
  if (!implementation(t, word_)) return;
  for (PyObject* known : found_)
    if (Py_TYPE(known) == t) return;
  const auto base =
      std::find_if(found_.begin(), found_.end(), [t](PyObject* known) { return PyType_IsSubtype(t, Py_TYPE(known)); });
  found_.insert(base, o);
  Py_INCREF(o);
}

PyObject* call_override(PyObject* of, PyObject* word, PyObject* function, PyObject* types, PyObject* const* args,
                        Py_ssize_t n, PyObject* kwnames) {
  PyObject *positional = PyTuple_New(n), *keywords = PyDict_New();
  bool whole = positional && keywords && types;
  for (Py_ssize_t i = 0; whole && i < n; i++) PyTuple_SET_ITEM(positional, i, Py_NewRef(args[i]));
  for (Py_ssize_t k = 0; whole && kwnames && k < PyTuple_GET_SIZE(kwnames); k++)
    whole = PyDict_SetItem(keywords, PyTuple_GET_ITEM(kwnames, k), args[n + k]) == 0;
  PyObject* all[5] = {of, function, types, positional, keywords};
  PyObject* result = whole ? PyObject_VectorcallMethod(word, all, 5, nullptr) : nullptr;
  Py_XDECREF(positional);
  Py_XDECREF(keywords);
  return result;
}

bool read_override(const char* who, PyObject* all, PyObject* named, PyObject** function, PyObject** types,
                   PyObject** args, PyObject** kwargs) {
  static const char* names[] = {"func", "types", "args", "kwargs", nullptr};
  *args = *kwargs = nullptr;
  if (!PyArg_ParseTupleAndKeywords(all, named, "OO|OO", const_cast<char**>(names), function, types, args, kwargs))
    return false;
  if (*kwargs == Py_None) *kwargs = nullptr;
  if (*kwargs && !PyDict_Check(*kwargs)) {
    PyErr_Format(PyExc_TypeError, "%s: argument 'kwargs' must be a dict or None, got %s", who,
                 type_name(*kwargs).c_str());
    return false;
  }
  *types = PySequence_Tuple(*types);
  *args = !*types ? nullptr : *args ? PySequence_Tuple(*args) : PyTuple_New(0);
  if (!*args) Py_CLEAR(*types);
  return *args != nullptr;
}

PyObject* no_implementation(PyObject* function, PyObject* word, const Overriders& who) {
  PyObject *name = PyObject_GetAttrString(function, "__qualname__"), *types = who.types();
  if (name && types)
    PyErr_Format(PyExc_TypeError, "%U: no implementation: each %U that was asked returned NotImplemented; classes: %R",
                 name, word, types);
  Py_XDECREF(name);
  Py_XDECREF(types);
  return nullptr;
}

namespace {

class WithoutSubclasses {
 public:
  WithoutSubclasses() { overriding.without_subclasses++; }
  ~WithoutSubclasses() { overriding.without_subclasses--; }
  WithoutSubclasses(const WithoutSubclasses&) = delete;
};

// ---- results as objects of a subclass -------------------------------------------------------------------------------

}  // namespace

lamella_status mark_class(Tensor* t, PyTypeObject* type) {
  static int32_t bit = -1;
  const bool has_own = implementation(type, dispatch_word) != nullptr;
  if (has_own)
    if (lamella_status st = python_layer(&bit)) return st;
  if (bit >= 0) t->keys = (t->keys & ~(uint64_t{1} << bit)) | uint64_t{has_own} << bit;
  return LAMELLA_OK;
}

bool has_dispatch(PyTypeObject* type) { return implementation(type, dispatch_word) != nullptr; }

PyObject* of_class(PyObject* fresh, PyTypeObject* type) {
  PyObject* made = type->tp_alloc(type, 0);
  if (made && mark_class(unwrap(fresh), type)) {
    Py_CLEAR(made);
    raise_pending();
  }
  if (made) {
    Tensor* t = unwrap(fresh);
    reinterpret_cast<TensorObject*>(fresh)->tensor = nullptr;
    reinterpret_cast<TensorObject*>(made)->tensor = t;
    t->host = made;
  }
  Py_DECREF(fresh);
  return made;
}

namespace {

// Returns whether this is the only reference to the object, and the object has the only reference to its tensor.
bool is_fresh(PyObject* o) {
  return Py_REFCNT(o) == 1 && unwrap(o)->object.refcount == 1 && !reinterpret_cast<TensorObject*>(o)->weakrefs;
}

PyObject* alias_of(PyObject* o) {
  static const dispatcher::Operator* alias = dispatcher::find_operator("aten::alias", "");
  const Value v = core::tensor_value(unwrap(o));
  return run(alias, &v);
}

// Returns the layers that are outside of autograd, and so may be a tracer's, among those of a tensor's keys.
uint64_t outer_keys(const Tensor* t) {
  for (const dispatcher::Band& band : dispatcher::bands())
    if (!std::strcmp(band.name, "autograd")) return t->keys & ~uint64_t{0} << (band.high + 1);
  return 0;
}

// Returns another view of a view that a layer of this thread, such as a tracer, has kept. Those layers do not see it:
// they would keep it, too. If the view is opaque, the tracer's slot carries its state to the other one, and a tracer by
// the tensors' keys does not see it either. Takes the view over.
PyObject* viewed_again(PyObject* view) {
  struct Without {  // also after an exception
    lamella_thread& thread = core::this_thread().shared;
    const uint64_t off = thread.exclude;
    explicit Without(uint64_t layers) { thread.exclude |= layers; }
    ~Without() { thread.exclude = off; }
  };
  PyObject* again;
  {
    const uint64_t on = core::this_thread().shared.include | (unwrap(view)->opaque() ? outer_keys(unwrap(view)) : 0);
    const Without layers(on | dispatcher::process_layers.load(std::memory_order_relaxed));
    again = alias_of(view);
  }
  Py_DECREF(view);
  return again;
}

PyObject* as_class(PyObject* o, PyTypeObject* type) {
  PyObject* view = alias_of(o);
  const bool kept = view && Py_TYPE(view) == tensor_type && !is_fresh(view) && view != o;
  if (kept && (unwrap(view)->base || unwrap(view)->opaque())) view = viewed_again(view);
  if (!view || (Py_TYPE(view) == tensor_type && is_fresh(view))) return view ? of_class(view, type) : nullptr;
  // A mode or a class has returned an object of the class already.
  if (PyType_IsSubtype(Py_TYPE(view), type)) return view;
  PyErr_Format(PyExc_TypeError, "as_subclass: the handler of 'alias' returned an existing %s in place of a new view",
               Py_TYPE(view)->tp_name);
  Py_DECREF(view);
  return nullptr;
}

// Converts the tensors among the results to objects of the class. Takes the results over.
PyObject* converted(PyObject* o, PyTypeObject* type) {
  if (!o) return nullptr;
  if (Py_TYPE(o) == tensor_type) {
    if (is_fresh(o)) return of_class(o, type);
    PyObject* made = as_class(o, type);
    Py_DECREF(o);
    return made;
  }
  const bool list = PyList_CheckExact(o);
  if (!list && !PyTuple_Check(o)) return o;
  if (Py_REFCNT(o) > 1) {  // other code has a reference, so a copy is converted
    if (!list && !PyTuple_CheckExact(o)) return o;
    Py_SETREF(o, list ? PyList_GetSlice(o, 0, PyList_GET_SIZE(o)) : PySequence_List(o));
    if (!o) return nullptr;
    PyObject* made = converted(o, type);
    if (made && !list) Py_SETREF(made, PyList_AsTuple(made));
    return made;
  }
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); i++) {
    PyObject*& place = PySequence_Fast_ITEMS(o)[i];
    PyObject* made = converted(std::exchange(place, Py_NewRef(Py_None)), type);
    if (!made) {
      Py_DECREF(o);
      return nullptr;
    }
    Py_SETREF(place, made);
  }
  return o;
}

// Returns whether the class is a subclass of all the types; false, perhaps with an exception, if not.
bool is_under_all(PyTypeObject* type, PyObject* types) {
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(types); i++)
    if (PyObject_IsSubclass(reinterpret_cast<PyObject*>(type), PySequence_Fast_GET_ITEM(types, i)) != 1) return false;
  return true;
}

// Tensor's own __torch_function__: calls the function, and converts its results to the class. Returns NotImplemented if
// the class is not a subclass of all the types.
PyObject* usual_function(PyObject* type, PyObject* all, PyObject* named) {
  return with_memory([&]() -> PyObject* {
    auto* cls = reinterpret_cast<PyTypeObject*>(type);
    PyObject *function, *types, *args, *kwargs;
    if (!read_override("__torch_function__", all, named, &function, &types, &args, &kwargs)) return nullptr;
    PyObject* result = nullptr;
    if (is_under_all(cls, types)) {
      const WithoutSubclasses plain;
      result = PyObject_Call(function, args, kwargs);
      if (cls != tensor_type) result = converted(result, cls);
    } else if (!PyErr_Occurred()) {
      result = Py_NewRef(Py_NotImplemented);
    }
    Py_DECREF(types);
    Py_DECREF(args);
    return result;
  });
}

// Calls the function and converts its results too, for classes with Tensor's own method, without packing the arguments.
PyObject* by_usual(PyObject* function, const Overriders& who, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  PyObject* types = who.types();
  if (!types) return nullptr;
  PyTypeObject* cls = nullptr;
  for (size_t i = 0; i < who.all().size() && !cls && !PyErr_Occurred(); i++)
    if (is_under_all(Py_TYPE(who.all()[i]), types)) cls = Py_TYPE(who.all()[i]);
  Py_DECREF(types);
  if (PyErr_Occurred()) return nullptr;
  if (!cls) return no_implementation(function, function_word, who);
  const WithoutSubclasses plain;
  return converted(PyObject_Vectorcall(function, args, n, kwnames), cls);
}

PyObject* by_types(PyObject* function, const Overriders& who, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  if (std::all_of(who.all().begin(), who.all().end(),
                  [](PyObject* o) { return implementation(Py_TYPE(o), function_word) == usual; }))
    return by_usual(function, who, args, n, kwnames);
  PyObject* types = who.types();
  if (!types) return nullptr;
  for (PyObject* o : who.all()) {
    PyObject* result = call_override(o, function_word, function, types, args, n, kwnames);
    if (result != Py_NotImplemented) {
      Py_DECREF(types);
      return result;
    }
    Py_DECREF(result);
  }
  Py_DECREF(types);
  return no_implementation(function, function_word, who);
}

Py_ssize_t count(Py_ssize_t n, PyObject* kwnames) { return n + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0); }

}  // namespace

bool may_override(PyObject* self) {
  return Py_TYPE(self) != tensor_type || (any_function_mode() && !overriding.functions.empty());
}

namespace {

bool by_mode(PyObject* function, const Overriders& who, PyObject* const* args, Py_ssize_t n, PyObject* kwnames,
             PyObject** result) {
  if (overriding.functions.empty()) return false;
  const Innermost mode(overriding.functions);
  PyObject* types = who.types();
  *result = types ? call_override(mode.get(), function_word, function, types, args, n, kwnames) : nullptr;
  Py_XDECREF(types);
  if (*result != Py_NotImplemented) return true;
  Py_DECREF(*result);
  *result = who.any() ? by_types(function, who, args, n, kwnames) : PyObject_Vectorcall(function, args, n, kwnames);
  return true;
}

}  // namespace

bool overridden_by_mode(PyObject* function, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, PyObject** result) {
  if (overriding.functions.empty()) return false;
  Overriders who(function_word);
  if (!overriding.without_subclasses) who.look_at(args, count(n, kwnames));
  return by_mode(function, who, args, n, kwnames, result);
}

bool overridden(PyObject* function, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, PyObject** result) {
  if (any_function_mode() && overridden_by_mode(function, args, n, kwnames, result)) return true;
  if (overriding.without_subclasses) return false;
  Overriders who(function_word);
  who.look_at(args, count(n, kwnames));
  if (!who.any()) return false;
  *result = by_types(function, who, args, n, kwnames);
  return true;
}

namespace {

PyObject* as_subclass(PyObject* self, PyObject* cls) {
  if (!PyType_Check(cls) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls), tensor_type))
    return PyErr_Format(PyExc_TypeError, "as_subclass: argument 'cls' must be a subclass of Tensor, got %R", cls);
  return with_memory([&]() -> PyObject* {
    auto* type = reinterpret_cast<PyTypeObject*>(cls);
    if (type != tensor_type) return as_class(self, type);
    const WithoutSubclasses plain;
    return alias_of(self);
  });
}

PyObject* nothing(PyObject*, PyObject* const*, Py_ssize_t, PyObject*) { Py_RETURN_NOTIMPLEMENTED; }

PyMethodDef usual_def = {
    "__torch_function__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(usual_function)),
    METH_VARARGS | METH_KEYWORDS | METH_CLASS,
    "__torch_function__(func, types, args=(), kwargs=None)\n--\n\n"
    "Calls `func` as if its arguments were plain tensors; tensors among the results become of this "
    "class."};
PyMethodDef asked_def = {"__torch_dispatch__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(usual_dispatch)),
                         METH_VARARGS | METH_KEYWORDS | METH_CLASS,
                         "__torch_dispatch__(func, types, args=(), kwargs=None)\n--\n\n"
                         "Calls `func` as if no class had a __torch_dispatch__ and no mode were on: its own kernels."};
PyMethodDef as_subclass_def = {"as_subclass", as_subclass, METH_O,
                               "as_subclass(cls)\n--\n\nA view of the tensor, of a subclass of Tensor. Its __init__ is "
                               "not called.\n\nRaises:\n    TypeError: `cls` is no subclass of Tensor\n\n"
                               ">>> class Named(lamella.Tensor):\n...     name = \"x\"\n"
                               ">>> t = lamella.ones(2).as_subclass(Named)\n>>> type(t + 1).__name__, (t + 1).name\n"
                               "('Named', 'x')\n"};
PyMethodDef off_def = {"_disabled_torch_function_impl", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(nothing)),
                       METH_FASTCALL | METH_KEYWORDS,
                       "A value for a class's __torch_function__: every call then treats its tensors as plain ones."};

}  // namespace

int init_overrides(PyObject* module) {
  function_word = PyUnicode_InternFromString("__torch_function__");
  dispatch_word = PyUnicode_InternFromString("__torch_dispatch__");
  switched_off = PyCFunction_New(&off_def, nullptr);
  usual = PyDescr_NewClassMethod(tensor_type, &usual_def);
  usual_dispatch_method = PyDescr_NewClassMethod(tensor_type, &asked_def);
  PyObject* method = PyDescr_NewMethod(tensor_type, &as_subclass_def);
  PyObject* type = reinterpret_cast<PyObject*>(tensor_type);
  if (!function_word || !dispatch_word || !switched_off || !usual || !usual_dispatch_method || !method) return -1;
  if (PyObject_SetAttr(type, function_word, usual) < 0 ||
      PyObject_SetAttr(type, dispatch_word, usual_dispatch_method) < 0 ||
      PyObject_SetAttrString(type, "as_subclass", method) < 0)
    return -1;
  Py_DECREF(method);
  return PyModule_AddObjectRef(module, off_def.ml_name, switched_off);
}

void add_overrides(py::module_& m) {
  add_modes(m);
  struct Disabled {};
  py::class_<Disabled>(m, "DisableTorchFunctionSubclass",
                       "In a ``with``: arguments of subclasses are as plain tensors to __torch_function__.")
      .def(py::init<>())
      .def("__enter__", [](Disabled&) { overriding.without_subclasses++; })
      .def("__exit__", [](Disabled&, py::args) {
        // A block may be left on another thread than it was entered on.
        if (overriding.without_subclasses > 0) overriding.without_subclasses--;
      });
  // Returns the arguments that override a call, in the order in which they are called.
  m.def("_overriders", [](py::tuple args) {
    Overriders who(function_word);
    if (!overriding.without_subclasses) who.look_at(&PyTuple_GET_ITEM(args.ptr(), 0), PyTuple_GET_SIZE(args.ptr()));
    py::list l;
    for (PyObject* o : who.all()) l.append(py::reinterpret_borrow<py::object>(o));
    return l;
  });
  m.def("_handle_function", [](py::object function, py::tuple relevant, py::tuple args, py::dict kwargs) {
    PyObject* result = nullptr;
    Overriders who(function_word);
    if (!overriding.without_subclasses)
      who.look_at(&PyTuple_GET_ITEM(relevant.ptr(), 0), PyTuple_GET_SIZE(relevant.ptr()));
    py::tuple names(kwargs.size());
    std::vector<PyObject*> all(&PyTuple_GET_ITEM(args.ptr(), 0), &PyTuple_GET_ITEM(args.ptr(), 0) + args.size());
    size_t k = 0;
    for (const auto& [name, value] : kwargs) {
      names[k++] = name;
      all.push_back(value.ptr());
    }
    const auto n = static_cast<Py_ssize_t>(args.size());
    if (!any_function_mode() || !by_mode(function.ptr(), who, all.data(), n, names.ptr(), &result))
      result = who.any() ? by_types(function.ptr(), who, all.data(), n, names.ptr())
                         : PyObject_Vectorcall(function.ptr(), all.data(), n, names.ptr());
    if (!result) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(result);
  });
}

}  // namespace lamella::binding
