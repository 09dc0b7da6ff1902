#include "frontend/binding/protocols.h"

#include "dispatcher/dims.h"
#include "dispatcher/restricted.h"
#include "frontend/binding/buffer.h"
#include "frontend/binding/interop.h"
#include "frontend/binding/named_dims.h"
#include "frontend/binding/packet.h"
#include "frontend/binding/plugin_attributes.h"
#include "frontend/binding/tensor_object.h"
#include "frontend/binding/types.h"

namespace lamella::binding {
namespace {

// The packets that the protocols call, set by init_protocols.
struct Packets {
  PyObject *add, *sub, *rsub, *mul, *div, *floor_divide, *pow, *neg, *abs, *matmul;
  PyObject *add_, *sub_, *mul_, *div_, *floor_divide_, *pow_;
  PyObject *eq, *ne, *lt, *le, *gt, *ge, *item, *select, *t, *permute;
  // Null if the catalogue lacks the operator.
  PyObject *remainder, *bitwise_and, *bitwise_or, *bitwise_xor, *bitwise_not, *bitwise_left_shift, *bitwise_right_shift;
  PyObject *remainder_, *bitwise_and_, *bitwise_or_, *bitwise_xor_, *bitwise_left_shift_, *bitwise_right_shift_;
} ops;

// ---- numbers ----

template <PyObject* Packets::*Op>
PyObject* binary(PyObject* a, PyObject* b) {
  PyObject* args[2] = {a, b};
  return try_packet(ops.*Op, args, 2);
}

// Calls a commutative operator with the tensor first, because torch has no overload with the number first.
template <PyObject* Packets::*Op>
PyObject* commutative(PyObject* a, PyObject* b) {
  PyObject* args[2] = {a, b};
  if (!is_tensor(a)) std::swap(args[0], args[1]);
  return try_packet(ops.*Op, args, 2);
}

// A protocol whose operator the catalogue may lack.
template <PyObject* Packets::*Op>
PyObject* optional(PyObject* a, PyObject* b) {
  if (!(ops.*Op)) Py_RETURN_NOTIMPLEMENTED;
  return binary<Op>(a, b);
}

// Converts an array operand of an in-place operator. If it returned NotImplemented as other operators do, Python would
// bind the name in `t += array` to a new tensor.
template <PyObject* Packets::*Op>
PyObject* inplace(PyObject* a, PyObject* b) {
  PyObject* r = optional<Op>(a, b);
  if (r != Py_NotImplemented || !(ops.*Op) || !is_ndarray(b)) return r;
  Py_DECREF(r);
  PyObject* array = tensor_of_array(b);
  if (!array) return nullptr;
  PyObject* args[2] = {a, array};
  r = call_packet(ops.*Op, args, 2);
  Py_DECREF(array);
  return r;
}

PyObject* subtract(PyObject* a, PyObject* b) {
  if (is_tensor(a)) return binary<&Packets::sub>(a, b);
  PyObject* args[2] = {b, a};
  return try_packet(ops.rsub, args, 2);
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary<&Packets::pow>(a, b);
}
PyObject* power_(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return inplace<&Packets::pow_>(a, b);
}

template <PyObject* Packets::*Op>
PyObject* unary(PyObject* a) {
  return call_packet(ops.*Op, &a, 1);
}
PyObject* positive(PyObject* a) { return Py_NewRef(a); }

PyObject* invert(PyObject* a) {
  if (core::dtype_class(unwrap(a)->dtype) > LAMELLA_CLASS_INTEGRAL)
    return PyErr_Format(PyExc_TypeError, "~: expected a bool or integer tensor, got %s",
                        core::dtype_info(unwrap(a)->dtype).name);
  return call_packet(ops.bitwise_not, &a, 1);
}

PyObject* item(PyObject* a) { return call_packet(ops.item, &a, 1); }
PyObject* item_method(PyObject* a, PyObject*) { return item(a); }

int as_bool(PyObject* a) {
  Tensor* t = unwrap(a);
  if (t->numel != 1) {
    PyErr_Format(PyExc_RuntimeError, "bool: a tensor of shape %s has no truth value; use .any() or compare .item()",
                 core::shape_string(t).c_str());
    return -1;
  }
  PyObject* number = item(a);
  if (!number) return -1;
  int r = PyObject_IsTrue(number);
  Py_DECREF(number);
  return r;
}

// Converts the only element. Several are a ValueError, as in torch and numpy: libraries that try float(x) expect it.
PyObject* converted(PyObject* a, const char* name, PyObject* (*convert)(PyObject*)) {
  if (unwrap(a)->numel != 1)
    return PyErr_Format(PyExc_ValueError,
                        "%s: expected a tensor of one element, got shape %s; take one element, or use .tolist()", name,
                        core::shape_string(unwrap(a)).c_str());
  PyObject* number = item(a);
  if (!number) return nullptr;
  PyObject* r = convert(number);
  Py_DECREF(number);
  return r;
}
PyObject* as_int(PyObject* a) { return converted(a, "int", PyNumber_Long); }
PyObject* as_float(PyObject* a) { return converted(a, "float", PyNumber_Float); }
PyObject* to_index(PyObject* a) {
  Tensor* t = unwrap(a);
  if (core::dtype_class(t->dtype) > LAMELLA_CLASS_INTEGRAL || t->numel != 1)
    return PyErr_Format(PyExc_TypeError, "index: expected an integer tensor of one element, got %s",
                        core::describe(core::tensor_value(t)).c_str());
  return as_int(a);
}

PyObject* compare(PyObject* a, PyObject* b, int op) {
  switch (op) {
    case Py_EQ:
      return binary<&Packets::eq>(a, b);
    case Py_NE:
      return binary<&Packets::ne>(a, b);
    case Py_LT:
      return binary<&Packets::lt>(a, b);
    case Py_LE:
      return binary<&Packets::le>(a, b);
    case Py_GT:
      return binary<&Packets::gt>(a, b);
    default:
      return binary<&Packets::ge>(a, b);
  }
}

Py_hash_t hash(PyObject* a) { return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(a) >> 4); }

// ---- sequences ----

Py_ssize_t length(PyObject* a) {
  Tensor* t = unwrap(a);
  if (t->ndim() == 0) {
    PyErr_SetString(PyExc_TypeError, "len: a zero-dim tensor has no length");
    return -1;
  }
  return t->sizes()[0];
}

PyObject* sequence_item(PyObject* a, Py_ssize_t i) {
  if (unwrap(a)->ndim() > 0 && i >= unwrap(a)->sizes()[0])
    return PyErr_Format(PyExc_IndexError, "index %zd is out of range for dimension 0 of size %lld", i,
                        (long long)unwrap(a)->sizes()[0]);
  PyObject* index = PyLong_FromSsize_t(i);
  PyObject* r = get_item(a, index);
  Py_DECREF(index);
  return r;
}

PyObject* iterate(PyObject* a) {
  if (unwrap(a)->ndim() == 0) return PyErr_Format(PyExc_TypeError, "iter: a zero-dim tensor cannot be iterated");
  PyObject* rows = PyObject_CallMethod(a, "unbind", nullptr);
  PyObject* r = rows ? PyObject_GetIter(rows) : nullptr;
  Py_XDECREF(rows);
  return r;
}

int contains(PyObject* a, PyObject* x) {
  PyObject* equal = compare(a, x, Py_EQ);
  if (!equal) return -1;
  if (equal == Py_NotImplemented) {
    Py_DECREF(equal);
    return 0;
  }
  PyObject* any = PyObject_CallMethod(equal, "sum", nullptr);
  Py_DECREF(equal);
  if (!any) return -1;
  int r = as_bool(any);
  Py_DECREF(any);
  return r;
}

// ---- attributes ----

PyObject* get_shape(PyObject* a, void*) { return new_size(unwrap(a)->sizes(), unwrap(a)->ndim()); }
PyObject* get_dtype(PyObject* a, void*) { return Py_NewRef(dtype_object(unwrap(a)->dtype)); }
PyObject* get_device(PyObject* a, void*) { return new_device(unwrap(a)->device()); }
PyObject* get_ndim(PyObject* a, void*) { return PyLong_FromLong(unwrap(a)->ndim()); }
PyObject* get_itemsize(PyObject* a, void*) { return PyLong_FromLongLong(core::itemsize(unwrap(a)->dtype)); }
PyObject* get_nbytes(PyObject* a, void*) {
  const Tensor* t = unwrap(a);
  const bool in_storage = t->opaque() && t->storage->bytes > 0;  // in a form that only its layer knows
  return PyLong_FromLongLong(in_storage ? t->storage->bytes : t->numel * core::itemsize(t->dtype));
}
PyObject* get_version(PyObject* a, void*) { return PyLong_FromUnsignedLongLong(core::writes_of(unwrap(a))); }
PyObject* use_other_count(PyObject* a, PyObject*) {
  unwrap(a)->flags ^= core::counts_apart;
  return Py_NewRef(a);
}
PyObject* get_base(PyObject* a, void*) {
  Tensor* b = unwrap(a)->base;
  if (!b) Py_RETURN_NONE;
  core::retain(b);
  return wrap(b);
}
PyObject* get_opaque(PyObject* a, void*) { return PyBool_FromLong(unwrap(a)->opaque()); }
PyObject* get_keys(PyObject* a, void*) {
  return PyLong_FromUnsignedLongLong(unwrap(a)->keys | unwrap(a)->storage->sticky);
}
PyObject* get_transposed(PyObject* a, void*) {
  int n = unwrap(a)->ndim();
  if (n <= 2) return call_packet(ops.t, &a, 1);
  PyObject* dims = PyTuple_New(n);
  for (int i = 0; i < n; i++) PyTuple_SET_ITEM(dims, i, PyLong_FromLong(n - 1 - i));
  PyObject* args[2] = {a, dims};
  PyObject* r = call_packet(ops.permute, args, 2);
  Py_DECREF(dims);
  return r;
}

// Returns one entry for size(dim) or stride(dim).
PyObject* one_of(const char* name, Tensor* t, const int64_t* (Tensor::*entries)() const, PyObject* dim) {
  if (PyUnicode_Check(dim) && dispatcher::any_dim_resolver()) {
    dispatcher::Type one;
    one.kind = dispatcher::Kind::Int;
    Arena arena;
    Value v;
    const auto where = [name] { return std::string(name) + ": argument 'dim'"; };
    if (!resolve_dims(t, dim, one, &v, arena, where)) return nullptr;
    return PyLong_FromLongLong((t->*entries)()[v.as.i]);
  }
  long d = PyLong_AsLong(dim);
  if (d == -1 && PyErr_Occurred())
    return PyErr_Format(PyExc_TypeError, "%s: argument 'dim' must be int, got %s%s", name, type_name(dim).c_str(),
                        names_hint(dim, false));
  if (d < -t->ndim() || d >= t->ndim())
    return PyErr_Format(PyExc_IndexError, "%s: argument 'dim': dimension %ld is out of range for %d dimensions", name,
                        d, t->ndim());
  return PyLong_FromLongLong((t->*entries)()[d < 0 ? d + t->ndim() : d]);
}
PyObject* size(PyObject* a, PyObject* args) {
  PyObject* dim = Py_None;
  if (!PyArg_ParseTuple(args, "|O:size", &dim)) return nullptr;
  return dim == Py_None ? get_shape(a, nullptr) : one_of("size", unwrap(a), &Tensor::sizes, dim);
}
PyObject* stride(PyObject* a, PyObject* args) {
  PyObject* dim = Py_None;
  if (!PyArg_ParseTuple(args, "|O:stride", &dim)) return nullptr;
  Tensor* t = unwrap(a);
  return dim == Py_None ? new_tuple(t->strides(), t->ndim()) : one_of("stride", t, &Tensor::strides, dim);
}
// Raises for an opaque tensor, whose elements have no addresses: the layer may refuse with its own error before that.
PyObject* data_ptr(PyObject* a, PyObject*) {
  if (!unwrap(a)->opaque()) return PyLong_FromVoidPtr(unwrap(a)->dl.data);
  PyObject* plain = readable(a, true);
  if (!plain) return nullptr;
  Py_DECREF(plain);
  const std::string layers = dispatcher::layers_of(unwrap(a));
  return PyErr_Format(PyExc_RuntimeError, "data_ptr: the tensor is opaque, so it has no address; its layers: %s",
                      layers.empty() ? "none" : layers.c_str());
}
PyObject* element_size(PyObject* a, PyObject*) { return get_itemsize(a, nullptr); }
PyObject* is_contiguous(PyObject* a, PyObject* args, PyObject* keywords) {
  static char* names[] = {const_cast<char*>("memory_format"), nullptr};
  PyObject* format = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:is_contiguous", names, &format)) return nullptr;
  int64_t wanted = LAMELLA_CONTIGUOUS_FORMAT;
  if (format && !read_enum(format, memory_format_type, &wanted))
    return PyErr_Format(PyExc_TypeError, "is_contiguous: argument 'memory_format' must be a memory format, got %s",
                        Py_TYPE(format)->tp_name);
  return PyBool_FromLong(core::lies_in(unwrap(a), static_cast<lamella_memory_format>(wanted)));
}
PyObject* numel(PyObject* a, PyObject*) { return PyLong_FromLongLong(unwrap(a)->numel); }
PyObject* dim(PyObject* a, PyObject*) { return get_ndim(a, nullptr); }
PyObject* storage_offset(PyObject* a, PyObject*) { return PyLong_FromLongLong(unwrap(a)->storage_offset); }
PyObject* is_floating_point(PyObject* a, PyObject*) {
  return PyBool_FromLong(core::dtype_class(unwrap(a)->dtype) == LAMELLA_CLASS_FLOATING);
}
PyObject* is_complex(PyObject* a, PyObject*) {
  return PyBool_FromLong(core::dtype_class(unwrap(a)->dtype) == LAMELLA_CLASS_COMPLEX);
}
PyObject* storage_id(PyObject* a, PyObject*) { return PyLong_FromVoidPtr(unwrap(a)->storage); }
PyObject* storage_pointer(PyObject* a, PyObject*) { return PyLong_FromVoidPtr(unwrap(a)->storage->data); }
PyObject* storage_nbytes(PyObject* a, PyObject*) { return PyLong_FromLongLong(unwrap(a)->storage->bytes); }

PyGetSetDef getset[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                        {"shape", get_shape, nullptr, "The sizes, as a Size.", nullptr},
                        {"dtype", get_dtype, nullptr, "The element type.", nullptr},
                        {"device", get_device, nullptr, "The device that holds the elements.", nullptr},
                        {"ndim", get_ndim, nullptr, "The number of dimensions.", nullptr},
                        {"itemsize", get_itemsize, nullptr, "Bytes of one element.", nullptr},
                        {"nbytes", get_nbytes, nullptr, "Bytes of all elements; if opaque, of the storage.", nullptr},
                        {"T", get_transposed, nullptr, "The dimensions in reverse order; a view.", nullptr},
                        {"_version", get_version, nullptr, "How often the storage was written by operators.", nullptr},
                        {"_base", get_base, nullptr, "The root tensor of a view, else None.", nullptr},
                        {"is_opaque", get_opaque, nullptr,
                         "Whether it has a shape and a dtype, but no elements: a layer has its values.", nullptr},
                        {"_keys", get_keys, nullptr, "The layers that this tensor turns on, as bits.", nullptr},
                        {nullptr}};

PyMethodDef methods[] = {
    {"size", size, METH_VARARGS, "size(dim=None)\n--\n\nThe sizes, or one of them."},
    {"stride", stride, METH_VARARGS, "stride(dim=None)\n--\n\nThe strides in elements, or one of them."},
    {"data_ptr", data_ptr, METH_NOARGS, "data_ptr()\n--\n\nThe address of the first element."},
    {"element_size", element_size, METH_NOARGS, "element_size()\n--\n\nBytes of one element."},
    {"is_contiguous", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(is_contiguous)),
     METH_VARARGS | METH_KEYWORDS,
     "is_contiguous(memory_format=None)\n--\n\nWhether the elements lie without gaps in row-major order, or in that "
     "of a memory format."},
    {"numel", numel, METH_NOARGS, "numel()\n--\n\nThe number of elements."},
    {"nelement", numel, METH_NOARGS, "nelement()\n--\n\nThe number of elements."},
    {"dim", dim, METH_NOARGS, "dim()\n--\n\nThe number of dimensions."},
    {"ndimension", dim, METH_NOARGS, "ndimension()\n--\n\nThe number of dimensions."},
    {"storage_offset", storage_offset, METH_NOARGS,
     "storage_offset()\n--\n\nThe position of the first element in the storage, in elements."},
    {"is_floating_point", is_floating_point, METH_NOARGS, "is_floating_point()\n--\n\nWhether the dtype is floating."},
    {"is_complex", is_complex, METH_NOARGS, "is_complex()\n--\n\nWhether the dtype is complex."},
    {"item", item_method, METH_NOARGS,
     "item()\n--\n\nThe only element as a Python number.\n\n>>> lamella.tensor([2.5]).item()\n2.5\n"},
    {"_use_other_count", use_other_count, METH_NOARGS, nullptr},
    {"_storage_id", storage_id, METH_NOARGS, nullptr},
    {"_storage_ptr", storage_pointer, METH_NOARGS, nullptr},
    {"_storage_nbytes", storage_nbytes, METH_NOARGS, nullptr},
    {nullptr}};

}  // namespace

