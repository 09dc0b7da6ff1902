#include "frontend/binding/plugin_keywords.h"

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

bool read(const std::string& name, PyObject* o, Value* v, Arena& arena) {
  if (convert_any(o, v, arena)) return true;
  if (!PyErr_Occurred())
    PyErr_Format(PyExc_TypeError, "argument '%s' cannot be %s", name.c_str(), type_name(o).c_str());
  return false;
}

lamella_status apply(const dispatcher::Keyword* k, PyObject* tensor, const Value& value) {
  return core::guarded([&] { return k->apply(nullptr, k->context, unwrap(tensor), &value); });
}

}  // namespace

bool makes_tensors(const Signature& s) {
  if (s.op->category != "creation" && s.op->category != "random") return false;
  for (const dispatcher::Argument& a : s.op->schema.load()->args)
    if (a.keyword_only && a.type.kind == dispatcher::Kind::Dtype) return true;
  return false;
}

PyObject* Contributed::take(const std::vector<std::unique_ptr<Signature>>& overloads, PyObject* const* values,
                            PyObject* kwnames, std::vector<PyObject*>& rest) {
  std::vector<PyObject*> names;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kwnames); i++) {
    PyObject* key = PyTuple_GET_ITEM(kwnames, i);
    const char* name = PyUnicode_AsUTF8(key);
    if (!name) return nullptr;
    const dispatcher::Keyword* k = is_own(overloads, key) ? nullptr : dispatcher::find_keyword(name);
    if (!k) {
      names.push_back(key);
      rest.push_back(values[i]);
      continue;
    }
    Value v;
    if (!read(name, values[i], &v, arena_)) return nullptr;
    found_.push_back({k, v});
  }
  PyObject* kept = PyTuple_New(static_cast<Py_ssize_t>(names.size()));
  for (size_t i = 0; kept && i < names.size(); i++)
    PyTuple_SET_ITEM(kept, static_cast<Py_ssize_t>(i), Py_NewRef(names[i]));
  return kept;
}

PyObject* Contributed::apply(PyObject* result) const {
  for (const One& one : found_) {
    if (!is_tensor(result) || !binding::apply(one.keyword, result, one.value)) continue;
    Py_DECREF(result);
    return raise_pending();
  }
  return result;
}

int apply_keyword(PyObject* tensor, const std::string& name, PyObject* value) {
  const dispatcher::Keyword* k = dispatcher::find_keyword(name);
  if (!k) return 0;
  Arena arena;
  Value v;
  if (!read(name, value, &v, arena)) return -1;
  if (!apply(k, tensor, v)) return 1;
  raise_pending();
  return -1;
}

lamella_status apply_python_keyword(lamella_frame*, void* context, lamella_tensor* result, const lamella_value* value) {
  Gil gil;
  PyObject* callable = Py_XNewRef(static_cast<PythonKernel*>(context)->callable);
  if (!callable) return LAMELLA_OK;  // withdrawn while this call was on its way
  PyObject* args[] = {borrowed_to_python(core::tensor_value(result)), borrowed_to_python(*value)};
  PyObject* done = args[0] && args[1] ? PyObject_Vectorcall(callable, args, 2, nullptr) : nullptr;
  const lamella_status st = done ? LAMELLA_OK : capture_exception();
  for (PyObject* o : {args[0], args[1], done, callable}) Py_XDECREF(o);
  return st;
}

}  // namespace lamella::binding
