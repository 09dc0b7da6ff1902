// tensor[index]: integers, slices, None and Ellipsis become views, one after another; a boolean mask ends in a kernel.
#include <algorithm>

#include "frontend/binding/packet.h"
#include "frontend/binding/protocols.h"
#include "frontend/binding/tensor_object.h"

namespace lattis::binding {
namespace {

using dispatcher::Operator;

const Operator* op(const char* name, const char* overload = "") {
  const Operator* o = dispatcher::Registry::get().find(std::string("aten::") + name, overload);
  if (o) dispatcher::Registry::get().prepare(const_cast<Operator*>(o));
  return o;
}

PyObject* select(PyObject* self, int64_t dim, int64_t index) {
  static const Operator* o = op("select", "int");
  Value v[3] = {core::tensor_value(unwrap(self)), core::integer(dim), core::integer(index)};
  return run(o, v);
}

PyObject* slice(PyObject* self, int64_t dim, PyObject* s) {
  static const Operator* o = op("slice", "Tensor");
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(s, &start, &stop, &step) < 0) return nullptr;
  if (step < 0)
    return PyErr_Format(PyExc_ValueError, "slice: the step must be positive, got %zd; strides are never negative here",
                        step);
  Value v[5] = {core::tensor_value(unwrap(self)), core::integer(dim), core::integer(start), core::integer(stop),
                core::integer(step)};
  return run(o, v);
}

PyObject* unsqueeze(PyObject* self, int64_t dim) {
  static const Operator* o = op("unsqueeze");
  Value v[2] = {core::tensor_value(unwrap(self)), core::integer(dim)};
  return run(o, v);
}

PyObject* alias(PyObject* self) {
  static const Operator* o = op("alias");
  Value v[1] = {core::tensor_value(unwrap(self))};
  return run(o, v);
}

bool is_mask(PyObject* o) { return is_tensor(o) && unwrap(o)->dtype == LATTIS_BOOL; }
bool is_integer(PyObject* o) {
  if (PyLong_CheckExact(o)) return true;
  if (PyBool_Check(o) || !PyIndex_Check(o)) return false;
  if (is_tensor(o)) return unwrap(o)->ndim() == 0 && core::dtype_class(unwrap(o)->dtype) == LATTIS_CLASS_INTEGRAL;
  return !PyObject_HasAttrString(o, "__len__");
}

PyObject* unsupported(PyObject* o) {
  return PyErr_Format(
      PyExc_IndexError,
      "index: expected int, slice, None, ... or a bool mask, got %s; index tensors of integers are planned",
      type_name(o).c_str());
}

// How many dimensions of the tensor an index uses up.
int consumes(PyObject* o) { return o == Py_None || o == Py_Ellipsis ? 0 : is_mask(o) ? unwrap(o)->ndim() : 1; }

// What is left of an index once its views are taken: perhaps one mask, after `leading` whole dimensions.
struct Resolved {
  PyObject* view;  // owned
  PyObject* mask;  // borrowed, or null
  int64_t at;      // the dimension where the mask starts
};

bool resolve(PyObject* self, PyObject* index, Resolved* r) {
  PyObject* single[1] = {index};
  bool many = PyTuple_Check(index);
  PyObject* const* items = many ? &PyTuple_GET_ITEM(index, 0) : single;
  Py_ssize_t n = many ? PyTuple_GET_SIZE(index) : 1;
  int used = 0, ellipses = 0, ndim = unwrap(self)->ndim();
  for (Py_ssize_t i = 0; i < n; i++) {
    used += consumes(items[i]);
    ellipses += items[i] == Py_Ellipsis;
  }
  if (used > ndim || ellipses > 1) {
    PyErr_Format(PyExc_IndexError,
                 ellipses > 1 ? "index: only one '...' is allowed" : "index: %d indices for a tensor of %d dimensions",
                 used, ndim);
    return false;
  }
  *r = {Py_NewRef(self), nullptr, 0};
  int64_t dim = 0;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject *o = items[i], *next = nullptr;
    if (o == Py_Ellipsis) {
      dim += ndim - used;
      continue;
    }
    if (o == Py_None) {
      next = unsqueeze(r->view, dim++);
    } else if (PySlice_Check(o)) {
      next = slice(r->view, dim++, o);
    } else if (is_mask(o)) {
      if (r->mask) {
        PyErr_SetString(PyExc_IndexError, "index: more than one mask is planned; combine them with & first");
      } else {
        r->mask = o;
        r->at = dim;
        dim += unwrap(o)->ndim();
        continue;
      }
    } else if (is_integer(o)) {
      PyObject* number = PyNumber_Index(o);
      int64_t k = number ? PyLong_AsLongLong(number) : -1;
      Py_XDECREF(number);
      if (!PyErr_Occurred())
        next = select(r->view, dim, k);
      else if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_SetString(PyExc_IndexError, "index: the integer does not fit 64 bits");
    } else {
      unsupported(o);
    }
    Py_SETREF(r->view, next);
    if (!next) return false;
  }
  return true;
}

