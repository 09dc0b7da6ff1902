#include "frontend/binding/types.h"

#include <vector>

#include "core/dtype.h"
#include "core/thread.h"
#include "dispatcher/generator.h"

namespace lamella::binding {

PyTypeObject *dtype_type, *device_type, *size_type, *layout_type, *memory_format_type, *generator_type;

namespace {

using core::DType;

PyObject* loader = nullptr;

// ---- dtype ------------------------------------------------------------------------------------------------------

struct DtypeObject {
  PyObject_HEAD DType value;
};
PyObject* dtypes[256];  // each is made once and never freed

DType dtype_of(PyObject* o) { return reinterpret_cast<DtypeObject*>(o)->value; }

PyObject* dtype_repr(PyObject* o) { return PyUnicode_FromFormat("lamella.%s", core::dtype_info(dtype_of(o)).name); }
PyObject* dtype_itemsize(PyObject* o, void*) { return PyLong_FromLongLong(core::itemsize(dtype_of(o))); }
PyObject* dtype_floating(PyObject* o, void*) {
  return PyBool_FromLong(core::dtype_class(dtype_of(o)) == LAMELLA_CLASS_FLOATING);
}
PyObject* dtype_complex(PyObject* o, void*) {
  return PyBool_FromLong(core::dtype_class(dtype_of(o)) == LAMELLA_CLASS_COMPLEX);
}
PyObject* dtype_signed(PyObject* o, void*) { return PyBool_FromLong(core::is_signed(dtype_of(o))); }
// Reduces a dtype for pickle: Lamella's own dtype to its name in the module lamella, a plugin's to a call of
// dtype_named().
PyObject* dtype_reduce(PyObject* o, PyObject*) {
  const char* name = core::dtype_info(dtype_of(o)).name;
  if (dtype_of(o) < LAMELLA_FIRST_PLUGIN_DTYPE) return PyUnicode_FromString(name);
  PyObject* m = PyImport_ImportModule("lamella._storage");
  PyObject* find = m ? PyObject_GetAttrString(m, "dtype_named") : nullptr;
  Py_XDECREF(m);
  return find ? Py_BuildValue("(N(s))", find, name) : nullptr;
}

PyGetSetDef dtype_getset[] = {
    {"itemsize", dtype_itemsize, nullptr, "Bytes of one element.", nullptr},
    {"is_floating_point", dtype_floating, nullptr,
     "Whether it holds fractions: float16, bfloat16, float32, float64, or one of eight bits.", nullptr},
    {"is_complex", dtype_complex, nullptr, "Whether it is complex64 or complex128.", nullptr},
    {"is_signed", dtype_signed, nullptr, "Whether it holds negative numbers.", nullptr},
    {nullptr}};
PyMethodDef dtype_methods[] = {{"__reduce__", dtype_reduce, METH_NOARGS, nullptr}, {nullptr}};
PyType_Slot dtype_slots[] = {{Py_tp_repr, reinterpret_cast<void*>(dtype_repr)},
                             {Py_tp_getset, dtype_getset},
                             {Py_tp_methods, dtype_methods},
                             {Py_tp_doc, const_cast<char*>("An element type: lamella.float32, lamella.int64, ...")},
                             {0, nullptr}};
PyType_Spec dtype_spec = {"lamella.dtype", sizeof(DtypeObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, dtype_slots};

// ---- enumerations: layout and memory_format ----

struct EnumObject {
  PyObject_HEAD int64_t value;
  const char* name;
};
PyObject* enum_repr(PyObject* o) { return PyUnicode_FromFormat("lamella.%s", reinterpret_cast<EnumObject*>(o)->name); }
PyObject* enum_reduce(PyObject* o, PyObject*) { return PyUnicode_FromString(reinterpret_cast<EnumObject*>(o)->name); }
PyMethodDef enum_methods[] = {{"__reduce__", enum_reduce, METH_NOARGS, nullptr}, {nullptr}};
PyType_Slot layout_slots[] = {
    {Py_tp_repr, reinterpret_cast<void*>(enum_repr)},
    {Py_tp_methods, enum_methods},
    {Py_tp_doc, const_cast<char*>("How elements are stored: lamella.strided, or a sparse layout, such "
                                  "as lamella.sparse_coo.")},
    {0, nullptr}};
PyType_Slot memory_format_slots[] = {
    {Py_tp_repr, reinterpret_cast<void*>(enum_repr)},
    {Py_tp_methods, enum_methods},
    {Py_tp_doc, const_cast<char*>("The order of dimensions in memory: lamella.contiguous_format, lamella.channels_last "
                                  "or lamella.preserve_format.")},
    {0, nullptr}};
PyType_Spec layout_spec = {"lamella.layout", sizeof(EnumObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, layout_slots};
PyType_Spec memory_format_spec = {"lamella.memory_format", sizeof(EnumObject), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, memory_format_slots};

std::vector<EnumObject*> enumerators;

int add_enum(PyObject* module, PyTypeObject* type, const char* name, int64_t value) {
  auto* o = reinterpret_cast<EnumObject*>(type->tp_alloc(type, 0));
  if (!o) return -1;
  o->value = value;
  o->name = name;
  enumerators.push_back(o);  // the only object of its value; never freed
  return PyModule_AddObject(module, name, Py_NewRef(reinterpret_cast<PyObject*>(o)));
}

// ---- device ----

struct DeviceObject {
  PyObject_HEAD lamella_device value;
};
lamella_device device_of(PyObject* o) { return reinterpret_cast<DeviceObject*>(o)->value; }

bool counted(lamella_device d) {
  const lamella_backend* b = core::backend(d.backend);
  return b && b->device_count;
}

PyObject* device_repr(PyObject* o) {
  lamella_device d = device_of(o);
  if (!counted(d)) return PyUnicode_FromFormat("device(type='%s')", core::backend_name(d.backend));
  return PyUnicode_FromFormat("device(type='%s', index=%d)", core::backend_name(d.backend), d.index);
}
PyObject* device_str(PyObject* o) { return PyUnicode_FromString(core::device_name(device_of(o)).c_str()); }
PyObject* device_kind(PyObject* o, void*) { return PyUnicode_FromString(core::backend_name(device_of(o).backend)); }
PyObject* device_index(PyObject* o, void*) {
  if (!counted(device_of(o))) Py_RETURN_NONE;
  return PyLong_FromLong(device_of(o).index);
}
PyObject* device_compare(PyObject* a, PyObject* b, int op) {
  if (Py_TYPE(b) != device_type || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong(core::same_device(device_of(a), device_of(b)) == (op == Py_EQ));
}
Py_hash_t device_hash(PyObject* o) { return device_of(o).backend * 1009 + device_of(o).index + 7; }
PyObject* device_reduce(PyObject* o, PyObject*) { return Py_BuildValue("O(N)", device_type, device_str(o)); }

PyObject* device_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"type", "index", nullptr};
  PyObject *kind, *index = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:device", const_cast<char**>(names), &kind, &index))
    return nullptr;
  lamella_device d;
  int ok = read_device(kind, &d);
  if (ok < 0) return nullptr;
  if (!ok)
    return PyErr_Format(PyExc_TypeError,
                        "device: argument 'type' must be a device or a name such as 'cpu' or 'bank:1', got %s",
                        type_name(kind).c_str());
  if (index != Py_None) {
    int overflow = 0;
    long i = PyLong_Check(index) ? PyLong_AsLongAndOverflow(index, &overflow) : -1;
    if (!PyLong_Check(index) || overflow || i < 0 || i > 9999)
      return PyErr_Format(PyLong_Check(index) ? PyExc_RuntimeError : PyExc_TypeError,
                          "device: argument 'index' must be an int from 0 to 9999, got %R", index);
    d.index = static_cast<int32_t>(i);
  }
  return new_device(d);
}

// The former default devices of the open `with device:` blocks; entering one makes its device the thread's default.
thread_local std::vector<lamella_device> default_devices;

PyObject* device_enter(PyObject* o, PyObject*) {
  lamella_device& now = core::this_thread().shared.default_device;
  default_devices.push_back(now);
  now = device_of(o);
  return Py_NewRef(o);
}
PyObject* device_exit(PyObject*, PyObject*) {
  if (default_devices.empty()) {
    PyErr_SetString(PyExc_RuntimeError, "device: __exit__ on a thread that has entered no device");
    return nullptr;
  }
  core::this_thread().shared.default_device = default_devices.back();
  default_devices.pop_back();
  Py_RETURN_NONE;
}

PyGetSetDef device_getset[] = {{"type", device_kind, nullptr, "The backend's name.", nullptr},
                               {"index", device_index, nullptr,
                                "The index among the backend's devices; None if it does not number them.", nullptr},
                               {nullptr}};
PyMethodDef device_methods[] = {{"__reduce__", device_reduce, METH_NOARGS, nullptr},
                                {"__enter__", device_enter, METH_NOARGS, nullptr},
                                {"__exit__", device_exit, METH_VARARGS, nullptr},
                                {nullptr}};
PyType_Slot device_slots[] = {
    {Py_tp_repr, reinterpret_cast<void*>(device_repr)},
    {Py_tp_str, reinterpret_cast<void*>(device_str)},
    {Py_tp_getset, device_getset},
    {Py_tp_methods, device_methods},
    {Py_tp_new, reinterpret_cast<void*>(device_new)},
    {Py_tp_richcompare, reinterpret_cast<void*>(device_compare)},
    {Py_tp_hash, reinterpret_cast<void*>(device_hash)},
    {Py_tp_doc,
     const_cast<char*>("device(type, index=None)\n--\n\nThe device of a tensor: a backend's name, and an "
                       "index if the backend has several devices. As a context manager, it is the "
                       "default device of the block.\n\n>>> lamella.device('cpu')\ndevice(type='cpu')\n>>> with "
                       "lamella.device('meta'):\n...     lamella.ones(2).device\ndevice(type='meta')\n")},
    {0, nullptr}};
PyType_Spec device_spec = {"lamella.device", sizeof(DeviceObject), 0, Py_TPFLAGS_DEFAULT, device_slots};

// ---- Size ----

PyObject* size_repr(PyObject* o) {
  PyObject* list = PySequence_List(o);
  if (!list) return nullptr;
  PyObject* s = PyUnicode_FromFormat("lamella.Size(%R)", list);
  Py_DECREF(list);
  return s;
}
PyObject* size_numel(PyObject* o, PyObject*) {
  long long n = 1;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); i++) n *= PyLong_AsLongLong(PyTuple_GET_ITEM(o, i));
  return PyErr_Occurred() ? nullptr : PyLong_FromLongLong(n);
}
// Converts a plain tuple, which a slice or a sum of sizes gave, to a Size. Takes the tuple over.
PyObject* as_size(PyObject* tuple) {
  if (!tuple || !PyTuple_CheckExact(tuple)) return tuple;
  Py_ssize_t n = PyTuple_GET_SIZE(tuple);
  PyObject* o = size_type->tp_alloc(size_type, n);
  for (Py_ssize_t i = 0; o && i < n; i++) PyTuple_SET_ITEM(o, i, Py_NewRef(PyTuple_GET_ITEM(tuple, i)));
  Py_DECREF(tuple);
  return o;
}
PyObject* size_subscript(PyObject* o, PyObject* index) {
  return as_size(PyTuple_Type.tp_as_mapping->mp_subscript(o, index));
}
PyObject* size_concat(PyObject* a, PyObject* b) { return as_size(PyTuple_Type.tp_as_sequence->sq_concat(a, b)); }
PyMethodDef size_methods[] = {{"numel", size_numel, METH_NOARGS, "The product of the sizes."}, {nullptr}};
PyType_Slot size_slots[] = {
    {Py_mp_subscript, reinterpret_cast<void*>(size_subscript)},
    {Py_sq_concat, reinterpret_cast<void*>(size_concat)},
    {Py_tp_repr, reinterpret_cast<void*>(size_repr)},
    {Py_tp_methods, size_methods},
    {Py_tp_doc, const_cast<char*>("The sizes of a tensor: a tuple.\n\n>>> lamella.ones(2, 3).shape.numel()\n6\n")},
    {0, nullptr}};
PyType_Spec size_spec = {"lamella.Size", 0, 0, Py_TPFLAGS_DEFAULT, size_slots};

// ---- Generator ----

struct GeneratorObject {
  PyObject_HEAD lamella_object* value;
};
lamella_object* generator_of(PyObject* o) { return reinterpret_cast<GeneratorObject*>(o)->value; }

PyObject* generator_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"device", nullptr};
  PyObject* where = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Generator", const_cast<char**>(names), &where)) return nullptr;
  lamella_device d = {core::host_backend(), 0};
  if (where && where != Py_None) {
    int ok = read_device(where, &d);
    if (ok < 0) return nullptr;
    if (!ok)
      return PyErr_Format(PyExc_TypeError, "Generator: argument 'device' must be a device or its name, got %s",
                          type_name(where).c_str());
  }
  return new_generator_object(dispatcher::new_generator(d, 67280421310721));
}
void generator_dealloc(PyObject* o) {
  core::release(generator_of(o));
  PyTypeObject* t = Py_TYPE(o);
  t->tp_free(o);
  Py_DECREF(t);
}
PyObject* generator_manual_seed(PyObject* o, PyObject* seed) {
  uint64_t s;
  if (!read_seed(seed, &s)) return nullptr;
  dispatcher::generator_set(generator_of(o), {s, 0});
  return Py_NewRef(o);
}
PyObject* generator_initial_seed(PyObject* o, PyObject*) {
  return PyLong_FromUnsignedLongLong(dispatcher::generator_state(generator_of(o)).seed);
}
PyObject* generator_get_state(PyObject* o, PyObject*) {
  auto s = dispatcher::generator_state(generator_of(o));
  return Py_BuildValue("KK", static_cast<unsigned long long>(s.seed), static_cast<unsigned long long>(s.offset));
}
PyObject* generator_set_state(PyObject* o, PyObject* state) {
  unsigned long long seed, offset;
  if (!PyTuple_Check(state) || !PyArg_ParseTuple(state, "KK", &seed, &offset))
    return PyErr_Format(PyExc_TypeError,
                        "set_state: argument 'state' must be a tuple (seed, offset), as get_state() returns, got %s",
                        type_name(state).c_str());
  if (offset % 4)
    return PyErr_Format(PyExc_ValueError, "set_state: argument 'state': the offset %llu is no multiple of 4", offset);
  dispatcher::generator_set(generator_of(o), {seed, offset});
  return Py_NewRef(o);
}
PyObject* generator_reduce(PyObject* o, PyObject*) {
  PyObject* where = new_device(dispatcher::generator_device(generator_of(o)));
  return Py_BuildValue("O(N)N", generator_type, where, generator_get_state(o, nullptr));
}
PyObject* generator_device(PyObject* o, void*) { return new_device(dispatcher::generator_device(generator_of(o))); }

