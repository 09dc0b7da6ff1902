#include "frontend/binding/buffer.h"

#include <algorithm>

#include "core/dtype.h"
#include "frontend/binding/conversion.h"
#include "frontend/binding/packet.h"
#include "frontend/binding/tensor_object.h"
#include "frontend/binding/types.h"

namespace lamella::binding {
namespace {

using core::DType;

// Returns the format of a dtype in Python's buffer protocol; null if there is none.
const char* format_of(DType t) {
  switch (t) {
    case LAMELLA_BOOL:
      return "?";
    case LAMELLA_UINT8:
      return "B";
    case LAMELLA_UINT16:
      return "H";
    case LAMELLA_UINT32:
      return "I";
    case LAMELLA_UINT64:
      return "L";
    case LAMELLA_INT8:
      return "b";
    case LAMELLA_INT16:
      return "h";
    case LAMELLA_INT32:
      return "i";
    case LAMELLA_INT64:
      return "l";
    case LAMELLA_FLOAT16:
      return "e";
    case LAMELLA_FLOAT32:
      return "f";
    case LAMELLA_FLOAT64:
      return "d";
    case LAMELLA_COMPLEX64:
      return "Zf";
    case LAMELLA_COMPLEX128:
      return "Zd";
    default:
      return nullptr;
  }
}

// The state of one exported buffer, freed when the buffer is released.
struct Export {
  Tensor* pin;  // a second tensor over the storage, so that resizing the first does not free exported memory
  Py_ssize_t shape[LAMELLA_MAX_DIMS];
  Py_ssize_t strides[LAMELLA_MAX_DIMS];
};

bool asks(int flags, int what) { return (flags & what) == what; }

bool column_major(const Tensor* t) {
  int64_t expected = 1;
  for (int i = 0; i < t->ndim(); i++) {
    if (t->sizes()[i] != 1 && t->strides()[i] != expected && t->numel > 0) return false;
    expected *= t->sizes()[i];
  }
  return true;
}

// Returns why the tensor cannot be exported with these flags, as a format with at most one %s, for the device's or
// the dtype's name; null if it can.
const char* obstacle(const Tensor* t, int flags) {
  if (!core::is_host(t->backend)) return "lies on device '%s', which the host does not read; use .cpu()";
  if (!format_of(t->dtype)) return "has elements of dtype %s, for which buffers have no format; use .float()";
  const bool rows = t->contiguous(), columns = column_major(t);
  const bool fits = asks(flags, PyBUF_ANY_CONTIGUOUS)                                ? rows || columns
                    : asks(flags, PyBUF_F_CONTIGUOUS)                                ? columns
                    : asks(flags, PyBUF_C_CONTIGUOUS) || !asks(flags, PyBUF_STRIDES) ? rows
                                                                                     : true;
  return fits ? nullptr : "is not contiguous, which the reader needs; use .contiguous()";
}

PyObject* export_checks = nullptr;

}  // namespace

bool warn_read_only(const char* who) {
  return PyErr_WarnFormat(PyExc_UserWarning, 1,
                          "%s: the array is not writable, and a tensor over its memory may be written to, with "
                          "undefined results; pass array.copy(), or use lamella.tensor(array)",
                          who) == 0;
}

bool may_export(PyObject* tensor, ExportAs as) {
  const Tensor* t = unwrap(tensor);
  // The storage's sticky bits count as well: a view that was not used since its base was written may lack the bit
  // itself.
  if (!(t->keys | t->storage->sticky) || !export_checks) return true;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(export_checks); i++) {
    PyObject* check = Py_NewRef(PyList_GET_ITEM(export_checks, i));
    PyObject* done = PyObject_CallFunction(check, "Os", tensor, as == ExportAs::Memory ? "memory" : "number");
    Py_DECREF(check);
    if (!done) return false;
    Py_DECREF(done);
  }
  return true;
}

PyObject* set_export_checks(PyObject*, PyObject* list) {
  if (!PyList_Check(list))
    return PyErr_Format(PyExc_TypeError, "_set_export_checks: expected a list, got %s", type_name(list).c_str());
  Py_XSETREF(export_checks, Py_NewRef(list));
  Py_RETURN_NONE;
}

PyObject* readable(PyObject* tensor, bool shared) {
  const Tensor* t = unwrap(tensor);
  if (!t->opaque() && !t->storage->sticky) return Py_NewRef(tensor);  // a layer that follows the memory sees the call
  PyObject* op = packet("aten::_materialize");
  PyObject* keywords = op ? Py_BuildValue("{s:O}", "shared", shared ? Py_True : Py_False) : nullptr;
  PyObject* args = keywords ? PyTuple_Pack(1, tensor) : nullptr;
  PyObject* found = args ? PyObject_Call(op, args, keywords) : nullptr;
  Py_XDECREF(args);
  Py_XDECREF(keywords);
  if (!found || !unwrap(found)->opaque()) return found;
  Py_DECREF(found);
  return PyErr_Format(PyExc_RuntimeError,
                      "_materialize: the layer's kernel returned an opaque tensor; it must return one with memory");
}