// Whole dimensions before the mask are moved behind it, and back in the result.
PyObject* masked(const Resolved& r) {
  static const Operator *index = op("_mask_index"), *permute = op("permute");
  auto rotated = [](PyObject* o, int64_t lead, int64_t span) -> PyObject* {
    int n = unwrap(o)->ndim();
    int64_t dims[LATTIS_MAX_DIMS], k = 0;
    for (int64_t i = lead; i < lead + span; i++) dims[k++] = i;
    for (int64_t i = 0; i < lead; i++) dims[k++] = i;
    for (int64_t i = lead + span; i < n; i++) dims[k++] = i;
    Value v[2] = {core::tensor_value(unwrap(o)), core::int_list(dims, n)};
    return run(permute, v);
  };
  int64_t span = unwrap(r.mask)->ndim();
  PyObject* from = r.at ? rotated(r.view, r.at, span) : Py_NewRef(r.view);
  if (!from) return nullptr;
  Value v[2] = {core::tensor_value(unwrap(from)), core::tensor_value(unwrap(r.mask))};
  PyObject* rows = run(index, v);
  Py_DECREF(from);
  if (!rows || !r.at) return rows;
  int n = unwrap(rows)->ndim();
  int64_t dims[LATTIS_MAX_DIMS];
  for (int64_t i = 0; i < r.at; i++) dims[i] = i + 1;
  dims[r.at] = 0;
  for (int i = static_cast<int>(r.at) + 1; i < n; i++) dims[i] = i;
  Value p[2] = {core::tensor_value(unwrap(rows)), core::int_list(dims, n)};
  PyObject* result = run(permute, p);
  Py_DECREF(rows);
  return result;
}

// A number where a tensor may stand: kept as a value.
bool value_of(PyObject* o, Value* v, Arena& arena) {
  if (is_tensor(o)) {
    *v = core::tensor_value(unwrap(o));
    return true;
  }
  dispatcher::Type scalar;
  scalar.kind = dispatcher::Kind::Scalar;
  if (convert(o, scalar, v, arena)) return true;
  if (!PyErr_Occurred())
    PyErr_Format(PyExc_TypeError, "index assignment: argument 'value' must be a number or Tensor, got %s",
                 type_name(o).c_str());
  return false;
}

int finish(PyObject* result) {
  Py_XDECREF(result);
  return result ? 0 : -1;
}

