#include "frontend/binding/overrides.h"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <vector>

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

namespace {

PyObject* usual;         // Tensor's own __torch_function__
PyObject* switched_off;  // what a class sets as its __torch_function__ to have none

}  // namespace

// The type's implementation, borrowed; null if it has none.
PyObject* implementation(PyTypeObject* t, PyObject* word) {
  if (t == tensor_type || t == &PyLong_Type || t == &PyFloat_Type || t == &PyBool_Type || t == &PyUnicode_Type ||
      t == Py_TYPE(Py_None) || t == dtype_type || t == device_type)
    return nullptr;
  PyObject* found = _PyType_Lookup(t, word);
  return found == switched_off || found == Py_None ? nullptr : found;
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
}

// of.word(function, types, args, kwargs), of what came as for vectorcall.
PyObject* ask(PyObject* of, PyObject* word, PyObject* function, PyObject* types, PyObject* const* args, Py_ssize_t n,
              PyObject* kwnames) {
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

PyObject* nobody_answers(PyObject* function, const Overriders& who) {
  return no_implementation(function, function_word, who);
}

class WithoutSubclasses {
 public:
  WithoutSubclasses() { overriding.without_subclasses++; }
  ~WithoutSubclasses() { overriding.without_subclasses--; }
  WithoutSubclasses(const WithoutSubclasses&) = delete;
};

// ---- results of a class
// -----------------------------------------------------------------------------------------------

}  // namespace

PyObject* of_class(PyObject* fresh, PyTypeObject* type) {
  PyObject* made = type->tp_alloc(type, 0);
  if (made && implementation(type, dispatch_word)) {
    int32_t bit;
    if (python_layer(&bit)) {
      Py_CLEAR(made);
      raise_pending();
    } else {
      unwrap(fresh)->keys |= uint64_t{1} << bit;
    }
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

PyObject* as_class(PyObject* o, PyTypeObject* type) {
  static const dispatcher::Operator* alias = dispatcher::find_operator("aten::alias", "");
  const Value v = core::tensor_value(unwrap(o));
  PyObject* view = run(alias, &v);
  if (view && Py_TYPE(view) != tensor_type) {  // a mode or a class has answered
    if (PyType_IsSubtype(Py_TYPE(view), type)) return view;
    Py_DECREF(view);
    return PyErr_Format(PyExc_TypeError, "as_subclass: a view of the tensor is a %s already", Py_TYPE(view)->tp_name);
  }
  return view ? of_class(view, type) : nullptr;
}

// Tensors among the results become objects of the class. Takes the results over.
PyObject* converted(PyObject* o, PyTypeObject* type) {
  if (!o) return nullptr;
  if (Py_TYPE(o) == tensor_type) {
    if (Py_REFCNT(o) == 1 && unwrap(o)->object.refcount == 1 && !reinterpret_cast<TensorObject*>(o)->weakrefs)
      return of_class(o, type);
    PyObject* made = as_class(o, type);
    Py_DECREF(o);
    return made;
  }
  if (PyTuple_Check(o) && Py_REFCNT(o) == 1) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); i++) {
      PyObject* item = PyTuple_GET_ITEM(o, i);
      PyTuple_SET_ITEM(o, i, nullptr);
      PyObject* made = converted(item, type);
      PyTuple_SET_ITEM(o, i, made ? made : Py_NewRef(Py_None));
      if (!made) {
        Py_DECREF(o);
        return nullptr;
      }
    }
  } else if (PyList_CheckExact(o)) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(o); i++) {
      PyObject* made = converted(Py_NewRef(PyList_GET_ITEM(o, i)), type);
      if (!made) {
        Py_DECREF(o);
        return nullptr;
      }
      PyList_SetItem(o, i, made);
    }
  }
  return o;
}

// What Tensor's own __torch_function__ does: the results are of the class. False: it leaves the call to others, as
// there is a type of which the class is no subclass.
bool is_under_all(PyTypeObject* type, PyObject* types) {
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(types); i++) {
    const int under = PyObject_IsSubclass(reinterpret_cast<PyObject*>(type), PySequence_Fast_GET_ITEM(types, i));
    if (under != 1) return false;
  }
  return true;
}

PyObject* usual_function(PyObject* type, PyObject* all, PyObject* named) {
  static const char* names[] = {"func", "types", "args", "kwargs", nullptr};
  PyObject *function, *types, *args = nullptr, *kwargs = nullptr;
  if (!PyArg_ParseTupleAndKeywords(all, named, "OO|OO:__torch_function__", const_cast<char**>(names), &function, &types,
                                   &args, &kwargs))
    return nullptr;
  auto* cls = reinterpret_cast<PyTypeObject*>(type);
  PyObject* listed = PySequence_Fast(types, "__torch_function__: argument 'types' must be a sequence of types");
  if (!listed) return nullptr;
  const bool mine = is_under_all(cls, listed);
  Py_DECREF(listed);
  if (PyErr_Occurred()) return nullptr;
  if (!mine) Py_RETURN_NOTIMPLEMENTED;
  PyObject* positional = args ? PySequence_Tuple(args) : PyTuple_New(0);
  PyObject* result = nullptr;
  if (positional) {
    const WithoutSubclasses plain;
    result = PyObject_Call(function, positional, kwargs == Py_None ? nullptr : kwargs);
    Py_DECREF(positional);
    if (cls != tensor_type) result = converted(result, cls);
  }
  return result;
}