PyMethodDef generator_methods[] = {
    {"manual_seed", generator_manual_seed, METH_O, "Starts the stream of this seed anew; returns the generator."},
    {"initial_seed", generator_initial_seed, METH_NOARGS, "The seed."},
    {"get_state", generator_get_state, METH_NOARGS, "(seed, offset), for set_state."},
    {"set_state", generator_set_state, METH_O, "Goes on from a state that get_state gave."},
    {"__setstate__", generator_set_state, METH_O, nullptr},
    {"__reduce__", generator_reduce, METH_NOARGS, nullptr},
    {nullptr}};
PyGetSetDef generator_getset[] = {
    {"device", generator_device, nullptr, "The device whose random kernels draw from it.", nullptr}, {nullptr}};
PyType_Slot generator_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(generator_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(generator_dealloc)},
    {Py_tp_methods, generator_methods},
    {Py_tp_getset, generator_getset},
    {Py_tp_doc,
     const_cast<char*>("Generator(device='cpu')\n--\n\nA stream of random numbers: a seed and a position in Philox's "
                       "sequence.\n\n>>> g = lamella.Generator().manual_seed(1)\n>>> g.initial_seed()\n1\n")},
    {0, nullptr}};
PyType_Spec generator_spec = {"lamella.Generator", sizeof(GeneratorObject), 0, Py_TPFLAGS_DEFAULT, generator_slots};