// view[mask] = number: where() into the view itself, in one pass.
int fill_masked(PyObject* view, PyObject* mask, const Value& number) {
  static const Operator* where = op("where", "ScalarSelf_out");
  Tensor *t = unwrap(view), *m = unwrap(mask);
  bool covers = m->ndim() <= t->ndim() && std::equal(m->sizes(), m->sizes() + m->ndim(), t->sizes());
  core::DType d = number.tag == LATTIS_COMPLEX ? LATTIS_COMPLEX128
                  : number.tag == LATTIS_FLOAT ? LATTIS_FLOAT64
                  : number.tag == LATTIS_INT   ? LATTIS_INT64
                                               : LATTIS_BOOL;
  if (!covers) {
    PyErr_Format(PyExc_IndexError, "index: a mask of shape %s does not cover the leading dimensions of shape %s",
                 core::shape_string(m).c_str(), core::shape_string(t).c_str());
    return -1;
  }
  Value n = number;
  if (!core::can_cast(d, t->dtype)) {  // as an assignment of one element would: converted
    if (number.tag == LATTIS_COMPLEX) {
      PyErr_Format(PyExc_TypeError, "index assignment: a complex number does not fit dtype %s",
                   core::dtype_info(t->dtype).name);
      return -1;
    }
    n = core::dtype_class(t->dtype) == LATTIS_CLASS_BOOL ? core::boolean(core::as_double(number) != 0)
                                                         : core::integer(static_cast<int64_t>(core::as_double(number)));
  }
  Py_INCREF(mask);
  while (unwrap(mask)->ndim() < t->ndim()) {
    PyObject* wider = unsqueeze(mask, unwrap(mask)->ndim());
    Py_SETREF(mask, wider);
    if (!mask) return -1;
  }
  Value v[4] = {core::tensor_value(unwrap(mask)), n, core::tensor_value(t), core::tensor_value(t)};
  int st = finish(run(where, v));
  Py_DECREF(mask);
  return st;
}

}  // namespace

PyObject* get_item(PyObject* self, PyObject* index) {
  if (PyLong_CheckExact(index)) {
    int64_t i = PyLong_AsLongLong(index);
    if (i == -1 && PyErr_Occurred()) return PyErr_Format(PyExc_IndexError, "index: the integer does not fit 64 bits");
    return select(self, 0, i);
  }
  if (PySlice_Check(index)) return slice(self, 0, index);
  Resolved r{};
  if (!resolve(self, index, &r)) {
    Py_XDECREF(r.view);
    return nullptr;
  }
  if (r.mask) {
    PyObject* o = masked(r);
    Py_DECREF(r.view);
    return o;
  }
  if (r.view == self) {  // t[...] and t[()] are views too
    Py_SETREF(r.view, alias(self));
  }
  return r.view;
}

int set_item(PyObject* self, PyObject* index, PyObject* value) {
  static const Operator *fill = op("fill_", "Scalar"), *copy = op("copy_"), *put = op("_mask_put_");
  if (!value) {
    PyErr_SetString(PyExc_TypeError, "index: elements of a tensor cannot be deleted");
    return -1;
  }
  Arena arena;
  Value v;
  PyObject* made = nullptr;
  if (PyList_Check(value) || PyTuple_Check(value)) {  // a list of numbers: a tensor of our dtype
    PyObject* module = PyImport_ImportModule("lattis");
    made = module ? PyObject_CallMethod(module, "tensor", "O", value) : nullptr;
    Py_XDECREF(module);
    if (!made) return -1;
    value = made;
  }
  Resolved r{};
  int st = -1;
  if (value_of(value, &v, arena) && resolve(self, index, &r)) {
    if (r.mask && v.tag != LATTIS_TENSOR && r.at == 0) {
      st = fill_masked(r.view, r.mask, v);
    } else if (r.mask) {
      if (r.at != 0 || v.tag != LATTIS_TENSOR) {
        PyErr_SetString(PyExc_IndexError,
                        "index assignment: a mask after other dimensions is planned; permute the tensor first");
      } else {
        Value args[3] = {core::tensor_value(unwrap(r.view)), core::tensor_value(unwrap(r.mask)), v};
        st = finish(run(put, args));
      }
    } else if (v.tag == LATTIS_TENSOR) {
      Value args[3] = {core::tensor_value(unwrap(r.view)), v, core::boolean(false)};
      st = finish(run(copy, args));
    } else {
      Value args[2] = {core::tensor_value(unwrap(r.view)), v};
      st = finish(run(fill, args));
    }
  }
  Py_XDECREF(r.view);
  Py_XDECREF(made);
  return st;
}

}  // namespace lattis::binding
