// Writes state dicts of modules: walks over usual modules, which have no state-dict hooks and override none of the
// methods of Module that write the state.
//
// A network has many small modules, and for each a Python function would cost more than its tensors. For a module that
// is not usual the walk calls the module's own `state_dict`.
#include "frontend/binding/module_state.h"

#include <array>

#include "frontend/binding/tensor_object.h"

namespace lamella::binding {
namespace {

std::array<PyObject*, 3> method_words, usual_methods;  // the methods that a usual module does not override
std::array<PyObject*, 2> state_hook_words;
PyObject *parameters_word, *buffers_word, *modules_word, *transient_word, *version_word, *version_key, *detach_word,
    *state_dict_word;
PyObject *dot, *keywords;

struct Owned {
  PyObject* object;
  explicit Owned(PyObject* o) : object(o) {}
  Owned(const Owned&) = delete;
  ~Owned() { Py_XDECREF(object); }
  explicit operator bool() const { return object != nullptr; }
};

// Returns whether a class inherits all methods that write the state.
bool is_usual_class(PyTypeObject* type) {
  for (size_t i = 0; i < method_words.size(); i++)
    if (_PyType_Lookup(type, method_words[i]) != usual_methods[i]) return false;
  return true;
}

// Takes the __dict__ of a module of a usual class. Returns 1 if it has no state-dict hooks and no `state_dict`, else 0;
// -1 with an exception.
int is_usual(PyObject* dict) {
  for (PyObject* word : state_hook_words)
    if (const int there = PyDict_Contains(dict, word)) return there < 0 ? -1 : 0;
  return PyDict_Contains(dict, method_words[0]) ? 0 : 1;
}

struct Walk {
  PyObject* destination;
  PyObject* metadata;  // null if the destination has no metadata
  bool keep;

  bool put(PyObject* prefix, PyObject* name, PyObject* tensor) const {
    Owned key{PyUnicode_Concat(prefix, name)};
    Owned value{!key   ? nullptr
                : keep ? Py_NewRef(tensor)
                       : PyObject_VectorcallMethod(detach_word, &tensor, 1, nullptr)};
    return value && PyObject_SetItem(destination, key.object, value.object) == 0;
  }

  // Writes the tensors of one registry. Each is held meanwhile, because Python code of a tensor's class may change the
  // registry.
  bool put_all(PyObject* prefix, PyObject* registry, PyObject* transient) const {
    Py_ssize_t at = 0;
    PyObject *name, *tensor;
    while (PyDict_Next(registry, &at, &name, &tensor)) {
      if (tensor == Py_None) continue;
      Owned held_name{Py_NewRef(name)}, held{Py_NewRef(tensor)};
      const int passing = transient ? PySet_Contains(transient, name) : 0;
      if (passing < 0 || (!passing && !put(prefix, name, tensor))) return false;
    }
    return true;
  }

  bool note_version(PyObject* module, PyObject* prefix) const {
    if (!metadata) return true;
    Owned version{PyObject_GetAttr(module, version_word)}, entry{version ? PyDict_New() : nullptr};
    const Py_ssize_t n = PyUnicode_GET_LENGTH(prefix);
    Owned path{entry ? PyUnicode_Substring(prefix, 0, n > 0 ? n - 1 : 0) : nullptr};
    return path && PyDict_SetItem(entry.object, version_key, version.object) == 0 &&
           PyObject_SetItem(metadata, path.object, entry.object) == 0;
  }

  bool child(PyObject* prefix, PyObject* name, PyObject* module) const {
    Owned path{PyUnicode_Concat(prefix, name)}, inner{path ? PyUnicode_Concat(path.object, dot) : nullptr};
    if (!inner) return false;
    const int done = write(module, inner.object);
    if (done != 0) return done > 0;
    Owned method{PyObject_GetAttr(module, state_dict_word)};
    PyObject* args[] = {destination, inner.object, keep ? Py_True : Py_False};
    Owned result{method ? PyObject_Vectorcall(method.object, args, 0, keywords) : nullptr};
    return static_cast<bool>(result);
  }

  // Returns 1 if the state was written, 0 if the module is not usual, -1 with an exception.
  int write(PyObject* module, PyObject* prefix) const {
    if (!is_usual_class(Py_TYPE(module))) return 0;
    Owned dict{PyObject_GenericGetDict(module, nullptr)};
    if (!dict) return -1;
    if (const int usual = is_usual(dict.object); usual <= 0) return usual;
    auto registry = [&](PyObject* word) {
      PyObject* found = PyDict_GetItemWithError(dict.object, word);
      return Owned{Py_XNewRef(found && PyDict_CheckExact(found) ? found : nullptr)};
    };
    const Owned parameters = registry(parameters_word), buffers = registry(buffers_word),
                modules = registry(modules_word);
    if (!parameters || !buffers || !modules) return PyErr_Occurred() ? -1 : 0;
    PyObject* transient = PyDict_GetItemWithError(dict.object, transient_word);
    if (transient && !PyAnySet_Check(transient)) return 0;
    const Owned held{Py_XNewRef(transient)};
    if (Py_EnterRecursiveCall(" in state_dict()")) return -1;
    bool fine = note_version(module, prefix) && put_all(prefix, parameters.object, nullptr) &&
                put_all(prefix, buffers.object, transient);
    Py_ssize_t at = 0;
    PyObject *name, *inner;
    while (fine && PyDict_Next(modules.object, &at, &name, &inner)) {
      if (inner == Py_None) continue;
      Owned held_name{Py_NewRef(name)}, held_module{Py_NewRef(inner)};
      fine = child(prefix, name, inner);
    }
    Py_LeaveRecursiveCall();
    return fine ? 1 : -1;
  }
};

}  // namespace

PyObject* watch_state(PyObject*, PyObject* usual) {
  if (!PyTuple_Check(usual) || PyTuple_GET_SIZE(usual) != static_cast<Py_ssize_t>(usual_methods.size()))
    return PyErr_Format(PyExc_TypeError, "_watch_state: takes a tuple of three functions");
  for (size_t i = 0; i < usual_methods.size(); i++) Py_XSETREF(usual_methods[i], Py_NewRef(PyTuple_GET_ITEM(usual, i)));
  Py_RETURN_NONE;
}

PyObject* write_state(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  if (n != 4 || !PyUnicode_Check(args[2]))
    return PyErr_Format(PyExc_TypeError, "_write_state: takes a dict, its metadata or None, a prefix, and a bool");
  const int keep = PyObject_IsTrue(args[3]);
  if (keep < 0) return nullptr;
  const int done = Walk{args[0], args[1] == Py_None ? nullptr : args[1], keep != 0}.write(self, args[2]);
  return done < 0 ? nullptr : PyBool_FromLong(done);
}

int init_module_state() {
  auto word = [](const char* text) { return PyUnicode_InternFromString(text); };
  method_words = {word("state_dict"), word("_save_to_state_dict"), word("get_extra_state")};
  state_hook_words = {word("_state_dict_hooks"), word("_state_dict_pre_hooks")};
  parameters_word = word("_parameters");
  buffers_word = word("_buffers");
  modules_word = word("_modules");
  transient_word = word("_non_persistent_buffers_set");
  version_word = word("_version");
  version_key = word("version");
  detach_word = word("detach");
  state_dict_word = method_words[0];
  dot = word(".");
  keywords = Py_BuildValue("(sss)", "destination", "prefix", "keep_vars");
  return keywords ? 0 : -1;
}

}  // namespace lamella::binding
