#include "frontend/binding/interop.h"

#include <cstring>
#include <memory>
#include <vector>

#include "core/promotion.h"
#include "frontend/binding/arguments.h"
#include "frontend/binding/buffer.h"
#include "frontend/binding/packet.h"
#include "frontend/binding/tensor_object.h"
#include "frontend/binding/types.h"

namespace lamella::binding {
namespace {

using core::DType;

// ---- buffers: numpy arrays, and other objects that export memory ----------------------------------------------------

DType dtype_of_format(const char* f, Py_ssize_t item) {
  if (!f) return LAMELLA_UINT8;
  if (*f == '@' || *f == '=' || *f == '<') f++;
  if (f[0] == '>' || f[0] == '!') return LAMELLA_NO_DTYPE;
  bool complex = *f == 'Z';
  if (complex) f++;
  if (f[1]) return LAMELLA_NO_DTYPE;
  static const DType unsigned_of[] = {
      LAMELLA_NO_DTYPE, LAMELLA_UINT8, LAMELLA_UINT16, LAMELLA_NO_DTYPE, LAMELLA_UINT32, 0, 0, 0, LAMELLA_UINT64};
  static const DType signed_of[] = {
      LAMELLA_NO_DTYPE, LAMELLA_INT8, LAMELLA_INT16, LAMELLA_NO_DTYPE, LAMELLA_INT32, 0, 0, 0, LAMELLA_INT64};
  switch (*f) {
    case '?':
      return LAMELLA_BOOL;
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
      return unsigned_of[item];
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
      return signed_of[item];
    case 'e':
      return LAMELLA_FLOAT16;
    case 'f':
      return complex ? LAMELLA_COMPLEX64 : LAMELLA_FLOAT32;
    case 'd':
      return complex ? LAMELLA_COMPLEX128 : LAMELLA_FLOAT64;
    default:
      return LAMELLA_NO_DTYPE;
  }
}

void release_buffer(void* context) {
  auto* view = static_cast<Py_buffer*>(context);
  if (!Py_IsInitialized()) return;
  Gil gil;  // this may run on any thread
  PyBuffer_Release(view);
  delete view;
}

// Makes a tensor over the memory of an exporter, and keeps the exporter alive with it. Warns of read-only memory if
// `writable`. `who` names the function in messages.
PyObject* tensor_over_buffer(PyObject* o, const char* who, bool writable) {
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(o, view.get(), PyBUF_FORMAT | PyBUF_STRIDES) < 0) {
    PyErr_Clear();
    PyObject* dtype = PyObject_GetAttrString(o, "dtype");
    if (!dtype) return nullptr;
    PyErr_Format(PyExc_TypeError, "%s: expected a numpy.ndarray of numbers, got one of dtype %S", who, dtype);
    Py_DECREF(dtype);
    return nullptr;
  }
  std::unique_ptr<Py_buffer, void (*)(Py_buffer*)> held(view.release(), [](Py_buffer* v) {
    PyBuffer_Release(v);
    delete v;
  });
  DType dtype = dtype_of_format(held->format, held->itemsize);
  if (dtype == LAMELLA_NO_DTYPE)
    return PyErr_Format(PyExc_TypeError, "%s: arrays of format '%s' are not supported; convert with array.astype(...)",
                        who, held->format);
  if (held->ndim > LAMELLA_MAX_DIMS)
    return PyErr_Format(PyExc_ValueError, "%s: %d dimensions, at most %d are supported", who, held->ndim,
                        LAMELLA_MAX_DIMS);
  int64_t sizes[LAMELLA_MAX_DIMS], strides[LAMELLA_MAX_DIMS], item = core::itemsize(dtype), numel = 1;
  for (int i = 0; i < held->ndim; i++) {
    sizes[i] = held->shape[i];
    numel *= sizes[i];
  }
  for (int i = 0; i < held->ndim; i++) {
    if (held->strides[i] < 0 && sizes[i] > 1 && numel > 0)
      return PyErr_Format(PyExc_ValueError,
                          "%s: dimension %d has a negative stride, which tensors don't have; pass array.copy()", who,
                          i);
    if (held->strides[i] % item && sizes[i] > 1)
      return PyErr_Format(PyExc_ValueError,
                          "%s: dimension %d has a stride of %zd bytes, which is no multiple of the %lld bytes of an "
                          "element; pass array.copy()",
                          who, i, held->strides[i], (long long)item);
    strides[i] = sizes[i] > 1 ? held->strides[i] / item : item;
  }
  if (numel == 0)
    core::contiguous_strides(held->ndim, sizes, strides);
  else
    for (int i = held->ndim - 1; i >= 0; i--)
      if (sizes[i] <= 1) strides[i] = i + 1 < held->ndim ? strides[i + 1] * sizes[i + 1] : 1;
  if (reinterpret_cast<uintptr_t>(held->buf) % static_cast<uintptr_t>(std::min<int64_t>(item, 8)))
    return PyErr_Format(PyExc_ValueError, "%s: the array is not aligned; pass array.copy()", who);
  if (writable && held->readonly && !warn_read_only(who)) return nullptr;
  lamella_device host = {core::host_backend(), 0};
  if (host.backend < 0) return PyErr_Format(PyExc_RuntimeError, "%s: no host backend is loaded", who);
  int64_t bytes = core::span_bytes(held->ndim, sizes, strides, item);
  void* data = held->buf;
  int ndim = held->ndim;
  core::Storage* s = core::foreign_storage(data, bytes, host, release_buffer, held.release());
  Tensor* t = core::tensor_over(s, ndim, sizes, strides, 0, dtype);
  core::release(s);
  return wrap(t);
}

}  // namespace

