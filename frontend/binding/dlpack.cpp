#include "frontend/binding/dlpack.h"

#include <algorithm>
#include <cstring>

#include "core/device.h"
#include "dispatcher/transfer.h"
#include "frontend/binding/buffer.h"
#include "frontend/binding/conversion.h"
#include "frontend/binding/tensor_object.h"

namespace lamella::binding {
namespace {

using core::DType;

template <class Managed>
void delete_export(Managed* m) {
  core::release(static_cast<Tensor*>(m->manager_ctx));
  delete[] m->dl_tensor.shape;
  delete m;
}

template <class Managed>
Managed* make_export(Tensor* t) {
  auto* m = new Managed{};
  // A second tensor over the storage, so that resizing the first does not free exported memory.
  Tensor* pin = core::new_alias(t);
  m->dl_tensor = t->dl;
  m->dl_tensor.shape = new int64_t[2 * t->ndim() + 1];
  m->dl_tensor.strides = m->dl_tensor.shape + t->ndim();
  std::memcpy(m->dl_tensor.shape, t->sizes(), 8 * t->ndim());
  std::memcpy(m->dl_tensor.strides, t->strides(), 8 * t->ndim());
  m->manager_ctx = pin;
  m->deleter = delete_export<Managed>;
  return m;
}

template <class Managed>
void destroy_capsule(PyObject* capsule) {
  const char* name = PyCapsule_GetName(capsule);
  if (!name || std::strncmp(name, "dltensor", 8) != 0) return;  // "used_...": the consumer owns it
  auto* m = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (m && m->deleter) m->deleter(m);
}

// _dlpack_device(tensor) -> (DLPack's device type, index)
PyObject* dlpack_device(PyObject*, PyObject* o) {
  if (!is_tensor(o))
    return PyErr_Format(PyExc_TypeError, "__dlpack_device__: expected a Tensor, got %s", type_name(o).c_str());
  return Py_BuildValue("(ii)", static_cast<int>(unwrap(o)->dl.device.device_type),
                       static_cast<int>(unwrap(o)->dl.device.device_id));
}

// Note [Streams in DLPack]  The consumer passes the handle of the stream on which it will read, as a number; -1 means
//   that no order is needed, and None the default stream. CUDA's default stream has the handle null and the number 1.
//   The producer makes the consumer's stream wait for its own current one.
constexpr int64_t cuda_default = 1, cuda_thread = 2;

const lamella_backend* with_streams(lamella_device d) {
  const lamella_backend* b = core::backend(d.backend);
  return b && b->stream_current && b->stream_default ? b : nullptr;
}

// Makes the consumer's stream wait for the device's current stream. Returns false with an exception.
bool order_for_consumer(lamella_device d, PyObject* stream) {
  const lamella_backend* b = with_streams(d);
  int64_t number = -1;
  if (stream != Py_None) {
    if (!as_index(stream, &number)) {
      if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "__dlpack__: argument 'stream' must be an integer or None, got %s",
                     type_name(stream).c_str());
      return false;
    }
    const bool cuda = b && b->dlpack_type == kDLCUDA;
    if (number == -1) return true;
    if (!b || number < -1 || (cuda && (number == 0 || number == cuda_thread))) {
      PyErr_Format(PyExc_BufferError,
                   b ? "__dlpack__: argument 'stream': device '%s' has no stream %S"
                     : "__dlpack__: argument 'stream': device '%s' has no streams, pass None and not %S",
                   core::device_name(d).c_str(), stream);
      return false;
    }
    if (cuda && number == cuda_default) number = 0;
  }
  if (!b) return true;
  void *now, *consumer = reinterpret_cast<void*>(number);
  lamella_status st = b->stream_current(b->context, d.index, &now);
  if (!st && (stream == Py_None || number == 0)) st = b->stream_default(b->context, d.index, &consumer);
  if (!st) st = dispatcher::run_behind(d, consumer, now);
  if (st) raise_pending();
  return !st;
}

// _dlpack_stream((device type, index)) -> the number of the current stream, to be passed to a producer; None if no
// loaded backend with streams has the device type
PyObject* dlpack_stream(PyObject*, PyObject* args) {
  int type, index;
  if (!PyArg_ParseTuple(args, "ii", &type, &index)) return nullptr;
  for (int32_t i = 1; i < core::backend_count(); i++) {
    const lamella_backend* b = with_streams({i, index});
    if (!b || b->dlpack_type != type) continue;
    void* now;
    if (core::check_device("from_dlpack", {i, index}) || b->stream_current(b->context, index, &now))
      return raise_pending();
    if (!now && type == kDLCUDA) return PyLong_FromLongLong(cuda_default);
    return PyLong_FromVoidPtr(now);
  }
  Py_RETURN_NONE;
}

PyObject* to_dlpack(PyObject*, PyObject* args) {
  PyObject *o, *stream;
  int versioned;
  if (!PyArg_ParseTuple(args, "OpO", &o, &versioned, &stream)) return nullptr;
  if (!is_tensor(o))
    return PyErr_Format(PyExc_TypeError, "__dlpack__: expected a Tensor, got %s", type_name(o).c_str());
  if (!may_export(o, ExportAs::Memory)) return nullptr;
  PyObject* plain = readable(o, true);
  if (!plain) return nullptr;
  Tensor* t = unwrap(plain);  // the export holds the storage
  if (t->backend == core::meta_backend || (plain != o && !may_export(plain, ExportAs::Memory))) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_BufferError, "__dlpack__: tensors on device 'meta' have no data");
    Py_DECREF(plain);
    return nullptr;
  }
  if (t->dl.dtype.code == kDLOpaqueHandle) {
    PyErr_Format(PyExc_BufferError, "__dlpack__: DLPack has no type for elements of dtype %s; convert them first",
                 core::dtype_info(t->dtype).name);
    Py_DECREF(plain);
    return nullptr;
  }
  if (!order_for_consumer(t->device(), stream)) {
    Py_DECREF(plain);
    return nullptr;
  }
  if (!versioned) {
    auto* m = make_export<DLManagedTensor>(t);
    Py_DECREF(plain);
    return PyCapsule_New(m, "dltensor", destroy_capsule<DLManagedTensor>);
  }
  auto* m = make_export<DLManagedTensorVersioned>(t);
  Py_DECREF(plain);
  m->version = {1, 0};
  return PyCapsule_New(m, "dltensor_versioned", destroy_capsule<DLManagedTensorVersioned>);
}