PyTypeObject* make(PyObject* module, PyType_Spec* spec, PyObject* bases = nullptr) {
  PyObject* t = PyType_FromSpecWithBases(spec, bases);
  if (!t || PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(t)) < 0) return nullptr;
  return reinterpret_cast<PyTypeObject*>(t);
}

}  // namespace

PyObject* dtype_object(DType t) {
  if (__builtin_expect(!dtypes[t], 0) && (dtypes[t] = dtype_type->tp_alloc(dtype_type, 0)))
    reinterpret_cast<DtypeObject*>(dtypes[t])->value = t;
  return dtypes[t];
}

bool read_seed(PyObject* o, uint64_t* out) {
  PyObject* number = PyIndex_Check(o) ? PyNumber_Index(o) : nullptr;  // numpy's integers and tensors have __index__
  if (!number) {
    if (!PyErr_Occurred())
      PyErr_Format(PyExc_TypeError, "manual_seed: argument 'seed' must be int, got %s", type_name(o).c_str());
    return false;
  }
  int overflow;
  const long long s = PyLong_AsLongLongAndOverflow(number, &overflow);
  *out = overflow > 0 ? PyLong_AsUnsignedLongLong(number) : static_cast<uint64_t>(s);
  Py_DECREF(number);
  if (overflow >= 0 && !PyErr_Occurred()) return true;
  PyErr_Clear();
  PyErr_Format(PyExc_ValueError, "manual_seed: argument 'seed': %R does not fit 64 bits", o);
  return false;
}

