#include "frontend/binding/plugin_keywords.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "dispatcher/explain.h"
#include "frontend/binding/python_kernel.h"
#include "frontend/binding/tensor_object.h"

namespace lamella::binding {
namespace {

bool is_own(const Contributed::Overloads& overloads, PyObject* key) {
  for (const auto& s : overloads)
    for (const Param& p : s->params)
      if (key == p.name || PyUnicode_Compare(key, p.name) == 0) return true;
  return false;
}

// Returns whether an operator takes a keyword by another name than an argument's: as an alias such as `input`, or out.
bool is_other(const Contributed::Overloads& overloads, PyObject* key) {
  for (const auto& s : overloads)
    for (const Param& p : s->params)
      if (p.other && PyUnicode_Compare(key, p.other) == 0) return true;
  return PyUnicode_CompareWithASCIIString(key, "out") == 0;
}

// Returns the plugin's keyword of a name, null if there is none or an operator's own argument has precedence. The name
// has been converted to UTF-8 before.
const dispatcher::Keyword* plugins_keyword(const Contributed::Overloads& overloads, PyObject* key) {
  const bool own = is_own(overloads, key);
  if (own && !dispatcher::any_claims()) return nullptr;
  const dispatcher::Keyword* k = dispatcher::find_keyword(PyUnicode_AsUTF8(key));
  return k && (k->claims || !own) ? k : nullptr;
}

bool read(const dispatcher::Operator* op, const std::string& name, PyObject* o, Value* v, Arena& arena) {
  if (convert_any(o, v, arena)) return true;
  if (PyErr_Occurred()) return false;
  const std::string who = op ? dispatcher::operator_title(op) + ": " : std::string();
  PyErr_Format(
      PyExc_TypeError,
      "%sargument '%s': expected a tensor, a number, a string, a dtype, a device, None or a list of them, got %s",
      who.c_str(), name.c_str(), type_name(o).c_str());
  return false;
}

// Applies a keyword to a tensor. Takes over the tensor; null with an exception if the plugin refuses.
PyObject* applied(const dispatcher::Keyword* k, const dispatcher::Operator* op, PyObject* tensor, const Value& value) {
  Tensor* const before = unwrap(tensor);
  core::retain(before);
  lamella_tensor* t = before;
  const lamella_status st = core::guarded([&] { return k->apply(op, k->context, &t, &value); });
  if (!st && t == before) {
    core::release(before);
    return tensor;
  }
  Py_DECREF(tensor);
  if (!st) return wrap(core::full(t));
  core::release(core::full(t));
  return raise_pending();
}

}  // namespace

bool makes_tensors(const Signature& s) {
  if (s.op->category != "creation" && s.op->category != "random") return false;
  for (const dispatcher::Argument& a : s.op->schema.load()->args)
    if (a.keyword_only && a.type.kind == dispatcher::Kind::Dtype) return true;
  return false;
}

bool Contributed::add(const dispatcher::Keyword* k, PyObject* value, const dispatcher::Operator* op) {
  Value v;
  if (!read(op, k->name, value, &v, arena_)) return false;
  found_.push_back({k, v});
  return true;
}

PyObject* Contributed::expand(const dispatcher::Keyword* by, const dispatcher::Operator* op,
                              const std::vector<Named>& unknown, const std::vector<PyObject*>& given) {
  const std::string who = dispatcher::operator_title(op);
  auto* pairs = static_cast<Value*>(arena_.take(sizeof(Value) * 2 * unknown.size()));
  for (size_t i = 0; i < unknown.size(); i++) {
    dispatcher::Type name;
    name.kind = dispatcher::Kind::Str;
    if (!convert(unknown[i].name, name, &pairs[2 * i], arena_)) return nullptr;
    if (!read(op, text_of(unknown[i].name), unknown[i].value, &pairs[2 * i + 1], arena_)) return nullptr;
  }
  Value taken = {LAMELLA_DICT, static_cast<uint32_t>(unknown.size()), {0}}, made = core::none();
  taken.as.values = pairs;
  if (core::guarded([&] { return by->expand(op, by->context, &taken, &made); })) return raise_pending();
  PyObject* dict = to_python(made);
  if (!dict) return nullptr;
  expanded_.push_back(dict);
  if (!PyDict_Check(dict))
    return PyErr_Format(PyExc_TypeError, "%s: '%s' of %s must return a dictionary of keywords, got %s", who.c_str(),
                        by->name.c_str(), by->owner.c_str(), type_name(dict).c_str());
  PyObject *name, *value;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &name, &value);) {
    if (!PyUnicode_Check(name))
      return PyErr_Format(PyExc_TypeError, "%s: '%s' of %s must return a dictionary with keys of str, got %s",
                          who.c_str(), by->name.c_str(), by->owner.c_str(), type_name(name).c_str());
    if (std::any_of(given.begin(), given.end(), [&](PyObject* key) { return !PyUnicode_Compare(key, name); }))
      return PyErr_Format(PyExc_TypeError,
                          "%s: got two values for argument '%U': one is given, the other follows from '%U'",
                          who.c_str(), name, unknown.front().name);
  }
  return dict;
}

