#include "frontend/binding/named_dims.h"

#include <cstring>

#include "dispatcher/dims.h"
#include "frontend/binding/arguments.h"
#include "frontend/binding/python_kernel.h"
#include "frontend/binding/tensor_object.h"

namespace lamella::binding {
namespace {

// Returns whether a str may be an argument of the type, other than a name of a dimension.
bool may_be_text(const dispatcher::Type& t) {
  using dispatcher::Kind;
  for (Kind kind : {Kind::Tensor, Kind::Int, Kind::Float, Kind::Bool, Kind::Scalar, Kind::Complex, Kind::Generator})
    if (t.kind == kind) return false;
  return true;
}

}  // namespace

bool may_name_dims(const Signature& s, const std::vector<std::unique_ptr<Signature>>& overloads) {
  bool any = false;
  for (size_t i = 0; i < s.params.size(); i++) {
    const Param& dim = s.params[i];
    if (!dim.dim) continue;
    any = true;
    for (const auto& other : overloads)
      for (size_t k = 0; k < other->params.size(); k++) {
        const Param& p = other->params[k];
        const bool same_place = i == k && !dim.keyword_only && !p.keyword_only;
        if (may_be_text(p.type) && (same_place || p.name == dim.name || (p.other && p.other == dim.other)))
          return false;
      }
  }
  return any;
}

bool resolve_one(Tensor* self, PyObject* o, int64_t* dim, const Where& where) {
  if (!PyUnicode_Check(o)) {
    if (as_index(o, dim)) return true;
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError))
      PyErr_Format(PyExc_RuntimeError, "%s: the number does not fit 64 bits", where().c_str());
    if (!PyErr_Occurred())
      PyErr_Format(PyExc_TypeError, "%s: expected a name or a number of a dimension, got %s", where().c_str(),
                   type_name(o).c_str());
    return false;
  }
  Py_ssize_t length;
  const char* name = PyUnicode_AsUTF8AndSize(o, &length);
  if (!name) {  // it holds half a character, a lone surrogate
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "%s: there is no dimension %R, since it is no text", where().c_str(), o);
    return false;
  }
  if (std::strlen(name) != static_cast<size_t>(length)) {
    PyErr_Format(PyExc_ValueError, "%s: there is no dimension %R, since no name holds a zero character",
                 where().c_str(), o);
    return false;
  }
  const lamella_status st = dispatcher::resolve_dim(self, name, dim);
  if (!st) return true;
  if (st != LAMELLA_HOST_ERROR) core::raise(st, where() + ": " + core::pending_error().message);
  raise_pending();
  return false;
}

bool names_dims(PyObject* o, bool list) {
  if (PyUnicode_Check(o)) return true;
  if (!list || (!PyList_Check(o) && !PyTuple_Check(o))) return false;
  bool any = false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); i++) {
    PyObject* item = PySequence_Fast_GET_ITEM(o, i);
    any |= PyUnicode_Check(item) != 0;
    if (!PyUnicode_Check(item) && (!PyIndex_Check(item) || PyBool_Check(item))) return false;
  }
  return any;
}

const char* names_hint(PyObject* o, bool list) {
  if (dispatcher::any_dim_resolver() || !names_dims(o, list)) return "";
  return "; to give dimensions by name, load a plugin that knows their names";
}

bool resolve_dims(Tensor* self, PyObject* o, const dispatcher::Type& t, Value* v, Arena& arena, const Where& where) {
  if (PyUnicode_Check(o)) {
    int64_t dim;
    if (!resolve_one(self, o, &dim, where)) return false;
    *v = core::integer(dim);
    if (!t.list) return true;
    const int64_t n = t.list_size > 0 ? t.list_size : 1;
    auto* dims = static_cast<int64_t*>(arena.take(8 * n));
    for (int64_t i = 0; i < n; i++) dims[i] = dim;
    *v = core::int_list(dims, n);
    return true;
  }
  PyObject* items = PySequence_Tuple(o);  // a copy, since the resolver may run code that changes the list
  if (!items) return false;
  arena.hold(items);
  const Py_ssize_t n = PyTuple_GET_SIZE(items);
  auto* dims = static_cast<int64_t*>(arena.take(8 * (n + 1)));
  for (Py_ssize_t i = 0; i < n; i++)
    if (!resolve_one(self, PyTuple_GET_ITEM(items, i), &dims[i], where)) return false;
  *v = core::int_list(dims, n);
  return true;
}

lamella_status resolve_python_dim(void* context, lamella_tensor* self, const char* name, int64_t* dim) {
  Gil gil;
  PyObject* callable = Py_XNewRef(static_cast<PythonKernel*>(context)->callable);
  if (!callable) return core::raise(LAMELLA_RUNTIME_ERROR, "the resolver of names was withdrawn during this call");
  PyObject* args[] = {borrowed_to_python(core::tensor_value(self)), PyUnicode_FromString(name)};
  PyObject* found = args[0] && args[1] ? PyObject_Vectorcall(callable, args, 2, nullptr) : nullptr;
  lamella_status st = LAMELLA_OK;
  if (found == Py_NotImplemented)
    st = LAMELLA_DECLINED;
  else if (!found || !as_index(found, dim))
    st = PyErr_Occurred()
             ? capture_exception()
             : core::raise(LAMELLA_TYPE_ERROR, std::string("the resolver of names must return an int for '") + name +
                                                   "', got " + type_name(found));
  for (PyObject* o : {args[0], args[1], found, callable}) Py_XDECREF(o);
  return st;
}

}  // namespace lamella::binding
