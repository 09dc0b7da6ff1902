// The base class of lamella.nn.Module.
//
// Note [Modules]  The parameters, buffers and submodules of a module are in three dictionaries, `_parameters`,
//   `_buffers` and `_modules`, of its __dict__, where torch's programs expect them and write to them. This class looks
//   names up there without a Python function, and calls `forward` directly where no hook is registered.
//   The dictionaries of hooks are made when they are first asked for. `plain` says that this module has none of them,
//   and no `forward` of its own; then a call reads no dictionary at all. Whatever could change that clears `plain`, and
//   the next call looks again.
#include "frontend/binding/module_base.h"

#include <array>
#include <vector>

#include "frontend/binding/module_state.h"
#include "frontend/binding/tensor_object.h"

namespace lamella::binding {
namespace {

struct ModuleObject {
  PyObject_HEAD;
  bool plain;
};

PyTypeObject* base_type;
PyObject *forward_word, *hooked_word, *assign_word, *made_word, *getattr_word, *getattribute_word, *dict_word,
    *noted_word;
std::array<PyObject*, 3> registry_words;  // of the dictionaries of members
std::array<PyObject*, 4> hook_words;      // of the dictionaries of hooks that a call looks at
std::array<PyObject*, 4> global_hooks;    // the dictionaries of hooks of all modules

bool is_plain(PyObject* self) { return reinterpret_cast<ModuleObject*>(self)->plain; }
void set_plain(PyObject* self, bool plain) { reinterpret_cast<ModuleObject*>(self)->plain = plain; }

// A new reference to an item, or null; with an exception if there is one other than that it is missing.
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

// Makes what a module has only from its first use on, such as a dictionary of hooks; else an AttributeError.
PyObject* make_or_refuse(PyObject* self, PyObject* dict, PyObject* name) {
  PyObject* made = _PyType_Lookup(Py_TYPE(self), made_word);
  PyObject* factory = made && PyDict_Check(made) ? PyDict_GetItemWithError(made, name) : nullptr;
  if (!factory) {
    if (!PyErr_Occurred())
      PyErr_Format(PyExc_AttributeError, "'%.100s' object has no attribute '%U'", Py_TYPE(self)->tp_name, name);
    return nullptr;
  }
  PyObject* fresh = PyObject_CallNoArgs(factory);
  set_plain(self, false);
  if (fresh && PyDict_SetItem(dict, name, fresh) < 0) Py_CLEAR(fresh);
  return fresh;
}

bool is_name(PyObject* name) {
  if (PyUnicode_Check(name)) return true;
  PyErr_Format(PyExc_TypeError, "attribute name must be string, not '%.200s'", Py_TYPE(name)->tp_name);
  return false;
}

// What stands behind the usual attributes: the members, and what is made on first use.
PyObject* getattr_behind(PyObject* self, PyObject* name) {
  if (!is_name(name)) return nullptr;
  PyObject* dict = PyObject_GenericGetDict(self, nullptr);
  if (!dict) return nullptr;
  PyObject* found = member(dict, name);
  if (!found && !PyErr_Occurred()) found = make_or_refuse(self, dict, name);
  Py_DECREF(dict);
  return found;
}

PyObject* getattro(PyObject* self, PyObject* name) {
  if (!is_name(name)) return nullptr;
  PyTypeObject* type = Py_TYPE(self);
  PyObject* on_type = Py_XNewRef(_PyType_Lookup(type, name));
  const descrgetfunc get = on_type ? Py_TYPE(on_type)->tp_descr_get : nullptr;
  PyObject* found = nullptr;
  if (get && PyDescr_IsData(on_type)) {
    found = get(on_type, self, reinterpret_cast<PyObject*>(type));
  } else if (PyObject* dict = PyObject_GenericGetDict(self, nullptr)) {
    found = Py_XNewRef(PyDict_GetItemWithError(dict, name));
    if (!found && !PyErr_Occurred()) {
      if (on_type)
        found = get ? get(on_type, self, reinterpret_cast<PyObject*>(type)) : Py_NewRef(on_type);
      else if (!(found = member(dict, name)) && !PyErr_Occurred())
        found = make_or_refuse(self, dict, name);
    }
    Py_DECREF(dict);
  }
  Py_XDECREF(on_type);
  return found;
}

// Tensors, modules and names of members are Python's business, in Module._assign; all else is a usual attribute.
int setattro(PyObject* self, PyObject* name, PyObject* value) {
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
  if (special) {
    PyObject* done = PyObject_CallMethodObjArgs(self, assign_word, name, value, nullptr);
    Py_XDECREF(done);
    return done ? 0 : -1;
  }
  const int first = PyUnicode_Compare(name, forward_word) == 0 || PyUnicode_Compare(name, dict_word) == 0;
  if (first) set_plain(self, false);
  return PyObject_GenericSetAttr(self, name, value);
}

PyObject* setattr_usual(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  if (n < 1 || n > 2 || !is_name(args[0])) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "_set_plain: takes a name and a value");
    return nullptr;
  }
  set_plain(self, false);
  if (PyObject_GenericSetAttr(self, args[0], n == 2 ? args[1] : nullptr) < 0) return nullptr;
  Py_RETURN_NONE;
}