PyObject* new_device(lamella_device d) {
  PyObject* o = device_type->tp_alloc(device_type, 0);
  if (o) reinterpret_cast<DeviceObject*>(o)->value = d;
  return o;
}

static PyObject* fill_ints(PyObject* tuple, const int64_t* values, Py_ssize_t n) {
  if (!tuple) return nullptr;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject* x = PyLong_FromLongLong(values[i]);
    if (!x) {
      Py_DECREF(tuple);
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple, i, x);
  }
  return tuple;
}

PyObject* new_size(const int64_t* sizes, Py_ssize_t n) {
  return fill_ints(size_type->tp_alloc(size_type, n), sizes, n);
}
PyObject* new_tuple(const int64_t* values, Py_ssize_t n) { return fill_ints(PyTuple_New(n), values, n); }

PyObject* new_generator_object(lamella_object* owned) {
  PyObject* o = generator_type->tp_alloc(generator_type, 0);
  if (o) reinterpret_cast<GeneratorObject*>(o)->value = owned;
  return o;
}

bool read_dtype(PyObject* o, DType* out) {
  if (Py_TYPE(o) == dtype_type)
    *out = dtype_of(o);
  else if (o == reinterpret_cast<PyObject*>(&PyFloat_Type))
    *out = core::default_dtype();
  else if (o == reinterpret_cast<PyObject*>(&PyLong_Type))
    *out = LAMELLA_INT64;
  else if (o == reinterpret_cast<PyObject*>(&PyBool_Type))
    *out = LAMELLA_BOOL;
  else if (o == reinterpret_cast<PyObject*>(&PyComplex_Type))
    *out = core::complex_of(core::default_dtype());
  else if (PyUnicode_Check(o))
    *out = core::dtype_from_name(text_of(o).c_str());
  else
    return false;
  return core::is_dtype(*out);
}