void add_protocol_slots(std::vector<PyType_Slot>& slots) {
  auto add = [&](int id, auto* f) { slots.push_back({id, reinterpret_cast<void*>(f)}); };
  add(Py_nb_add, commutative<&Packets::add>);
  add(Py_nb_subtract, subtract);
  add(Py_nb_multiply, commutative<&Packets::mul>);
  add(Py_nb_true_divide, binary<&Packets::div>);
  add(Py_nb_floor_divide, binary<&Packets::floor_divide>);
  add(Py_nb_power, power);
  add(Py_nb_matrix_multiply, binary<&Packets::matmul>);
  add(Py_nb_remainder, optional<&Packets::remainder>);
  add(Py_nb_lshift, optional<&Packets::bitwise_left_shift>);
  add(Py_nb_rshift, optional<&Packets::bitwise_right_shift>);
  add(Py_nb_inplace_add, inplace<&Packets::add_>);
  add(Py_nb_inplace_subtract, inplace<&Packets::sub_>);
  add(Py_nb_inplace_multiply, inplace<&Packets::mul_>);
  add(Py_nb_inplace_true_divide, inplace<&Packets::div_>);
  add(Py_nb_inplace_floor_divide, inplace<&Packets::floor_divide_>);
  add(Py_nb_inplace_remainder, inplace<&Packets::remainder_>);
  add(Py_nb_inplace_and, inplace<&Packets::bitwise_and_>);
  add(Py_nb_inplace_or, inplace<&Packets::bitwise_or_>);
  add(Py_nb_inplace_xor, inplace<&Packets::bitwise_xor_>);
  add(Py_nb_inplace_lshift, inplace<&Packets::bitwise_left_shift_>);
  add(Py_nb_inplace_rshift, inplace<&Packets::bitwise_right_shift_>);
  add(Py_nb_inplace_power, power_);
  add(Py_nb_negative, unary<&Packets::neg>);
  add(Py_nb_positive, positive);
  add(Py_nb_absolute, unary<&Packets::abs>);
  add(Py_nb_invert, invert);
  add(Py_nb_and, commutative<&Packets::bitwise_and>);
  add(Py_nb_or, commutative<&Packets::bitwise_or>);
  add(Py_nb_xor, commutative<&Packets::bitwise_xor>);
  add(Py_nb_bool, as_bool);
  add(Py_nb_int, as_int);
  add(Py_nb_float, as_float);
  add(Py_nb_index, to_index);
  add(Py_mp_length, length);
  add(Py_mp_subscript, get_item);
  add(Py_mp_ass_subscript, set_item);
  add(Py_sq_length, length);
  add(Py_sq_item, sequence_item);
  add(Py_sq_contains, contains);
  add(Py_tp_iter, iterate);
  add(Py_tp_richcompare, compare);
  add(Py_tp_hash, hash);
  add(Py_bf_getbuffer, get_buffer);
  add(Py_bf_releasebuffer, release_buffer_export);
  slots.push_back({Py_tp_getset, getset});
  slots.push_back({Py_tp_methods, methods});
}

