// tensor[index] and tensor[index] = value.
//
// Note [Indices]  Indexing follows numpy, and torch where the two differ. First, integers, slices, None and ... are
//   applied as views, one after another. An integer (or a zero-dim integer tensor) beside index tensors is a view as
//   well, so in x[0, :, i] the dimension of i stays in its place; numpy moves it to the front. Then index.Tensor and
//   index_put_ take the remaining indices together: index tensors (integers of any dtype, lists, arrays) and bool
//   masks. A bool scalar is a mask over a new dimension of size one. One difference is settled as in numpy: uint8 means
//   integers, while torch takes it for a mask and warns. A list that stands for a tuple is one, as in torch: see
//   stands_for_tuple().
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/promotion.h"
#include "frontend/binding/packet.h"
#include "frontend/binding/protocols.h"
#include "frontend/binding/tensor_object.h"
#include "frontend/binding/named_dims.h"
#include "frontend/binding/overrides.h"
#include "dispatcher/operators.h"
#include "dispatcher/prepare.h"

namespace lamella::binding {
namespace {

using dispatcher::Operator;

const Operator* op(const char* name, const char* overload = "") {
  const Operator* o = dispatcher::find_operator(std::string("aten::") + name, overload);
  if (o) dispatcher::prepare(const_cast<Operator*>(o));
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
    return PyErr_Format(PyExc_ValueError, "slice: the step must be positive, got %zd; flip() reverses a dimension",
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

PyObject* converted(PyObject* self, core::DType dtype) {
  static const Operator* o = op("to", "dtype");
  Value v[5] = {core::tensor_value(unwrap(self)), core::dtype_value(dtype), core::boolean(false), core::boolean(false),
                core::none()};
  return run(o, v);
}

PyObject* moved(PyObject* self, lamella_device device) {
  static const Operator* o = op("to", "device");
  Value v[6] = {core::tensor_value(unwrap(self)),
                core::device_value(device),
                core::none(),
                core::boolean(false),
                core::boolean(false),
                core::none()};
  return run(o, v);
}

PyObject* alias(PyObject* self) {
  static const Operator* o = op("alias");
  Value v[1] = {core::tensor_value(unwrap(self))};
  return run(o, v);
}

PyObject* made_tensor(PyObject* data) {
  PyObject* module = PyImport_ImportModule("lamella");
  PyObject* made = module ? PyObject_CallMethod(module, "tensor", "(O)", data) : nullptr;
  Py_XDECREF(module);
  return made;
}

bool is_numpy_bool(PyObject* o) {
  const char* name = Py_TYPE(o)->tp_name;
  return !std::strcmp(name, "numpy.bool") || !std::strcmp(name, "numpy.bool_");
}
bool is_sequence(PyObject* o) {
  return PyList_Check(o) || PyTuple_Check(o) || PyRange_Check(o) || !std::strcmp(Py_TYPE(o)->tp_name, "numpy.ndarray");
}
bool is_integer(PyObject* o) {
  if (PyLong_CheckExact(o)) return true;
  if (is_tensor(o)) return unwrap(o)->ndim() == 0 && core::dtype_class(unwrap(o)->dtype) == LAMELLA_CLASS_INTEGRAL;
  return !PyBool_Check(o) && !is_numpy_bool(o) && PyIndex_Check(o) && !PyObject_HasAttrString(o, "__len__");
}

// Returns whether a list is read as a tuple, by torch's rule: it is shorter than 32, and holds a sequence, a tensor, a
// slice, None or "...". So x[[[0, 1], [1, 2]]] is x[[0, 1], [1, 2]], while x[[0, 1]] takes rows.
bool stands_for_tuple(PyObject* o) {
  constexpr Py_ssize_t least_rows = 32;
  if (!PyList_Check(o) || PyList_GET_SIZE(o) >= least_rows) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(o); i++) {
    PyObject* item = PyList_GET_ITEM(o, i);
    if (item == Py_None || item == Py_Ellipsis || PySlice_Check(item) || is_tensor(item) || PySequence_Check(item))
      return true;
  }
  return false;
}

int dims_of_index(const Tensor* t) { return t->dtype == LAMELLA_BOOL ? t->ndim() : 1; }

// The state of an index: the view after integers, slices, None and ...; and one entry for each dimension of the view,
// which is an index tensor or null. A mask has one entry for all its dimensions. Null entries at the end are left out.
class Index {
 public:
  Index() = default;
  Index(const Index&) = delete;
  ~Index() {
    Py_XDECREF(view_);
    for (int i = 0; i < count_; i++) Py_XDECREF(held_[i]);
  }

  // Reads an index expression; returns false with an exception.
  bool read(PyObject* self, PyObject* index) {
    if (stands_for_tuple(index)) return read_as_tuple(self, index);
    if (PyDict_Check(index)) return read_dict(self, index);
    const bool many = PyTuple_Check(index);
    const Py_ssize_t n = many ? PyTuple_GET_SIZE(index) : 1;
    int used = 0;
    bool filled = false;  // an ellipsis stands before: the first stands for the rest, the others for all of nothing
    const int ndim = unwrap(self)->ndim();
    if (n > LAMELLA_MAX_DIMS) {
      PyErr_Format(PyExc_IndexError, "index: %zd indices for a tensor of %d dimensions", n, ndim);
      return false;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
      PyObject* o = many ? PyTuple_GET_ITEM(index, i) : index;
      if (o == Py_Ellipsis) {
        if (!filled) held_[count_++] = Py_NewRef(o);
        filled = true;
        continue;
      }
      PyObject* item = prepared(self, o, i);
      if (!item) return false;
      held_[count_++] = item;
      used += item == Py_None ? 0 : is_tensor(item) && !is_integer(item) ? dims_of_index(unwrap(item)) : 1;
    }
    if (used > ndim) {
      PyErr_Format(PyExc_IndexError, "index: %d indices for a %s of %d dimensions", used,
                   ndim ? "tensor" : "zero-dim tensor", ndim);
      return false;
    }
    view_ = Py_NewRef(self);
    for (int i = 0; i < count_; i++)
      if (!apply(i, ndim - used)) return false;
    while (entries_ > 0 && !list_[entries_ - 1]) entries_--;
    return true;
  }

  PyObject* view() const { return view_; }
  PyObject* take_view() { return std::exchange(view_, nullptr); }
  bool tensors() const { return entries_ > 0; }
  Value list() const { return core::tensor_list(list_, entries_); }

  // Returns the mask, and sets *at to its first dimension, if the only index tensor is a mask; else null.
  Tensor* only_mask(int* at) const {
    for (int i = 0; i + 1 < entries_; i++)
      if (list_[i]) return nullptr;
    Tensor* t = core::full(list_[entries_ - 1]);
    *at = entries_ - 1;
    return t->dtype == LAMELLA_BOOL && t->ndim() > 0 ? t : nullptr;
  }
  int result_dims() const {
    int used = 0, most = 0;
    for (int i = 0; i < entries_; i++) {
      if (!list_[i]) continue;
      const Tensor* t = core::full(list_[i]);
      used += dims_of_index(t);
      most = std::max(most, t->dtype == LAMELLA_BOOL ? 1 : t->ndim());
    }
    return unwrap(view_)->ndim() - used + most;
  }

 private:
  // Reads {"time": 3, "batch": slice(2)}: an index for each dimension that a key names or counts, and all of the others.
  bool read_dict(PyObject* self, PyObject* dict) {
    const int ndim = unwrap(self)->ndim();
    PyObject* all = PySlice_New(nullptr, nullptr, nullptr);
    PyObject* tuple = all ? PyTuple_New(ndim) : nullptr;
    for (int d = 0; tuple && d < ndim; d++) PyTuple_SET_ITEM(tuple, d, Py_NewRef(all));
    PyObject* items = tuple ? PyDict_Items(dict) : nullptr;  // a copy, since a resolver may run code
    bool done = items != nullptr;
    for (Py_ssize_t i = 0; done && i < PyList_GET_SIZE(items); i++) {
      PyObject *key = PyTuple_GET_ITEM(PyList_GET_ITEM(items, i), 0),
               *item = PyTuple_GET_ITEM(PyList_GET_ITEM(items, i), 1);
      int64_t d = 0;
      done = resolve_one(unwrap(self), key, &d, [] { return std::string("index"); });
      if (!done) break;
      if (d < 0) d += ndim;
      if (d < 0 || d >= ndim) {
        done = PyErr_Format(PyExc_IndexError, "index: dimension %R is out of range for %d dimensions", key, ndim) !=
               nullptr;
      } else if (PyTuple_GET_ITEM(tuple, d) != all) {
        done = PyErr_Format(PyExc_IndexError, "index: dimension %R is given twice", key) != nullptr;
      } else if (item == Py_None || item == Py_Ellipsis || PyBool_Check(item) || is_numpy_bool(item) ||
                 (is_tensor(item) && unwrap(item)->dtype == LAMELLA_BOOL && unwrap(item)->ndim() != 1)) {
        done = PyErr_Format(PyExc_IndexError,
                            "index: dimension %R has the index %s, which does not stand for one dimension", key,
                            type_name(item).c_str()) != nullptr;
      } else {
        Py_SETREF(PyTuple_GET_ITEM(tuple, d), Py_NewRef(item));
      }
    }
    done = done && read(self, tuple);
    for (PyObject* o : {all, tuple, items}) Py_XDECREF(o);
    return done;
  }

  bool read_as_tuple(PyObject* self, PyObject* list) {
    if (PyErr_WarnEx(PyExc_UserWarning,
                     "index: a list that holds sequences, slices, None, ... or tensors is read as a tuple of indices, "
                     "one for each dimension, which is deprecated; write x[tuple(list)] for that, or "
                     "x[tensor(list)] for one index tensor",
                     1) < 0)
      return false;
    PyObject* tuple = PyList_AsTuple(list);
    const bool done = tuple && read(self, tuple);
    Py_XDECREF(tuple);
    return done;
  }

  // Returns an item of the index as a new reference: bools and sequences become tensors, and an index tensor in host
  // memory is moved to the device of `self`.
  static PyObject* prepared(PyObject* self, PyObject* o, Py_ssize_t at) {
    if (o == Py_None || PySlice_Check(o)) return Py_NewRef(o);
    PyObject* t = nullptr;
    if (is_tensor(o)) {
      t = Py_NewRef(o);
    } else if (PyBool_Check(o) || is_numpy_bool(o)) {
      t = made_tensor(PyObject_IsTrue(o) ? Py_True : Py_False);
    } else if (is_sequence(o)) {
      PyObject* list = PyRange_Check(o) ? PySequence_List(o) : Py_NewRef(o);
      t = list ? made_tensor(list) : nullptr;
      Py_XDECREF(list);
      if (t && unwrap(t)->numel == 0 && core::dtype_class(unwrap(t)->dtype) == LAMELLA_CLASS_FLOATING &&
          (PyList_Check(o) || PyTuple_Check(o)))
        Py_SETREF(t, converted(t, LAMELLA_INT64));  // an empty list has no dtype of its own
    } else if (is_integer(o)) {
      return Py_NewRef(o);
    } else {
      return PyErr_Format(PyExc_IndexError,
                          "index: position %zd: expected int, slice, None, ..., a tensor or sequence of integers, or a "
                          "bool mask, got %s",
                          at, type_name(o).c_str());
    }
    if (!t) return nullptr;
    const int kind = core::dtype_class(unwrap(t)->dtype);
    if (kind != LAMELLA_CLASS_BOOL && kind != LAMELLA_CLASS_INTEGRAL) {
      PyErr_Format(PyExc_IndexError, "index: position %zd: expected integers or a bool mask, got dtype %s", at,
                   core::dtype_info(unwrap(t)->dtype).name);
      Py_DECREF(t);
      return nullptr;
    }
    if (unwrap(t)->device_key != unwrap(self)->device_key && core::is_host(unwrap(t)->backend) && !is_integer(t))
      Py_SETREF(t, moved(t, unwrap(self)->device()));
    return t;
  }

  bool apply(int i, int rest) {
    PyObject *o = held_[i], *next = nullptr;
    if (o == Py_Ellipsis) {
      for (int k = 0; k < rest; k++) pass();
      return true;
    }
    if (o == Py_None) {
      next = unsqueeze(view_, dim_);
      pass();
    } else if (PySlice_Check(o)) {
      next = slice(view_, dim_, o);
      pass();
    } else if (is_integer(o)) {
      next = select_by(o);
    } else {
      if (unwrap(o)->ndim() == 0) {  // a bool scalar
        next = unsqueeze(view_, dim_);
        if (!next) return false;
        Py_SETREF(view_, next);
        held_[i] = unsqueeze(o, 0);
        Py_DECREF(o);
        o = held_[i];
        if (!o) return false;
      }
      list_[entries_++] = unwrap(o);
      dim_ += dims_of_index(unwrap(o));
      return true;
    }
    if (!next) return false;
    Py_SETREF(view_, next);
    return true;
  }

  PyObject* select_by(PyObject* o) {
    PyObject* number = PyNumber_Index(o);
    const int64_t k = number ? PyLong_AsLongLong(number) : -1;
    Py_XDECREF(number);
    if (!PyErr_Occurred()) return select(view_, dim_, k);
    if (PyErr_ExceptionMatches(PyExc_OverflowError))
      PyErr_SetString(PyExc_IndexError, "index: the integer does not fit 64 bits");
    return nullptr;
  }

  // Leaves a dimension without an index tensor.
  void pass() {
    if (entries_ < capacity) list_[entries_++] = nullptr;
    dim_++;
  }

  static constexpr int capacity = 2 * LAMELLA_MAX_DIMS;
  PyObject* view_ = nullptr;
  PyObject* held_[LAMELLA_MAX_DIMS];
  lamella_tensor* list_[capacity];
  int count_ = 0, entries_ = 0;
  int64_t dim_ = 0;
};

int finish(PyObject* result) {
  Py_XDECREF(result);
  return result ? 0 : -1;
}

// Returns whether a number may be assigned to elements of the dtype; false with an exception. A fraction may be cut
// off, as in numpy and as operators do.
bool fits(const Value& number, core::DType dtype) {
  if (core::number_fits(number, dtype)) return true;
  PyErr_Format(number.tag == LAMELLA_COMPLEX ? PyExc_TypeError : PyExc_RuntimeError,
               "index assignment: %s does not fit dtype %s", core::describe(number).c_str(),
               core::dtype_info(dtype).name);
  return false;
}

// Assigns a number to the elements of view[mask], in one pass.
int fill_masked(PyObject* view, Tensor* mask, int at, const Value& number) {
  static const Operator* fill = op("masked_fill_", "Scalar");
  Tensor* t = unwrap(view);
  if (!fits(number, t->dtype)) return -1;
  if (!std::equal(mask->sizes(), mask->sizes() + mask->ndim(), t->sizes() + at)) {
    PyErr_Format(PyExc_IndexError, "index: a mask of shape %s does not cover shape %s from dimension %d on",
                 core::shape_string(mask).c_str(), core::shape_string(t).c_str(), at);
    return -1;
  }
  core::retain(mask);
  PyObject* wide = wrap(mask);
  while (wide && unwrap(wide)->ndim() < t->ndim() - at) Py_SETREF(wide, unsqueeze(wide, unwrap(wide)->ndim()));
  if (!wide) return -1;
  Value v[3] = {core::tensor_value(t), core::tensor_value(unwrap(wide)), number};
  int st = finish(run(fill, v));
  Py_DECREF(wide);
  return st;
}

// Returns the value to assign: with the view's dtype and device, and without leading dimensions of size one beyond
// `dims` dimensions.
PyObject* assignable(PyObject* value, const Tensor* view, int dims) {
  if (core::dtype_class(unwrap(value)->dtype) == LAMELLA_CLASS_COMPLEX &&
      core::dtype_class(view->dtype) != LAMELLA_CLASS_COMPLEX)
    return PyErr_Format(PyExc_TypeError, "index assignment: dtype %s does not fit dtype %s",
                        core::dtype_info(unwrap(value)->dtype).name, core::dtype_info(view->dtype).name);
  PyObject* o = Py_NewRef(value);
  while (o && unwrap(o)->ndim() > dims && unwrap(o)->sizes()[0] == 1) Py_SETREF(o, select(o, 0, 0));
  if (o && unwrap(o)->device_key != view->device_key) Py_SETREF(o, moved(o, view->device()));
  if (o && unwrap(o)->dtype != view->dtype) Py_SETREF(o, converted(o, view->dtype));
  return o;
}

int put(const Index& index, const Value& v, PyObject* value) {
  static const Operator *put = op("index_put_"), *full = op("full");
  Tensor* view = unwrap(index.view());
  PyObject* values;
  if (v.tag == LAMELLA_TENSOR) {
    values = assignable(value, view, index.result_dims());
  } else {
    if (!fits(v, view->dtype)) return -1;
    Value args[6] = {core::int_list(nullptr, 0),         v,           core::dtype_value(view->dtype), core::none(),
                     core::device_value(view->device()), core::none()};
    values = run(full, args);
  }
  if (!values) return -1;
  Value args[4] = {core::tensor_value(view), index.list(), core::tensor_value(unwrap(values)), core::boolean(false)};
  int st = finish(run(put, args));
  Py_DECREF(values);
  return st;
}

int assign(PyObject* view, const Value& v, PyObject* value) {
  static const Operator *fill = op("fill_", "Scalar"), *copy = op("copy_");
  if (v.tag != LAMELLA_TENSOR) {
    Value args[2] = {core::tensor_value(unwrap(view)), v};
    return finish(run(fill, args));
  }
  PyObject* o = Py_NewRef(value);
  while (o && unwrap(o)->ndim() > unwrap(view)->ndim() && unwrap(o)->sizes()[0] == 1) Py_SETREF(o, select(o, 0, 0));
  if (!o) return -1;
  Value args[3] = {core::tensor_value(unwrap(view)), core::tensor_value(unwrap(o)), core::boolean(false)};
  int st = finish(run(copy, args));
  Py_DECREF(o);
  return st;
}

// Reads a value that is a tensor or a number; a number stays a value.
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

}  // namespace

PyObject* get_item(PyObject* self, PyObject* index) {
  if (__builtin_expect(may_override(self), 0)) {
    static PyObject* function = PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_type), "__getitem__");
    PyObject *args[] = {self, index}, *result;
    if (overridden(function, args, 2, nullptr, &result)) return result;
  }
  static const Operator* by_tensors = op("index", "Tensor");
  if (PyLong_CheckExact(index)) {
    int64_t i = PyLong_AsLongLong(index);
    if (i == -1 && PyErr_Occurred()) return PyErr_Format(PyExc_IndexError, "index: the integer does not fit 64 bits");
    return select(self, 0, i);
  }
  if (PySlice_Check(index)) return slice(self, 0, index);
  Index r;
  if (!r.read(self, index)) return nullptr;
  if (r.tensors()) {
    Value v[2] = {core::tensor_value(unwrap(r.view())), r.list()};
    return run(by_tensors, v);
  }
  return r.view() == self ? alias(self) : r.take_view();  // t[...] and t[()] must be views, too
}

int set_item(PyObject* self, PyObject* index, PyObject* value) {
  if (!value) {
    PyErr_SetString(PyExc_TypeError, "index: elements of a tensor cannot be deleted");
    return -1;
  }
  const bool plain = Py_TYPE(value) == tensor_type || PyFloat_CheckExact(value) || PyLong_CheckExact(value);
  if (__builtin_expect(!plain || may_override(self), 0)) {
    static PyObject* function = PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_type), "__setitem__");
    PyObject *args[] = {self, index, value}, *result;
    if (overridden(function, args, 3, nullptr, &result)) {
      Py_XDECREF(result);
      return result ? 0 : -1;
    }
  }
  Arena arena;
  Value v;
  if (is_sequence(value)) {
    value = made_tensor(value);
    if (!value) return -1;
    arena.hold(value);
  }
  Index r;
  if (!value_of(value, &v, arena) || !r.read(self, index)) return -1;
  if (!r.tensors()) return assign(r.view(), v, value);
  int at;
  Tensor* mask = v.tag == LAMELLA_TENSOR ? nullptr : r.only_mask(&at);
  return mask ? fill_masked(r.view(), mask, at, v) : put(r, v, value);
}

}  // namespace lamella::binding