int read_device(PyObject* o, lamella_device* out) {
  if (Py_TYPE(o) == device_type) {
    *out = device_of(o);
    return 1;
  }
  if (!PyUnicode_Check(o)) return 0;
  const std::string text = text_of(o);
  std::string name;
  int32_t index;
  if (!core::split_device(text, &name, &index)) {
    PyErr_Format(PyExc_RuntimeError,
                 "device: '%s' is no device; expected a name, or a name and an index as in 'bank:1'", text.c_str());
    return -1;
  }
  int32_t id = core::backend_id(name.c_str());
  if (id < 0 && loader) {  // the backend is not loaded yet: the manager loads it, or raises with the reason
    PyObject* r = PyObject_CallFunction(loader, "s", name.c_str());
    if (!r) return -1;
    Py_DECREF(r);
    id = core::backend_id(name.c_str());
  }
  if (id < 0) {
    PyErr_Format(PyExc_RuntimeError, "device: there is no backend '%s'", name.c_str());
    return -1;
  }
  if (index < 0 && core::current_index(id, &index)) {
    raise_pending();
    return -1;
  }
  *out = {id, index};
  return 1;
}

bool read_generator(PyObject* o, lamella_object** borrowed) {
  if (Py_TYPE(o) != generator_type) return false;
  *borrowed = generator_of(o);
  return true;
}