// Compares the names of all bases, so that numpy need not be loaded to recognize its arrays.
bool is_ndarray(PyObject* o) {
  PyObject* bases = Py_TYPE(o)->tp_mro;
  for (Py_ssize_t i = 0; bases && i < PyTuple_GET_SIZE(bases); i++)
    if (!std::strcmp(reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(bases, i))->tp_name, "numpy.ndarray"))
      return true;
  return false;
}

PyObject* tensor_of_array(PyObject* array) {
  PyObject* view = tensor_over_buffer(array, "tensor", false);
  if (view || !PyErr_ExceptionMatches(PyExc_ValueError)) return view;
  PyErr_Clear();  // such as for negative strides: numpy makes a contiguous copy
  PyObject* copy = PyObject_CallMethod(array, "copy", "s", "C");
  if (!copy) return nullptr;
  view = tensor_over_buffer(copy, "tensor", false);
  Py_DECREF(copy);
  return view;
}

namespace {

// Applies the keywords that plugins contribute, as names=("n", "c"), to a tensor; takes the reference over.
PyObject* with_keywords(const char* who, PyObject* made, PyObject* const* values, PyObject* kwnames) {
  PyObject* module = made ? PyImport_ImportModule("lamella._creation") : nullptr;
  PyObject* keywords = module ? PyDict_New() : nullptr;
  bool ok = keywords != nullptr;
  for (Py_ssize_t k = 0; ok && k < PyTuple_GET_SIZE(kwnames); k++)
    ok = PyDict_SetItem(keywords, PyTuple_GET_ITEM(kwnames, k), values[k]) == 0;
  PyObject* result = ok ? PyObject_CallMethod(module, "contributed", "sOO", who, made, keywords) : nullptr;
  for (PyObject* o : {made, module, keywords}) Py_XDECREF(o);
  return result;
}

PyObject* from_numpy(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  if (n != 1) return PyErr_Format(PyExc_TypeError, "from_numpy: expected one numpy.ndarray, got %zd arguments", n);
  PyObject* array = args[0];
  if (!is_ndarray(array))
    return PyErr_Format(PyExc_TypeError, "from_numpy: expected a numpy.ndarray, got %s", type_name(array).c_str());
  PyObject* made = tensor_over_buffer(array, "from_numpy", true);
  return kwnames && PyTuple_GET_SIZE(kwnames) ? with_keywords("from_numpy", made, args + 1, kwnames) : made;
}

// ---- tensor(data) ----

bool is_list_like(PyObject* o) {
  return PyList_Check(o) || PyTuple_Check(o) ||
         (PySequence_Check(o) && !PyUnicode_Check(o) && !PyBytes_Check(o) && !PyDict_Check(o) && !is_tensor(o));
}

bool is_numpy_number(PyObject* o) { return std::strncmp(Py_TYPE(o)->tp_name, "numpy.", 6) == 0; }

// Returns the array that an object of another library makes by __array__, such as a table of pandas, whose items are not
// its elements; else the object itself. A new reference; null with an exception. Objects with __dlpack__ may be on a
// device, so that the frontend reads them.
PyObject* as_array(PyObject* o) {
  if (PyList_CheckExact(o) || PyTuple_CheckExact(o) || !is_list_like(o) || is_ndarray(o) || is_numpy_number(o) ||
      PyObject_HasAttrString(o, "__dlpack__") || !PyObject_HasAttrString(o, "__array__"))
    return Py_NewRef(o);
  PyObject* made = PyObject_CallMethod(o, "__array__", nullptr);
  if (!made || is_ndarray(made)) return made;
  PyErr_Format(PyExc_TypeError, "tensor: __array__ of %s must return a numpy.ndarray, got %s", type_name(o).c_str(),
               type_name(made).c_str());
  Py_DECREF(made);
  return nullptr;
}

struct Discovered {
  int64_t sizes[LAMELLA_MAX_DIMS];
  int ndim = 0;
  bool wide = false;                 // read ints as uint64
  DType natural = LAMELLA_NO_DTYPE;  // the promoted dtype of all numbers
};

// Finds the shape of nested sequences by the first element at each depth; gather() checks the others.
bool discover_shape(PyObject* data, Discovered& d) {
  PyObject* o = as_array(data);
  while (o && is_list_like(o)) {
    Py_ssize_t n = PySequence_Size(o);
    if (n < 0) {  // a numpy scalar, which only claims to be a sequence
      PyErr_Clear();
      break;
    }
    if (d.ndim == LAMELLA_MAX_DIMS) {
      Py_DECREF(o);
      PyErr_Format(PyExc_ValueError, "tensor: the data is nested deeper than %d levels", LAMELLA_MAX_DIMS);
      return false;
    }
    d.sizes[d.ndim++] = n;
    if (n == 0) break;
    Py_SETREF(o, PySequence_GetItem(o, 0));
    if (o) Py_SETREF(o, as_array(o));
  }
  Py_XDECREF(o);
  return o != nullptr;
}

// Promotes the natural dtype with that of one more number: numpy scalars and zero-dim tensors have their own dtype,
// Python numbers that of their type.
bool join_natural(PyObject* o, const Value& v, Discovered& d) {
  DType own = core::number_dtype(v);
  if (is_tensor(o)) {
    own = unwrap(o)->dtype;
  } else if (is_numpy_number(o)) {
    const DType named = core::dtype_from_name(Py_TYPE(o)->tp_name + 6);
    if (named != LAMELLA_NO_DTYPE) own = named;
  }
  if (own == d.natural) return true;
  DType both = d.natural == LAMELLA_NO_DTYPE ? own : core::promote(d.natural, own);
  if (both == LAMELLA_NO_DTYPE && d.wide) both = LAMELLA_UINT64;  // the requested dtype
  if (both == LAMELLA_NO_DTYPE) {
    PyErr_Format(PyExc_TypeError, "tensor: argument 'data' holds %s and %s, which no dtype holds together",
                 core::dtype_info(d.natural).name, core::dtype_info(own).name);
    return false;
  }
  d.natural = both;
  return true;
}

// Appends all numbers, as values, in row-major order.
bool gather(PyObject* o, Discovered& d, int depth, std::vector<Value>& out, Arena& arena) {
  if (depth == d.ndim) {
    Value v;
    dispatcher::Type scalar;
    scalar.kind = dispatcher::Kind::Scalar;
    if (is_tensor(o) && unwrap(o)->ndim() > 0) {  // a number, if it has one element
      if (unwrap(o)->numel != 1) {
        PyErr_Format(
            PyExc_ValueError,
            "tensor: argument 'data' holds a tensor of shape %s; a tensor among numbers must have one element, "
            "and lamella.stack() joins others",
            core::shape_string(unwrap(o)).c_str());
        return false;
      }
      PyObject* number = PyObject_CallMethod(o, "item", nullptr);
      const bool ok = number && convert(number, scalar, &v, arena);
      Py_XDECREF(number);
      if (!ok) return false;
      out.push_back(v);
      return join_natural(o, v, d);
    }
    if (!convert(o, scalar, &v, arena)) {
      if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_SetString(PyExc_RuntimeError, "tensor: argument 'data': a number does not fit 64 bits");
        return false;
      }
      PyErr_Clear();
      if (is_list_like(o))
        PyErr_Format(PyExc_ValueError,
                     "tensor: the data is ragged: a sequence stands at depth %d where a number should be", depth);
      else
        PyErr_Format(PyExc_TypeError, "tensor: argument 'data' must hold numbers, got %s", type_name(o).c_str());
      return false;
    }
    out.push_back(v);
    return join_natural(o, v, d);
  }
  o = as_array(o);
  if (!o) return false;
  Py_ssize_t n = is_list_like(o) ? PySequence_Size(o) : -1;
  if (n != d.sizes[depth]) {
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "tensor: the data is ragged: expected a sequence of length %lld at depth %d, got %s",
                 (long long)d.sizes[depth], depth, n < 0 ? type_name(o).c_str() : std::to_string(n).c_str());
    Py_DECREF(o);
    return false;
  }
  PyObject* held = PySequence_Tuple(o);  // a copy, since the list may change while its elements are read
  Py_DECREF(o);
  if (!held) return false;
  bool ok = PyTuple_GET_SIZE(held) == n;
  if (!ok) PyErr_SetString(PyExc_ValueError, "tensor: argument 'data' has changed while it was read");
  for (Py_ssize_t i = 0; i < n && ok; i++) ok = gather(PyTuple_GET_ITEM(held, i), d, depth + 1, out, arena);
  Py_DECREF(held);
  return ok;
}