// Most classes have Tensor's own: then nothing needs to be packed.
PyObject* by_usual(PyObject* function, const Overriders& who, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  PyObject* types = who.types();
  if (!types) return nullptr;
  PyTypeObject* cls = nullptr;
  for (PyObject* o : who.all())
    if (!cls && is_under_all(Py_TYPE(o), types)) cls = Py_TYPE(o);
  Py_DECREF(types);
  if (PyErr_Occurred()) return nullptr;
  if (!cls) return nobody_answers(function, who);
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
    PyObject* result = ask(o, function_word, function, types, args, n, kwnames);
    if (result != Py_NotImplemented) {
      Py_DECREF(types);
      return result;
    }
    Py_DECREF(result);
  }
  Py_DECREF(types);
  return nobody_answers(function, who);
}

Py_ssize_t count(Py_ssize_t n, PyObject* kwnames) { return n + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0); }

}  // namespace

bool may_override(PyObject* self) {
  return Py_TYPE(self) != tensor_type || (any_function_mode() && !overriding.functions.empty());
}

bool overridden_by_mode(PyObject* function, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, PyObject** result) {
  if (overriding.functions.empty()) return false;
  Overriders who(function_word);
  if (!overriding.without_subclasses) who.look_at(args, count(n, kwnames));
  const Innermost mode(overriding.functions);
  PyObject* types = who.types();
  *result = types ? ask(mode.get(), function_word, function, types, args, n, kwnames) : nullptr;
  Py_XDECREF(types);
  if (*result != Py_NotImplemented) return true;
  Py_DECREF(*result);
  *result = who.any() ? by_types(function, who, args, n, kwnames) : PyObject_Vectorcall(function, args, n, kwnames);
  return true;
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
    static const dispatcher::Operator* alias = dispatcher::find_operator("aten::alias", "");
    const Value v = core::tensor_value(unwrap(self));
    return run(alias, &v);
  });
}

PyObject* nothing(PyObject*, PyObject* const*, Py_ssize_t, PyObject*) { Py_RETURN_NOTIMPLEMENTED; }

PyMethodDef usual_def = {
    "__torch_function__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(usual_function)),
    METH_VARARGS | METH_KEYWORDS | METH_CLASS,
    "__torch_function__(func, types, args=(), kwargs=None)\n--\n\n"
    "Calls `func` as if its arguments were plain tensors; tensors among the results become of this "
    "class."};
PyMethodDef as_subclass_def = {"as_subclass", as_subclass, METH_O,
                               "as_subclass(cls)\n--\n\nA view of the tensor, of a subclass of Tensor. Its __init__ is "
                               "not called.\n\nRaises:\n    TypeError: `cls` is no subclass of Tensor\n\n"
                               ">>> class Named(lamella.Tensor):\n...     name = \"x\"\n"
                               ">>> t = lamella.ones(2).as_subclass(Named)\n>>> type(t + 1).__name__, (t + 1).name\n"
                               "('Named', 'x')\n"};
PyMethodDef off_def = {"_disabled_torch_function_impl", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(nothing)),
                       METH_FASTCALL | METH_KEYWORDS,
                       "Set as a class's __torch_function__: its tensors are as plain ones in every call."};

}  // namespace

int init_overrides(PyObject* module) {
  function_word = PyUnicode_InternFromString("__torch_function__");
  dispatch_word = PyUnicode_InternFromString("__torch_dispatch__");
  switched_off = PyCFunction_New(&off_def, nullptr);
  usual = PyDescr_NewClassMethod(tensor_type, &usual_def);
  PyObject* method = PyDescr_NewMethod(tensor_type, &as_subclass_def);
  PyObject* type = reinterpret_cast<PyObject*>(tensor_type);
  if (!function_word || !dispatch_word || !switched_off || !usual || !method) return -1;
  if (PyObject_SetAttr(type, function_word, usual) < 0 || PyObject_SetAttrString(type, "as_subclass", method) < 0)
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
      .def("__exit__", [](Disabled&, py::args) { overriding.without_subclasses--; });
  // The arguments that override a call with these, in the order in which they are asked.
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
    if (!any_function_mode() || !overridden_by_mode(function.ptr(), all.data(), n, names.ptr(), &result))
      result = who.any() ? by_types(function.ptr(), who, all.data(), n, names.ptr())
                         : PyObject_Vectorcall(function.ptr(), all.data(), n, names.ptr());
    if (!result) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(result);
  });
}

}  // namespace lamella::binding