template <class Managed>
PyObject* import_managed(Managed* m) {
  DLTensor& d = m->dl_tensor;
  DType dtype = core::dtype_from_dlpack(d.dtype);
  if (dtype == LAMELLA_NO_DTYPE)
    return PyErr_Format(
        PyExc_BufferError,
        "from_dlpack: no dtype has DLPack's type code %d, %d bits and %d lanes; convert the array first", d.dtype.code,
        d.dtype.bits, d.dtype.lanes);
  lamella_device where = {-1, d.device.device_id};
  for (int32_t i = 1; i < core::backend_count(); i++) {
    if (!core::backend(i) || core::backend(i)->dlpack_type != d.device.device_type) continue;
    if (where.backend >= 0)
      return PyErr_Format(PyExc_BufferError,
                          "from_dlpack: the backends '%s' and '%s' both have DLPack's device type %d, so the owner "
                          "of the memory is unknown; copy through the host",
                          core::backend_name(where.backend), core::backend_name(i), d.device.device_type);
    where.backend = i;
  }
  if (where.backend < 0)
    return PyErr_Format(PyExc_BufferError, "from_dlpack: no backend is loaded for DLPack's device type %d",
                        d.device.device_type);
  if (core::check_device("from_dlpack", where)) {
    raise_pending();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_Format(PyExc_BufferError, "%S", value);
    for (PyObject* o : {type, value, trace}) Py_XDECREF(o);
    return nullptr;
  }
  if (!core::has_dtype(core::backend(where.backend), dtype))
    return PyErr_Format(PyExc_BufferError,
                        "from_dlpack: device '%s' does not support dtype %s; convert the array first",
                        core::backend_name(where.backend), core::dtype_info(dtype).name);
  if (d.ndim > LAMELLA_MAX_DIMS || d.ndim < 0)
    return PyErr_Format(PyExc_BufferError, "from_dlpack: %d dimensions, at most %d are supported", d.ndim,
                        LAMELLA_MAX_DIMS);
  int64_t strides[LAMELLA_MAX_DIMS];
  for (int i = 0; i < d.ndim; i++) {
    if (d.shape[i] < 0)
      return PyErr_Format(PyExc_BufferError, "from_dlpack: size %lld is negative", (long long)d.shape[i]);
    if (d.strides && d.strides[i] < 0 && d.shape[i] > 1)
      return PyErr_Format(PyExc_BufferError,
                          "from_dlpack: dimension %d has a negative stride, which tensors don't have; export a copy",
                          i);
  }
  if (d.strides)
    std::copy(d.strides, d.strides + d.ndim, strides);
  else
    core::contiguous_strides(d.ndim, d.shape, strides);
  for (int i = 0; i < d.ndim; i++) strides[i] = std::max<int64_t>(strides[i], 0);
  int64_t bytes = core::span_bytes(d.ndim, d.shape, strides, core::itemsize(dtype));
  auto release = [](void* c) {
    auto* managed = static_cast<Managed*>(c);
    if (!managed->deleter || !Py_IsInitialized()) return;
    Gil gil;
    managed->deleter(managed);
  };
  core::Storage* s = core::foreign_storage(static_cast<char*>(d.data) + d.byte_offset, bytes, where, release, m);
  Tensor* t = core::tensor_over(s, d.ndim, d.shape, strides, 0, dtype);
  core::release(s);
  return wrap(t);
}