int get_buffer(PyObject* tensor, Py_buffer* view, int flags) {
  Tensor* t = unwrap(tensor);
  view->obj = nullptr;
  if (!may_export(tensor, ExportAs::Memory)) return -1;
  if (t->opaque()) {
    PyObject* plain = readable(tensor, true);
    const int got = plain ? get_buffer(plain, view, flags) : -1;
    Py_XDECREF(plain);
    return got;
  }
  if (const char* why = obstacle(t, flags)) {
    const std::string name =
        core::is_host(t->backend) ? core::dtype_info(t->dtype).name : core::device_name(t->device());
    PyErr_Format(PyExc_BufferError, (std::string("buffer: the tensor ") + why).c_str(), name.c_str());
    return -1;
  }
  const int64_t item = core::itemsize(t->dtype);
  auto* e = new Export;
  e->pin = core::new_alias(t);
  std::copy_n(t->sizes(), t->ndim(), e->shape);
  for (int i = t->ndim() - 1; i >= 0; i--)  // strides for an empty tensor are valid too, since readers check them
    e->strides[i] = t->numel ? t->strides()[i] * item : i + 1 == t->ndim() ? item : e->strides[i + 1] * e->shape[i + 1];
  view->buf = t->dl.data ? t->dl.data : e;  // not null, even for a tensor without elements
  view->len = t->numel * item;
  view->itemsize = item;
  view->readonly = 0;
  view->ndim = asks(flags, PyBUF_ND) ? t->ndim() : 1;
  view->format = asks(flags, PyBUF_FORMAT) ? const_cast<char*>(format_of(t->dtype)) : nullptr;
  view->shape = asks(flags, PyBUF_ND) ? e->shape : nullptr;
  view->strides = asks(flags, PyBUF_STRIDES) ? e->strides : nullptr;
  view->suboffsets = nullptr;
  view->internal = e;
  view->obj = Py_NewRef(tensor);
  return 0;
}

void release_buffer_export(PyObject*, Py_buffer* view) {
  auto* e = static_cast<Export*>(view->internal);
  core::release(e->pin);
  delete e;
}

PyObject* storage_view(PyObject*, PyObject* args) {
  PyObject *tensor, *dtype, *size, *stride;
  long long offset;
  if (!PyArg_ParseTuple(args, "OOO!O!L:_storage_view", &tensor, &dtype, &PyTuple_Type, &size, &PyTuple_Type, &stride,
                        &offset))
    return nullptr;
  DType t;
  const Py_ssize_t ndim = PyTuple_GET_SIZE(size);
  if (!is_tensor(tensor) || !read_dtype(dtype, &t) || ndim != PyTuple_GET_SIZE(stride) || ndim > LAMELLA_MAX_DIMS ||
      offset < 0)
    return PyErr_Format(
        PyExc_ValueError,
        "storage: expected a tensor, a dtype, at most %d sizes, as many strides, and an offset that is not negative",
        LAMELLA_MAX_DIMS);
  // Computes the position of the last element with overflow checks, so that forged numbers cause an error and no access
  // outside of the memory.
  int64_t sizes[LAMELLA_MAX_DIMS], strides[LAMELLA_MAX_DIMS], numel = 1, last = offset, bytes = 0;
  bool counted = true, within = true, empty = false;
  for (Py_ssize_t i = 0; i < ndim; i++) {
    if (!as_index(PyTuple_GET_ITEM(size, i), &sizes[i]) || !as_index(PyTuple_GET_ITEM(stride, i), &strides[i]) ||
        sizes[i] < 0 || strides[i] < 0) {
      PyErr_Clear();
      return PyErr_Format(PyExc_ValueError,
                          "storage: sizes and strides must be ints that are not negative, got %R and %R", size, stride);
    }
    int64_t way;
    counted &= !__builtin_mul_overflow(numel, std::max<int64_t>(sizes[i], 1), &numel);
    within &= !__builtin_mul_overflow(std::max<int64_t>(sizes[i] - 1, 0), strides[i], &way) &&
              !__builtin_add_overflow(last, way, &last);
    empty |= sizes[i] == 0;
  }
  core::Storage* s = unwrap(tensor)->storage;
  if (unwrap(tensor)->opaque() && t != LAMELLA_UINT8)
    return PyErr_Format(PyExc_NotImplementedError,
                        "storage: the tensor is opaque, so that its memory, untyped_storage(), is only bytes");
  const int64_t item = core::itemsize(t);
  counted &= !__builtin_mul_overflow(numel, item, &bytes);
  within &= !__builtin_add_overflow(last, 1, &last) && !__builtin_mul_overflow(last, item, &bytes) && bytes <= s->bytes;
  if (!counted || (!within && !empty))  // an empty tensor reaches nowhere, whatever its strides are
    return PyErr_Format(PyExc_ValueError,
                        "storage: sizes and strides from offset %lld reach beyond the storage's %lld bytes", offset,
                        (long long)s->bytes);
  return wrap(core::tensor_over(s, static_cast<int>(ndim), sizes, strides, offset, t));
}

}  // namespace lamella::binding
