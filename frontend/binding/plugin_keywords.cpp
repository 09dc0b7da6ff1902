#include "frontend/binding/plugin_keywords.h"

#include <algorithm>
#include <utility>

#include "dispatcher/explain.h"
#include "frontend/binding/python_kernel.h"
#include "frontend/binding/tensor_object.h"

namespace lamella::binding {
namespace {

bool is_own(const std::vector<std::unique_ptr<Signature>>& overloads, PyObject* key) {
  for (const auto& s : overloads)
    for (const Param& p : s->params)
      if (key == p.name || PyUnicode_Compare(key, p.name) == 0) return true;
  return false;
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

PyObject* Contributed::take(const std::vector<std::unique_ptr<Signature>>& overloads, PyObject* const* values,
                            PyObject* kwnames, std::vector<PyObject*>& rest) {
  std::vector<PyObject*> names;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kwnames); i++) {
    PyObject* key = PyTuple_GET_ITEM(kwnames, i);
    const char* name = PyUnicode_AsUTF8(key);
    if (!name) return nullptr;
    const dispatcher::Keyword* k = nullptr;
    if (const bool own = is_own(overloads, key); !own || dispatcher::any_claims()) k = dispatcher::find_keyword(name);
    if (k && !k->claims && is_own(overloads, key)) k = nullptr;
    if (!k) {
      names.push_back(key);
      rest.push_back(values[i]);
      continue;
    }
    if (!add(k, values[i], overloads.front()->op)) return nullptr;
  }
  PyObject* kept = PyTuple_New(static_cast<Py_ssize_t>(names.size()));
  for (size_t i = 0; kept && i < names.size(); i++)
    PyTuple_SET_ITEM(kept, static_cast<Py_ssize_t>(i), Py_NewRef(names[i]));
  return kept;
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

}  // namespace lamella::binding
