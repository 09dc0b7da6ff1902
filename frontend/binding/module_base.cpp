// The base class of lamella.nn.Module.
//
// Note [Modules]  The parameters, buffers and submodules of a module are in three dictionaries, `_parameters`,
//   `_buffers` and `_modules`, of its __dict__, where torch's programs expect them and write to them. This class looks
//   names up there without a Python function. A call asks the module's __dict__ for hooks and for a `forward` of its
//   own, each time, since a program may write them there; where there is neither, it calls the class's `forward`
//   directly. The dictionaries of hooks are made when they are first asked for. The class has no field of its own, so
//   that a module may also inherit from a dict, a str or another class in C.
#include "frontend/binding/module_base.h"

#include <array>
#include <vector>

#include "frontend/binding/module_state.h"
#include "frontend/binding/tensor_object.h"

namespace lamella::binding {
namespace {

PyTypeObject* base_type;
PyObject *assign_function, *hooked_function;  // of Python, for what needs no speed
PyObject *forward_word, *made_word, *getattr_word, *getattribute_word, *noted_word;
std::array<PyObject*, 3> registry_words;  // of the dictionaries of members
std::array<PyObject*, 4> hook_words;      // of the dictionaries of hooks that a call looks at
std::array<PyObject*, 4> global_hooks;    // the dictionaries of hooks of all modules

// A new reference to an item. Null without an exception if it is missing; null with one if the look-up failed.
PyObject* item(PyObject* dict, PyObject* name) {
  if (PyDict_CheckExact(dict) || PyODict_CheckExact(dict)) return Py_XNewRef(PyDict_GetItemWithError(dict, name));
  PyObject* found = PyObject_GetItem(dict, name);  // a mapping of the user's
  if (!found && PyErr_ExceptionMatches(PyExc_KeyError)) PyErr_Clear();
  return found;
}

// The member of a name, a new reference; null if there is none, or with an exception.
PyObject* member(PyObject* dict, PyObject* name) {
  for (PyObject* word : registry_words) {
    PyObject* registry = PyDict_GetItemWithError(dict, word);
    if (!registry) {
      if (PyErr_Occurred()) return nullptr;
      continue;  // before Module.__init__
    }
    Py_INCREF(registry);
    PyObject* found = item(registry, name);
    Py_DECREF(registry);
    if (found || PyErr_Occurred()) return found;
  }
  return nullptr;
}

// The dictionary of hooks of a name, or the set of names of buffers that are not saved: a new reference. These are made
// when a program first asks for them. For any other name it is an AttributeError.
PyObject* make_or_refuse(PyObject* self, PyObject* dict, PyObject* name) {
  PyObject* made = _PyType_Lookup(Py_TYPE(self), made_word);
  PyObject* factory = made && PyDict_Check(made) ? PyDict_GetItemWithError(made, name) : nullptr;
  if (!factory) {
    if (!PyErr_Occurred())
      PyErr_Format(PyExc_AttributeError, "'%.100s' object has no attribute '%U'", Py_TYPE(self)->tp_name, name);
    return nullptr;
  }
  if (PyObject* there = PyDict_GetItemWithError(dict, name)) return Py_NewRef(there);
  PyObject* fresh = PyErr_Occurred() ? nullptr : PyObject_CallNoArgs(factory);
  PyObject* kept =
      fresh ? Py_XNewRef(PyDict_SetDefault(dict, name, fresh)) : nullptr;  // another thread may have been first
  Py_XDECREF(fresh);
  return kept;
}

// A parameter, buffer or submodule, or what is made on first use; a new reference.
PyObject* member_or_made(PyObject* self, PyObject* dict, PyObject* name) {
  PyObject* found = member(dict, name);
  return found || PyErr_Occurred() ? found : make_or_refuse(self, dict, name);
}

bool is_name(PyObject* name) {
  if (PyUnicode_Check(name)) return true;
  PyErr_Format(PyExc_TypeError, "attribute name must be string, not '%.200s'", Py_TYPE(name)->tp_name);
  return false;
}

// Module.__getattr__, which Python calls for classes that override it and call super().
PyObject* getattr_behind(PyObject* self, PyObject* name) {
  if (!is_name(name)) return nullptr;
  PyObject* dict = PyObject_GenericGetDict(self, nullptr);
  if (!dict) return nullptr;
  PyObject* found = member_or_made(self, dict, name);
  Py_DECREF(dict);
  return found;
}

// An attribute of the class; where its getter, such as a property's, raises AttributeError, a member of that name.
PyObject* get_descriptor(descrgetfunc get, PyObject* on_type, PyObject* self, PyObject* name, bool members) {
  PyObject* found = get(on_type, self, reinterpret_cast<PyObject*>(Py_TYPE(self)));
  if (found || !members || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  PyObject *kind, *error, *trace;
  PyErr_Fetch(&kind, &error, &trace);
  PyObject* dict = PyObject_GenericGetDict(self, nullptr);
  found = dict ? member(dict, name) : nullptr;
  Py_XDECREF(dict);
  if (!found && !PyErr_Occurred()) {
    PyErr_Restore(kind, error, trace);
  } else {
    Py_XDECREF(kind);
    Py_XDECREF(error);
    Py_XDECREF(trace);
  }
  return found;
}

PyObject* getattro(PyObject* self, PyObject* name) {
  if (!is_name(name)) return nullptr;
  PyTypeObject* type = Py_TYPE(self);
  // A class with a method __getattr__ of its own has another function here; Python asks that method after this one.
  const bool members = type->tp_getattro == getattro;
  PyObject* on_type = Py_XNewRef(_PyType_Lookup(type, name));
  const descrgetfunc get = on_type ? Py_TYPE(on_type)->tp_descr_get : nullptr;
  PyObject* found = nullptr;
  if (get && PyDescr_IsData(on_type)) {
    found = get_descriptor(get, on_type, self, name, members);
  } else if (PyObject* dict = PyObject_GenericGetDict(self, nullptr)) {
    found = Py_XNewRef(PyDict_GetItemWithError(dict, name));
    if (!found && !PyErr_Occurred()) {
      if (on_type)
        found = get ? get_descriptor(get, on_type, self, name, members) : Py_NewRef(on_type);
      else if (members)
        found = member_or_made(self, dict, name);
      else
        PyErr_Format(PyExc_AttributeError, "'%.100s' object has no attribute '%U'", type->tp_name, name);
    }
    Py_DECREF(dict);
  }
  Py_XDECREF(on_type);
  return found;
}

// Sets an attribute, or without a value deletes it. Tensors, modules and names of members are the business of the
// function that `_watch` got; all else is a usual attribute.
int set_or_delete(PyObject* self, PyObject* name, PyObject* value) {
  if (!is_name(name)) return -1;
  bool special = value && (is_tensor(value) || PyObject_TypeCheck(value, base_type));
  if (!special) {
    PyObject* dict = PyObject_GenericGetDict(self, nullptr);
    if (!dict) return -1;
    PyObject* there = member(dict, name);
    Py_DECREF(dict);
    if (!there && PyErr_Occurred()) return -1;
    special = there != nullptr;
    Py_XDECREF(there);
  }
  if (!special || !assign_function) return PyObject_GenericSetAttr(self, name, value);
  PyObject* done = PyObject_CallFunctionObjArgs(assign_function, self, name, value, nullptr);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

// These two are methods and no slots: object.__setattr__, by which programs pass modules by, refuses classes in C that
// have a slot of their own.
PyObject* setattr_method(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  if (n != 2) return PyErr_Format(PyExc_TypeError, "__setattr__: takes a name and a value, got %zd arguments", n);
  if (set_or_delete(self, args[0], args[1]) < 0) return nullptr;
  Py_RETURN_NONE;
}

PyObject* delattr_method(PyObject* self, PyObject* name) {
  if (set_or_delete(self, name, nullptr) < 0) return nullptr;
  Py_RETURN_NONE;
}

// ---- calls ----------------------------------------------------------------------------------------------------------

bool any_global_hook() {
  for (PyObject* hooks : global_hooks)
    if (hooks && PyDict_GET_SIZE(hooks) > 0) return true;
  return false;
}

enum class Way { failed, hooked, own_forward, usual };  // how a call goes on

// Until Python 3.11 each state of a dictionary has a number that no other has, so that what was found out about one is
// remembered by its number alone. A later Python looks each time.
#if PY_VERSION_HEX < 0x030C0000
std::array<uint64_t, 1024> usual_states;  // at the number's last bits: states without hooks and without `forward`

bool is_known(PyObject* dict) {
  const uint64_t state = reinterpret_cast<PyDictObject*>(dict)->ma_version_tag;
  return usual_states[state % usual_states.size()] == state;
}

void remember(PyObject* dict) {
  const uint64_t state = reinterpret_cast<PyDictObject*>(dict)->ma_version_tag;
  usual_states[state % usual_states.size()] = state;
}
#else
bool is_known(PyObject*) { return false; }
void remember(PyObject*) {}
#endif

Way look(PyObject* self) {
  PyObject* dict = PyObject_GenericGetDict(self, nullptr);
  if (!dict) return Way::failed;
  if (is_known(dict)) {
    Py_DECREF(dict);
    return Way::usual;
  }
  Way way = Way::usual;
  bool bare = true;  // without a dictionary of hooks, which could be filled while the module's own stays as it is
  for (PyObject* word : hook_words) {
    PyObject* hooks = Py_XNewRef(PyDict_GetItemWithError(dict, word));
    bare = bare && !hooks;
    const int any = hooks ? PyObject_IsTrue(hooks) : PyErr_Occurred() ? -1 : 0;
    Py_XDECREF(hooks);
    if (any) {
      way = any < 0 ? Way::failed : Way::hooked;
      break;
    }
  }
  if (way == Way::usual) {
    const int parts = PyDict_Contains(dict, registry_words[0]), own = PyDict_Contains(dict, forward_word);
    if (parts == 0)
      PyErr_Format(PyExc_AttributeError,
                   "%.100s is called before Module.__init__; call super().__init__() first in its own __init__",
                   Py_TYPE(self)->tp_name);
    if (parts <= 0 || own < 0) way = Way::failed;
    if (way == Way::usual && own) way = Way::own_forward;
    if (way == Way::usual && bare) remember(dict);
  }
  Py_DECREF(dict);
  return way;
}

// Calls the class's `forward` if that is a function and nothing of the class answers for it, else whatever there is.
PyObject* call_forward(PyObject* self, PyObject* args, PyObject* kwargs, bool own) {
  PyTypeObject* type = Py_TYPE(self);
  const bool plain = !own && (type->tp_getattro == getattro ||
                              _PyType_Lookup(type, getattribute_word) == _PyType_Lookup(base_type, getattribute_word));
  PyObject* forward = plain ? _PyType_Lookup(type, forward_word) : nullptr;
  if (!forward || !PyFunction_Check(forward)) {
    PyObject* bound = PyObject_GetAttr(self, forward_word);
    PyObject* result = bound ? PyObject_Call(bound, args, kwargs) : nullptr;
    Py_XDECREF(bound);
    return result;
  }
  Py_INCREF(forward);
  const Py_ssize_t n = PyTuple_GET_SIZE(args);
  constexpr Py_ssize_t few = 7;
  PyObject* result;
  auto call = [&](PyObject** all) {
    all[0] = self;
    for (Py_ssize_t i = 0; i < n; i++) all[i + 1] = PyTuple_GET_ITEM(args, i);
    return PyObject_VectorcallDict(forward, all, n + 1, kwargs);
  };
  if (n <= few) {
    PyObject* all[few + 1];
    result = call(all);
  } else {
    result = with_memory([&] {
      std::vector<PyObject*> all(n + 1);
      return call(all.data());
    });
  }
  Py_DECREF(forward);
  return result;
}

// Adds the text of the innermost module to an error that leaves its call, as a note: the error of an operator does not
// know in which layer it was, nor which sizes that layer has. What goes wrong meanwhile is passed over.
void note_module(PyObject* self) {
  PyObject *type, *error, *trace;
  PyErr_Fetch(&type, &error, &trace);
  PyErr_NormalizeException(&type, &error, &trace);
  bool usual = false;
  for (PyObject* kind : {PyExc_RuntimeError, PyExc_ValueError, PyExc_TypeError, PyExc_IndexError})
    usual |= PyErr_GivenExceptionMatches(type, kind) != 0;
  if (usual && error && !PyObject_HasAttr(error, noted_word) && PyObject_SetAttr(error, noted_word, Py_True) == 0) {
    PyObject* text = PyObject_Repr(self);
    // A network's text has a line for each layer; its first one says enough.
    PyObject* line = text ? PyObject_CallMethod(text, "partition", "s", "\n") : nullptr;
    PyObject* note = line ? PyUnicode_FromFormat("in %U", PyTuple_GET_ITEM(line, 0)) : nullptr;
    PyObject* done = note ? PyObject_CallMethod(error, "add_note", "O", note) : nullptr;  // from Python 3.11 on
    Py_XDECREF(done);
    Py_XDECREF(note);
    Py_XDECREF(line);
    Py_XDECREF(text);
  }
  PyErr_Clear();
  PyErr_Restore(type, error, trace);
}

PyObject* call(PyObject* self, PyObject* args, PyObject* kwargs) {
  const Way way = look(self);
  if (way == Way::failed) return nullptr;
  PyObject* result = nullptr;
  if (way != Way::hooked && !any_global_hook()) {
    result = call_forward(self, args, kwargs, way == Way::own_forward);
  } else {
    PyObject* whole = hooked_function ? PyTuple_New(PyTuple_GET_SIZE(args) + 1) : nullptr;
    if (!whole) return nullptr;
    PyTuple_SET_ITEM(whole, 0, Py_NewRef(self));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++)
      PyTuple_SET_ITEM(whole, i + 1, Py_NewRef(PyTuple_GET_ITEM(args, i)));
    result = PyObject_Call(hooked_function, whole, kwargs);
    Py_DECREF(whole);
  }
  if (!result) note_module(self);
  return result;
}

// ---- the class ------------------------------------------------------------------------------------------------------

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return 0;
}

void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  type->tp_free(self);
  Py_DECREF(type);
}

// Where a class has a method __getattr__, CPython finds its attributes by a function that calls __getattribute__ and
// then that method. Every module inherits such a method, the base's own, and the slot does all that it would do. So a
// class that overrides neither method gets the slot, which costs no Python call.
PyObject* init_subclass(PyObject* cls, PyObject* args, PyObject* kwargs) {
  auto* type = reinterpret_cast<PyTypeObject*>(cls);
  PyObject* above = PyObject_CallFunction(reinterpret_cast<PyObject*>(&PySuper_Type), "OO", base_type, cls);
  PyObject* next = above ? PyObject_GetAttrString(above, "__init_subclass__") : nullptr;
  PyObject* done = next ? PyObject_Call(next, args, kwargs) : nullptr;
  Py_XDECREF(above);
  Py_XDECREF(next);
  if (done)
    for (PyObject* word : {getattr_word, getattribute_word})
      if (_PyType_Lookup(type, word) != _PyType_Lookup(base_type, word)) return done;
  if (done) type->tp_getattro = getattro;
  return done;
}

PyObject* watch(PyObject*, PyObject* const* args, Py_ssize_t n) {
  const auto count = static_cast<Py_ssize_t>(global_hooks.size());
  bool fits = n == count + 2;
  for (Py_ssize_t i = 0; fits && i < count; i++) fits = PyDict_Check(args[i + 2]);
  if (!fits) return PyErr_Format(PyExc_TypeError, "_watch: takes two functions and four dicts");
  Py_XSETREF(assign_function, Py_NewRef(args[0]));
  Py_XSETREF(hooked_function, Py_NewRef(args[1]));
  for (Py_ssize_t i = 0; i < count; i++) Py_XSETREF(global_hooks[i], Py_NewRef(args[i + 2]));
  Py_RETURN_NONE;
}

PyCFunction as_function(void* f) { return reinterpret_cast<PyCFunction>(f); }

PyMethodDef methods[] = {
    {"__getattr__", getattr_behind, METH_O,
     "A parameter, buffer or submodule, for classes that override this; they call ``super().__getattr__(name)``."},
    {"__init_subclass__", as_function(reinterpret_cast<void*>(init_subclass)),
     METH_VARARGS | METH_KEYWORDS | METH_CLASS, nullptr},
    {"__setattr__", as_function(reinterpret_cast<void*>(setattr_method)), METH_FASTCALL, nullptr},
    {"__delattr__", delattr_method, METH_O, nullptr},
    {"_watch", as_function(reinterpret_cast<void*>(watch)), METH_FASTCALL | METH_STATIC,
     "The function of an assignment of members, that of a call with hooks, and the dicts of hooks of all modules."},
    {"_watch_state", watch_state, METH_O | METH_STATIC,
     "The methods state_dict, _save_to_state_dict and get_extra_state, which a usual module does not override."},
    {"_write_state", as_function(reinterpret_cast<void*>(write_state)), METH_FASTCALL,
     "Writes the state of a usual module and of all below it; False, and nothing is written, if it is not usual."},
    {nullptr, nullptr, 0, nullptr}};

PyObject* word(const char* text) { return PyUnicode_InternFromString(text); }

}  // namespace

int init_module_base(PyObject* module) {
  if (init_module_state() < 0) return -1;
  forward_word = word("forward");
  made_word = word("_made_on_use");
  getattr_word = word("__getattr__");
  getattribute_word = word("__getattribute__");
  noted_word = word("_lamella_noted");
  registry_words = {word("_parameters"), word("_buffers"), word("_modules")};
  hook_words = {word("_forward_hooks"), word("_forward_pre_hooks"), word("_backward_hooks"),
                word("_backward_pre_hooks")};
  PyType_Slot slots[] = {{Py_tp_getattro, reinterpret_cast<void*>(getattro)},
                         {Py_tp_call, reinterpret_cast<void*>(call)},
                         {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec = {"lamella._C._ModuleBase", sizeof(PyObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, slots};
  PyObject* made = PyType_FromSpec(&spec);
  if (!made) return -1;
  base_type = reinterpret_cast<PyTypeObject*>(made);
  return PyModule_AddType(module, base_type);
}

}  // namespace lamella::binding