// ---- calls ----------------------------------------------------------------------------------------------------------

bool any_global_hook() {
  for (PyObject* hooks : global_hooks)
    if (hooks && PyDict_GET_SIZE(hooks) > 0) return true;
  return false;
}

// Looks for hooks; 1 if there is one, 0 if not, -1 with an exception. Finds out whether the module is plain.
int look_for_hooks(PyObject* self) {
  PyObject* dict = PyObject_GenericGetDict(self, nullptr);
  if (!dict) return -1;
  int any = 0, there = 0;
  for (PyObject* word : hook_words) {
    PyObject* hooks = PyDict_GetItemWithError(dict, word);
    if (!hooks && PyErr_Occurred()) any = -1;
    if (!hooks) continue;
    there = 1;
    if (PyObject_IsTrue(hooks)) any = 1;
  }
  const int parts = PyDict_Contains(dict, registry_words[0]), own = PyDict_Contains(dict, forward_word);
  Py_DECREF(dict);
  if (any < 0 || parts < 0 || own < 0) return -1;
  if (!parts) {
    PyErr_Format(PyExc_AttributeError,
                 "%.100s is called before Module.__init__; call super().__init__() first in its own __init__",
                 Py_TYPE(self)->tp_name);
    return -1;
  }
  set_plain(self, !there && !own);
  return any;
}

PyObject* call_forward(PyObject* self, PyObject* args, PyObject* kwargs) {
  PyObject* forward = is_plain(self) ? _PyType_Lookup(Py_TYPE(self), forward_word) : nullptr;
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
  const int hooks = is_plain(self) ? 0 : look_for_hooks(self);
  if (hooks < 0) return nullptr;
  PyObject* result = nullptr;
  if (hooks == 0 && !any_global_hook()) {
    result = call_forward(self, args, kwargs);
  } else if (PyObject* hooked = PyObject_GetAttr(self, hooked_word)) {
    result = PyObject_Call(hooked, args, kwargs);
    Py_DECREF(hooked);
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

// A class that has a method __getattr__ finds its attributes by two calls of Python's. Where that method is the base's
// own, which does what the slot does anyway, the class gets the slot.
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

PyObject* watch(PyObject*, PyObject* dicts) {
  if (!PyTuple_Check(dicts) || PyTuple_GET_SIZE(dicts) != static_cast<Py_ssize_t>(global_hooks.size()))
    return PyErr_Format(PyExc_TypeError, "_watch: takes a tuple of four dicts");
  for (size_t i = 0; i < global_hooks.size(); i++) {
    PyObject* hooks = PyTuple_GET_ITEM(dicts, i);
    if (!PyDict_Check(hooks)) return PyErr_Format(PyExc_TypeError, "_watch: takes a tuple of four dicts");
    Py_XSETREF(global_hooks[i], Py_NewRef(hooks));
  }
  Py_RETURN_NONE;
}

PyCFunction as_function(void* f) { return reinterpret_cast<PyCFunction>(f); }

PyMethodDef methods[] = {
    {"__getattr__", getattr_behind, METH_O,
     "A parameter, buffer or submodule, for classes that override this; they call ``super().__getattr__(name)``."},
    {"__init_subclass__", as_function(reinterpret_cast<void*>(init_subclass)),
     METH_VARARGS | METH_KEYWORDS | METH_CLASS, nullptr},
    {"_set_usual", as_function(reinterpret_cast<void*>(setattr_usual)), METH_FASTCALL,
     "Sets an attribute as object.__setattr__ does, or without a value deletes it."},
    {"_watch", watch, METH_O | METH_STATIC, "The dicts of hooks of all modules, which every call looks at."},
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
  hooked_word = word("_call_hooked");
  assign_word = word("_assign");
  made_word = word("_made_on_use");
  getattr_word = word("__getattr__");
  getattribute_word = word("__getattribute__");
  dict_word = word("__dict__");
  noted_word = word("_lamella_noted");
  registry_words = {word("_parameters"), word("_buffers"), word("_modules")};
  hook_words = {word("_forward_hooks"), word("_forward_pre_hooks"), word("_backward_hooks"),
                word("_backward_pre_hooks")};
  PyType_Slot slots[] = {{Py_tp_getattro, reinterpret_cast<void*>(getattro)},
                         {Py_tp_setattro, reinterpret_cast<void*>(setattro)},
                         {Py_tp_call, reinterpret_cast<void*>(call)},
                         {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec = {"lamella._C._ModuleBase", sizeof(ModuleObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, slots};
  PyObject* made = PyType_FromSpec(&spec);
  if (!made) return -1;
  base_type = reinterpret_cast<PyTypeObject*>(made);
  return PyModule_AddType(module, base_type);
}

}  // namespace lamella::binding