// _from_dlpack(capsule, read_only) -> tensor. read_only: "refuse" raises for memory that is read-only, "warn" warns of
// it, since a tensor may be written to, and "take" takes it, for a caller that only reads the tensor.
PyObject* from_dlpack_capsule(PyObject*, PyObject* args) {
  PyObject* capsule;
  const char* read_only;
  if (!PyArg_ParseTuple(args, "Os:_from_dlpack", &capsule, &read_only)) return nullptr;
  const char* name = PyCapsule_CheckExact(capsule) ? PyCapsule_GetName(capsule) : nullptr;
  PyObject* r = nullptr;
  if (name && !std::strcmp(name, "dltensor")) {
    r = import_managed(static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, name)));
    if (r) PyCapsule_SetName(capsule, "used_dltensor");
  } else if (name && !std::strcmp(name, "dltensor_versioned")) {
    auto* m = static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, name));
    if (m->version.major != 1)
      return PyErr_Format(PyExc_BufferError, "from_dlpack: version %u.%u of DLPack is not supported, 1.x is",
                          m->version.major, m->version.minor);
    const bool locked = m->flags & DLPACK_FLAG_BITMASK_READ_ONLY;
    if (locked && !std::strcmp(read_only, "refuse"))
      return PyErr_Format(PyExc_BufferError,
                          "from_dlpack: the array is read-only, and a tensor may be written to; export a copy");
    if (locked && !std::strcmp(read_only, "warn") && !warn_read_only("from_dlpack")) return nullptr;
    r = import_managed(m);
    if (r) PyCapsule_SetName(capsule, "used_dltensor_versioned");
  } else {
    return PyErr_Format(PyExc_TypeError,
                        "from_dlpack: expected an object with __dlpack__ or a fresh DLPack capsule, got %s",
                        type_name(capsule).c_str());
  }
  return r;
}

}  // namespace

PyMethodDef dlpack_methods[] = {{"_to_dlpack", to_dlpack, METH_VARARGS, nullptr},
                                {"_dlpack_device", dlpack_device, METH_O, nullptr},
                                {"_dlpack_stream", dlpack_stream, METH_VARARGS, nullptr},
                                {"_from_dlpack", from_dlpack_capsule, METH_VARARGS, nullptr},
                                {nullptr}};

}  // namespace lamella::binding
