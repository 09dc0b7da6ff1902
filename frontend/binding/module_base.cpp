// The base class of lamella.nn.Module.
//
// Note [Modules]  A module has its parameters, buffers and submodules in three dictionaries of its __dict__,
//   `_parameters`, `_buffers` and `_modules`; programs written for torch read and write these. This class looks members
//   up there without calling a Python function. Each call of a module checks its __dict__ for hooks and for a `forward`
//   of its own, because a program may store them there at any time; if there are none, it calls the class's `forward`
//   directly. Dictionaries of hooks are made at their first use. The class has no fields, so that a module class may
//   also inherit from dict, str or another class written in C.
#include "frontend/binding/module_base.h"

#include <array>
#include <vector>

#include "frontend/binding/module_state.h"
#include "frontend/binding/tensor_object.h"

namespace lamella::binding {
namespace {

PyTypeObject* base_type;
PyObject *assign_function, *hooked_function,
    *noting_function;  // Python functions for the cases that are not time-critical
PyObject *forward_word, *made_word, *getattr_word, *getattribute_word;
std::array<PyObject*, 3> registry_words;  // names of the three dictionaries of members
std::array<PyObject*, 4> hook_words;      // names of the dictionaries of hooks that a call checks
std::array<PyObject*, 4> global_hooks;    // the dictionaries of hooks of all modules

// Returns a new reference to an item of a mapping. Null without an exception if it is missing, with one if the look-up
// failed.
PyObject* item(PyObject* dict, PyObject* name) {
  if (PyDict_CheckExact(dict) || PyODict_CheckExact(dict)) return Py_XNewRef(PyDict_GetItemWithError(dict, name));
  PyObject* found = PyObject_GetItem(dict, name);  // another mapping, which the user has stored
  if (!found && PyErr_ExceptionMatches(PyExc_KeyError)) PyErr_Clear();
  return found;
}

// Returns a new reference to the member of this name; null if there is none, or with an exception.
PyObject* member(PyObject* dict, PyObject* name) {
  for (PyObject* word : registry_words) {
    PyObject* registry = PyDict_GetItemWithError(dict, word);
    if (!registry) {
      if (PyErr_Occurred()) return nullptr;
      continue;  // Module.__init__ has not run yet
    }
    Py_INCREF(registry);
    PyObject* found = item(registry, name);
    Py_DECREF(registry);
    if (found || PyErr_Occurred()) return found;
  }
  return nullptr;
}

// Makes a dictionary of hooks, or the set of names of buffers that are not saved, which exist from their first use on.
// Returns a new reference. Raises AttributeError for any other name.
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
      fresh ? Py_XNewRef(PyDict_SetDefault(dict, name, fresh)) : nullptr;  // another thread may have made it first
  Py_XDECREF(fresh);
  return kept;
}

// Returns a new reference to a parameter, buffer or submodule, or to a dictionary that is made at its first use.
PyObject* member_or_made(PyObject* self, PyObject* dict, PyObject* name) {
  PyObject* found = member(dict, name);
  return found || PyErr_Occurred() ? found : make_or_refuse(self, dict, name);
}

bool is_name(PyObject* name) {
  if (PyUnicode_Check(name)) return true;
  PyErr_Format(PyExc_TypeError, "attribute name must be string, not '%.200s'", Py_TYPE(name)->tp_name);
  return false;
}

// Module.__getattr__, which is called for classes that override it and call super().
PyObject* getattr_behind(PyObject* self, PyObject* name) {
  if (!is_name(name)) return nullptr;
  PyObject* dict = PyObject_GenericGetDict(self, nullptr);
  if (!dict) return nullptr;
  PyObject* found = member_or_made(self, dict, name);
  Py_DECREF(dict);
  return found;
}

// Gets an attribute through a descriptor of the class. If its getter, such as a property's, raises AttributeError, a
// member of that name is returned instead.
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
  // If the class defines __getattr__, its tp_getattro is another function, and Python calls that method after this
  // function.
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

// Sets an attribute, or deletes it if the value is null. The function passed to `_watch` handles tensors, modules and
// the names of members; all else is an ordinary attribute.
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

// Methods, not slots: programs bypass Module by object.__setattr__, which refuses classes in C that have their own
// slot.
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

enum class Way { failed, hooked, own_forward, usual };  // the ways in which a call continues

// Up to Python 3.11, each state of a dictionary has a unique number, so the result of look() is remembered by that
// number. Later versions look each time.
#if PY_VERSION_HEX < 0x030C0000
// States without hooks and without a `forward` of their own, indexed by the number's last bits.
std::array<uint64_t, 1024> usual_states;

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
  // False if there is a dictionary of hooks: it can be filled without a change of the module's __dict__.
  bool bare = true;
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

// Calls the class's `forward` directly if it is a Python function and the class overrides no attribute look-up; else
// looks `forward` up on the module.
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

// Passes an exception that leaves a module's call, and the module, to the function of `_watch` that notes the module in
// it. Errors of that function are ignored.
void note_module(PyObject* self) {
  if (!noting_function || !PyErr_ExceptionMatches(PyExc_Exception)) return;
  PyObject *type, *error, *trace;
  PyErr_Fetch(&type, &error, &trace);
  PyErr_NormalizeException(&type, &error, &trace);
  PyObject* done = PyObject_CallFunctionObjArgs(noting_function, self, error, nullptr);
  Py_XDECREF(done);
  if (!done && !PyErr_ExceptionMatches(PyExc_Exception)) {  // a KeyboardInterrupt meanwhile
    for (PyObject* o : {type, error, trace}) Py_XDECREF(o);
    return;
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

// If a class has a method __getattr__, CPython gives it a slot function that calls __getattribute__ and then that
// method. Every module class inherits __getattr__ from the base class, and the base's slot does all that this method
// does. So a class that overrides neither method gets the base's slot, which needs no call of Python.
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
  bool fits = n == count + 3;
  for (Py_ssize_t i = 0; fits && i < count; i++) fits = PyDict_Check(args[i + 3]);
  if (!fits) return PyErr_Format(PyExc_TypeError, "_watch: takes three functions and four dicts");
  Py_XSETREF(assign_function, Py_NewRef(args[0]));
  Py_XSETREF(hooked_function, Py_NewRef(args[1]));
  Py_XSETREF(noting_function, Py_NewRef(args[2]));
  for (Py_ssize_t i = 0; i < count; i++) Py_XSETREF(global_hooks[i], Py_NewRef(args[i + 3]));
  Py_RETURN_NONE;
}

PyCFunction as_function(void* f) { return reinterpret_cast<PyCFunction>(f); }

PyMethodDef methods[] = {
    {"__getattr__", getattr_behind, METH_O,
     "Returns a parameter, buffer or submodule; classes that override this call ``super().__getattr__(name)``."},
    {"__init_subclass__", as_function(reinterpret_cast<void*>(init_subclass)),
     METH_VARARGS | METH_KEYWORDS | METH_CLASS, nullptr},
    {"__setattr__", as_function(reinterpret_cast<void*>(setattr_method)), METH_FASTCALL, nullptr},
    {"__delattr__", delattr_method, METH_O, nullptr},
    {"_watch", as_function(reinterpret_cast<void*>(watch)), METH_FASTCALL | METH_STATIC,
     "Sets the functions for assignments of members, for calls with hooks and for errors of calls, and the dicts of "
     "hooks of all modules."},
    {"_watch_state", watch_state, METH_O | METH_STATIC,
     "Sets Module's state_dict, _save_to_state_dict and get_extra_state, which usual modules do not override."},
    {"_write_state", as_function(reinterpret_cast<void*>(write_state)), METH_FASTCALL,
     "Writes the state of a usual module and of all below it; returns False if it is not usual."},
    {nullptr, nullptr, 0, nullptr}};

PyObject* word(const char* text) { return PyUnicode_InternFromString(text); }

}  // namespace

int init_module_base(PyObject* module) {
  if (init_module_state() < 0) return -1;
  forward_word = word("forward");
  made_word = word("_made_on_use");
  getattr_word = word("__getattr__");
  getattribute_word = word("__getattribute__");
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