bool read_enum(PyObject* o, PyTypeObject* type, int64_t* out) {
  if (Py_TYPE(o) != type) return false;
  *out = reinterpret_cast<EnumObject*>(o)->value;
  return true;
}

PyObject* enumerator(PyTypeObject* type, int64_t value) {
  for (EnumObject* o : enumerators)
    if (Py_TYPE(o) == type && o->value == value) return Py_NewRef(reinterpret_cast<PyObject*>(o));
  return PyLong_FromLongLong(value);
}

void set_backend_loader(PyObject* callable) { Py_XSETREF(loader, Py_NewRef(callable)); }

int init_types(PyObject* m) {
  if (!(dtype_type = make(m, &dtype_spec)) || !(device_type = make(m, &device_spec)) ||
      !(layout_type = make(m, &layout_spec)) || !(memory_format_type = make(m, &memory_format_spec)) ||
      !(generator_type = make(m, &generator_spec)))
    return -1;
  if (!(size_type = make(m, &size_spec, reinterpret_cast<PyObject*>(&PyTuple_Type)))) return -1;
  for (DType t = 0; t < LAMELLA_FIRST_PLUGIN_DTYPE; t++) {
    if (!core::is_dtype(t)) continue;
    PyObject* o = dtype_object(t);
    if (!o) return -1;
    const core::DTypeInfo& info = core::dtype_info(t);
    if (PyModule_AddObject(m, info.name, Py_NewRef(o)) < 0) return -1;
    if (*info.aliases && PyModule_AddObject(m, info.aliases, Py_NewRef(o)) < 0) return -1;
  }
  const char* const layouts[] = {"strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"};
  for (int64_t i = 0; i < 6; i++)
    if (add_enum(m, layout_type, layouts[i], i) < 0) return -1;
  if (add_enum(m, memory_format_type, "contiguous_format", LAMELLA_CONTIGUOUS_FORMAT) < 0) return -1;
  if (add_enum(m, memory_format_type, "channels_last", LAMELLA_CHANNELS_LAST) < 0) return -1;
  return add_enum(m, memory_format_type, "preserve_format", LAMELLA_PRESERVE_FORMAT);
}

}  // namespace lamella::binding