int init_protocols() {
  if (init_plugin_attributes() < 0) return -1;
  auto find = [](const char* name) { return packet(std::string("aten::") + name); };
  auto look = [&](const char* name) {
    PyObject* found = find(name);
    if (!found) PyErr_Clear();
    return found;
  };
  ops = {find("add"),
         find("sub"),
         find("rsub"),
         find("mul"),
         find("div"),
         find("floor_divide"),
         find("pow"),
         find("neg"),
         find("abs"),
         find("matmul"),
         find("add_"),
         find("sub_"),
         find("mul_"),
         find("div_"),
         find("floor_divide_"),
         find("pow_"),
         find("eq"),
         find("ne"),
         find("lt"),
         find("le"),
         find("gt"),
         find("ge"),
         find("item"),
         find("select"),
         find("t"),
         find("permute"),
         look("remainder"),
         look("bitwise_and"),
         look("bitwise_or"),
         look("bitwise_xor"),
         look("bitwise_not"),
         look("bitwise_left_shift"),
         look("bitwise_right_shift"),
         look("remainder_"),
         look("bitwise_and_"),
         look("bitwise_or_"),
         look("bitwise_xor_"),
         look("bitwise_left_shift_"),
         look("bitwise_right_shift_")};
  return PyErr_Occurred() ? -1 : 0;
}

}  // namespace lamella::binding