// Returns a host tensor of the numbers and their natural dtype. The tensor is of the widest dtype of its class: bool,
// int64, uint64, float64 or complex128.
PyObject* tensor_of_numbers(PyObject* data, DType wanted) {
  const bool wide_ints = wanted == LAMELLA_UINT64;
  Discovered d;
  d.wide = wide_ints;
  Arena arena;
  std::vector<Value> numbers;
  if (!discover_shape(data, d) || !gather(data, d, 0, numbers, arena)) return nullptr;
  DType dtype = numbers.empty() ? core::default_dtype() : d.natural;
  bool complex = core::dtype_class(dtype) == LAMELLA_CLASS_COMPLEX,
       floating = core::dtype_class(dtype) == LAMELLA_CLASS_FLOATING;
  DType wide = dtype == LAMELLA_BOOL                  ? LAMELLA_BOOL
               : wide_ints || dtype == LAMELLA_UINT64 ? LAMELLA_UINT64
                                                      : LAMELLA_INT64;
  if (complex) wide = LAMELLA_COMPLEX128;
  if (floating) wide = LAMELLA_FLOAT64;
  Tensor* t;
  if (core::new_tensor(d.ndim, d.sizes, nullptr, wide, {core::host_backend(), 0}, &t)) return raise_pending();
  const bool refuses_complex =
      wanted != LAMELLA_NO_DTYPE && wanted != LAMELLA_BOOL && core::dtype_class(wanted) != LAMELLA_CLASS_COMPLEX;
  auto* bytes = static_cast<char*>(t->dl.data);
  for (size_t i = 0; i < numbers.size(); i++) {
    const Value& v = numbers[i];
    if (v.tag == LAMELLA_COMPLEX && refuses_complex) {
      core::release(t);
      return PyErr_Format(
          PyExc_TypeError,
          "tensor: argument 'data': %s is complex, and dtype %s is real; pass its real part or a complex "
          "dtype",
          core::describe(v).c_str(), core::dtype_info(wanted).name);
    }
    if (v.tag != LAMELLA_COMPLEX && wanted != LAMELLA_NO_DTYPE && !core::number_fits(v, wanted)) {
      core::release(t);
      return PyErr_Format(PyExc_RuntimeError, "tensor: argument 'data': %s does not fit dtype %s",
                          core::describe(v).c_str(), core::dtype_info(wanted).name);
    }
    double pair[2] = {core::as_double(v), v.tag == LAMELLA_COMPLEX ? v.as.doubles[1] : 0};
    uint8_t b = static_cast<uint8_t>(v.as.i != 0);
    if (complex)
      std::memcpy(bytes + 16 * i, pair, 16);
    else if (floating)
      std::memcpy(bytes + 8 * i, pair, 8);
    else if (wide == LAMELLA_BOOL)
      std::memcpy(bytes + i, &b, 1);
    else
      std::memcpy(bytes + 8 * i, &v.as.i, 8);
  }
  return Py_BuildValue("(NO)", wrap(t), dtype_object(dtype));
}