PyObject* Contributed::take(const Overloads& overloads, PyObject* const* values, PyObject* kwnames,
                            std::vector<PyObject*>& rest, bool expands) {
  const dispatcher::Operator* op = overloads.front()->op;
  std::vector<PyObject*> names, given;  // those that are left, and all that are known
  std::vector<Named> unknown;
  const auto sort = [&](PyObject* key, PyObject* value) {
    if (!PyUnicode_AsUTF8(key)) return false;
    const dispatcher::Keyword* k = plugins_keyword(overloads, key);
    if (!k && !is_own(overloads, key) && !is_other(overloads, key)) {
      unknown.push_back({key, value});
      return true;
    }
    given.push_back(key);
    if (k) return add(k, value, op);
    names.push_back(key);
    rest.push_back(value);
    return true;
  };
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kwnames); i++)
    if (!sort(PyTuple_GET_ITEM(kwnames, i), values[i])) return nullptr;
  for (const dispatcher::Keyword* by : dispatcher::rest_keywords()) {
    if (unknown.empty() || !expands) break;
    PyObject* dict = expand(by, op, std::exchange(unknown, {}), given);
    if (!dict) return nullptr;
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value);)
      if (!sort(key, value)) return nullptr;
  }
  for (const Named& one : unknown) {  // the call's error names them
    names.push_back(one.name);
    rest.push_back(one.value);
  }
  PyObject* kept = PyTuple_New(static_cast<Py_ssize_t>(names.size()));
  for (size_t i = 0; kept && i < names.size(); i++)
    PyTuple_SET_ITEM(kept, static_cast<Py_ssize_t>(i), Py_NewRef(names[i]));
  return kept;
}

bool Contributed::doubled() const {
  if (expanded_.empty() || !PyErr_Occurred() || !PyErr_ExceptionMatches(PyExc_TypeError)) return false;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject* text = PyObject_Str(value);
  const bool twice = text && std::strstr(text_of(text).c_str(), "got two values for argument");
  Py_XDECREF(text);
  PyErr_Restore(type, value, trace);
  return twice;
}

PyObject* Contributed::apply(const dispatcher::Operator* op, PyObject* result) {
  if (found_.size() > 1)
    std::stable_sort(found_.begin(), found_.end(),
                     [](const One& a, const One& b) { return a.keyword->rank() < b.keyword->rank(); });
  for (const One& one : found_) {
    if (!result || !is_tensor(result)) break;
    result = applied(one.keyword, op, result, one.value);
  }
  return result;
}

PyObject* apply_keywords(PyObject* tensor, PyObject* keywords, PyObject** unknown) {
  Contributed contributed;
  PyObject *name, *value;
  for (Py_ssize_t at = 0; PyDict_Next(keywords, &at, &name, &value);) {
    const dispatcher::Keyword* k = dispatcher::find_keyword(text_of(name));
    if (!k) {
      *unknown = name;
      return nullptr;
    }
    if (!contributed.add(k, value)) return nullptr;
  }
  return contributed.apply(nullptr, Py_NewRef(tensor));
}

lamella_status apply_python_keyword(const lamella_operator*, void* context, lamella_tensor** result,
                                    const lamella_value* value) {
  Gil gil;
  PyObject* callable = Py_XNewRef(static_cast<PythonKernel*>(context)->callable);
  if (!callable) return LAMELLA_OK;  // the keyword was withdrawn during this call
  PyObject* args[] = {borrowed_to_python(core::tensor_value(*result)), borrowed_to_python(*value)};
  PyObject* done = args[0] && args[1] ? PyObject_Vectorcall(callable, args, 2, nullptr) : nullptr;
  const lamella_status st = done ? LAMELLA_OK : capture_exception();
  if (done && is_tensor(done) && unwrap(done) != *result) {
    core::retain(unwrap(done));
    core::release(core::full(std::exchange(*result, unwrap(done))));
  }
  for (PyObject* o : {args[0], args[1], done, callable}) Py_XDECREF(o);
  return st;
}

lamella_status expand_python_keywords(const lamella_operator* op, void* context, const lamella_value* given,
                                      lamella_value* out) {
  Gil gil;
  PyObject* callable = Py_XNewRef(static_cast<PythonKernel*>(context)->callable);
  if (!callable) {  // the function was withdrawn during this call: all keywords stay unknown
    *out = core::retain_value(*given);
    return LAMELLA_OK;
  }
  PyObject* args[] = {PyUnicode_FromString(op->name.c_str()), borrowed_to_python(*given)};
  PyObject* made = args[0] && args[1] ? PyObject_Vectorcall(callable, args, 2, nullptr) : nullptr;
  Arena arena;
  arena.saved = true;
  Value v;
  if (made && convert_any(made, &v, arena))
    *out = core::retain_value(v);
  else if (made && !PyErr_Occurred())
    PyErr_Format(PyExc_TypeError, "%s: the keywords in place of %R cannot be passed on: %R",
                 dispatcher::operator_title(op).c_str(), args[1], made);
  const lamella_status st = PyErr_Occurred() ? capture_exception() : LAMELLA_OK;
  for (PyObject* o : {args[0], args[1], made, callable}) Py_XDECREF(o);
  return st;
}

}  // namespace lamella::binding