// _tensor_from(data, wanted dtype or None) -> (tensor, natural dtype); the frontend converts and moves.
PyObject* tensor_from(PyObject*, PyObject* args) {
  PyObject *data, *wanted;
  if (!PyArg_ParseTuple(args, "OO", &data, &wanted)) return nullptr;
  if (core::host_backend() < 0) return PyErr_Format(PyExc_RuntimeError, "tensor: no host backend is loaded");
  if (is_tensor(data)) return Py_BuildValue("(OO)", data, dtype_object(unwrap(data)->dtype));
  PyObject* array = as_array(data);
  if (!array) return nullptr;
  if (is_ndarray(array)) {
    PyObject* view = tensor_of_array(array);
    Py_DECREF(array);
    if (!view) return nullptr;
    return Py_BuildValue("(NO)", view, dtype_object(unwrap(view)->dtype));
  }
  Py_DECREF(array);
  DType t = LAMELLA_NO_DTYPE;
  if (wanted != Py_None) read_dtype(wanted, &t);  // the frontend reports a wrong dtype
  PyErr_Clear();
  return tensor_of_numbers(data, t);
}

PyObject* to_list_at(const Tensor* t, int dim, const char* at) {
  if (dim == t->ndim()) {
    lamella_tensor one = *t;
    one.dl.data = const_cast<char*>(at);
    Value v = core::read_number(&one);
    return to_python(v);
  }
  PyObject* list = PyList_New(t->sizes()[dim]);
  for (int64_t i = 0; list && i < t->sizes()[dim]; i++) {
    PyObject* x = to_list_at(t, dim + 1, at + i * t->strides()[dim] * core::itemsize(t->dtype));
    if (!x) {
      Py_DECREF(list);
      return nullptr;
    }
    PyList_SET_ITEM(list, i, x);
  }
  return list;
}

// _to_list(host tensor) -> nested lists of Python numbers; a number for a zero-dim tensor
PyObject* to_list(PyObject*, PyObject* o) {
  if (!is_tensor(o) || !core::is_host(unwrap(o)->backend))
    return PyErr_Format(PyExc_TypeError, "tolist: expected a tensor in host memory, got %s", type_name(o).c_str());
  PyObject* plain = readable(o, false);
  if (!plain) return nullptr;
  // Making a list may run the garbage collector and thus Python; the reference keeps the memory in place.
  core::Storage* held = unwrap(plain)->storage;
  core::retain(held);
  PyObject* list =
      core::is_host(unwrap(plain)->backend)
          ? to_list_at(unwrap(plain), 0, static_cast<const char*>(unwrap(plain)->dl.data))
          : PyErr_Format(PyExc_TypeError,
                         "tolist: _materialize returned a tensor on device '%s'; it must return one in host memory",
                         core::device_name(unwrap(plain)->device()).c_str());
  core::release(held);
  Py_DECREF(plain);
  return list;
}

}  // namespace

PyMethodDef interop_methods[] = {
    {"from_numpy", reinterpret_cast<PyCFunction>(from_numpy), METH_FASTCALL | METH_KEYWORDS,
     "from_numpy(ndarray, /, **keywords)\n--\n\nMakes a tensor over the array's memory, "
     "which it keeps alive; writes are visible on both sides. It warns if the array is "
     "read-only. Keywords are those that plugins contribute, such as ``names``.\n\n"
     "Raises:\n    TypeError: not an ndarray, or of a dtype without counterpart\n    "
     "ValueError: not aligned, or with a stride that is negative or no "
     "multiple of an element; pass a copy\n\n"
     ">>> import numpy\n>>> lamella.from_numpy(numpy.arange(3))\ntensor([0, 1, 2])\n"},
    {"_tensor_from", tensor_from, METH_VARARGS, nullptr},
    {"_to_list", to_list, METH_O, nullptr},
    {"_set_export_checks", set_export_checks, METH_O, nullptr},
    {"_storage_view", storage_view, METH_VARARGS, nullptr},
    {nullptr}};

}  // namespace lamella::binding
