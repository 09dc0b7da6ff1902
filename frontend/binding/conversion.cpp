// Reads Python objects (numbers of any type, lists, names of dtypes and devices), and writes results.
#include "frontend/binding/conversion.h"

#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "frontend/binding/buffer.h"
#include "frontend/binding/objects.h"
#include "frontend/binding/tensor_object.h"
#include "frontend/binding/types.h"

namespace lamella::binding {

using dispatcher::Kind;
using dispatcher::Type;

Arena::~Arena() {
  for (void* b : blocks_) std::free(b);
  for (PyObject* o : held_) Py_DECREF(o);
}

void* Arena::take(size_t bytes) {
  bytes = (bytes + 15) / 16 * 16;
  if (used_ + bytes <= inline_bytes) {
    void* p = inline_ + used_;
    used_ += bytes;
    return p;
  }
  blocks_.push_back(std::malloc(bytes));
  return blocks_.back();
}

void Arena::hold(PyObject* o) { held_.push_back(o); }

namespace {

bool from_numpy_module(PyObject* o) { return std::strncmp(Py_TYPE(o)->tp_name, "numpy.", 6) == 0; }
bool numpy_bool(PyObject* o) {
  return !std::strcmp(Py_TYPE(o)->tp_name, "numpy.bool_") || !std::strcmp(Py_TYPE(o)->tp_name, "numpy.bool");
}
bool zero_dim(PyObject* o) {
  return is_tensor(o) && unwrap(o)->ndim() == 0 && unwrap(o)->backend != core::meta_backend;
}

// Returns why a tensor of one element may not become a number: the text of the TypeError that a plugin's check raised.
// Returns nullopt if it may, or if a check raised another exception, which stays pending.
std::optional<std::string> refusal(PyObject* o) {
  if (may_export(o, ExportAs::Number) || !PyErr_ExceptionMatches(PyExc_TypeError)) return std::nullopt;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyObject* text = value ? PyObject_Str(value) : nullptr;
  const char* words = text ? PyUnicode_AsUTF8(text) : nullptr;
  const std::string why = words && *words ? words : "a plugin refuses it";
  PyErr_Clear();
  Py_XDECREF(text);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return why;
}

}  // namespace

bool as_index(PyObject* o, int64_t* out) {
  if (PyLong_CheckExact(o)) {
    *out = PyLong_AsLongLong(o);
    return !(*out == -1 && PyErr_Occurred());
  }
  if (PyBool_Check(o) || !PyIndex_Check(o)) return false;
  if (is_tensor(o) && (unwrap(o)->ndim() > 0 || core::dtype_class(unwrap(o)->dtype) != LAMELLA_CLASS_INTEGRAL))
    return false;
  PyObject* i = PyNumber_Index(o);
  if (!i) return false;
  *out = PyLong_AsLongLong(i);
  Py_DECREF(i);
  return !(*out == -1 && PyErr_Occurred());
}

namespace {

bool as_complex(PyObject* o, Value* v, Arena& arena) {
  Py_complex z = PyComplex_AsCComplex(o);
  if (PyErr_Occurred()) return false;
  auto* pair = static_cast<double*>(arena.take(16));
  pair[0] = z.real;
  pair[1] = z.imag;
  *v = {LAMELLA_COMPLEX, 0, {0}};
  v->as.doubles = pair;
  return true;
}

bool as_scalar(PyObject* o, Value* v, Arena& arena) {
  if (PyFloat_Check(o)) {
    *v = core::floating(PyFloat_AS_DOUBLE(o));
    return true;
  }
  if (PyBool_Check(o)) {
    *v = core::boolean(o == Py_True);
    return true;
  }
  if (PyLong_Check(o)) {
    *v = core::integer(PyLong_AsLongLong(o));
    if (v->as.i != -1 || !PyErr_Occurred()) return true;
    PyErr_Clear();
    *v = core::unsigned_integer(PyLong_AsUnsignedLongLong(o));
    return v->as.u != UINT64_MAX || !PyErr_Occurred();
  }
  if (PyComplex_Check(o)) return as_complex(o, v, arena);
  if (zero_dim(o)) {
    if (refusal(o) || PyErr_Occurred()) return false;
    PyObject* number = PyObject_CallMethod(o, "item", nullptr);
    if (!number) return false;
    bool ok = as_scalar(number, v, arena);
    Py_DECREF(number);
    return ok;
  }
  if (!from_numpy_module(o) || PyObject_HasAttrString(o, "__len__")) return false;
  if (numpy_bool(o)) {
    *v = core::boolean(PyObject_IsTrue(o) == 1);
    return true;
  }
  if (PyIndex_Check(o)) {
    PyObject* number = PyNumber_Index(o);
    const bool ok = number && as_scalar(number, v, arena);
    Py_XDECREF(number);
    return ok;
  }
  if (std::strstr(Py_TYPE(o)->tp_name, "complex")) return as_complex(o, v, arena);
  double d = PyFloat_AsDouble(o);
  if (d == -1 && PyErr_Occurred()) return false;
  *v = core::floating(d);
  return true;
}

// Returns whether a list of this type has values as elements, each with its own tag.
bool in_values(const Type& t) {
  return t.kind == Kind::Str || t.kind == Kind::Scalar || t.kind == Kind::Complex || t.kind == Kind::Any ||
         (t.optional_elements && t.kind != Kind::Tensor);
}

bool as_string(PyObject* o, Value* v) {
  if (!PyUnicode_Check(o)) return false;
  Py_ssize_t n;
  const char* s = PyUnicode_AsUTF8AndSize(o, &n);
  if (!s) return false;
  *v = {LAMELLA_STRING, static_cast<uint32_t>(n), {0}};
  v->as.string = s;
  return true;
}

// Reads an element of a list or dictionary of values. Objects are refused, and so are tensors in a call's arguments,
// because layers do not look for tensors there.
bool convert_element(PyObject* o, const Type& t, Value* v, Arena& arena) {
  if (!convert(o, t, v, arena)) return false;
  const bool tensors = v->tag == LAMELLA_TENSOR || v->tag == LAMELLA_TENSOR_LIST;
  return v->tag != LAMELLA_OBJECT && (!tensors || arena.saved);
}

// Reads a dict from str to values of one kind, or pairs of them: {"h": 2, "w": 3}, (("h", 2), ("w", 3)).
bool as_dict(PyObject* o, Kind values, Value* v, Arena& arena) {
  if (!PyDict_Check(o) && !((PyList_Check(o) || PyTuple_Check(o)) && PySequence_Fast_GET_SIZE(o))) return false;
  PyObject* items = PyDict_Check(o)
                        ? PyDict_Items(o)
                        : PySequence_List(o);  // a copy, since reading a value may run code that changes the dictionary
  if (!items) return false;
  arena.hold(items);
  const Py_ssize_t n = PyList_GET_SIZE(items);
  auto* pairs = static_cast<Value*>(arena.take(sizeof(Value) * 2 * (n + 1)));
  Type type;
  type.kind = values;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject* item = PyList_GET_ITEM(items, i);
    if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) != 2) return false;
    if (!as_string(PyTuple_GET_ITEM(item, 0), &pairs[2 * i])) return false;
    if (!convert_element(PyTuple_GET_ITEM(item, 1), type, &pairs[2 * i + 1], arena)) return false;
  }
  *v = {LAMELLA_DICT, static_cast<uint32_t>(n), {0}};
  v->as.values = pairs;
  return true;
}

bool as_list(PyObject* o, const Type& t, Value* v, Arena& arena) {
  if (t.list_size > 0 && !PyList_Check(o) && !PyTuple_Check(o) && t.kind == Kind::Int &&
      !t.optional_elements) {  // int[2] accepts a single number for both places
    int64_t i;
    if (!as_index(o, &i)) return false;
    auto* all = static_cast<int64_t*>(arena.take(8 * t.list_size));
    for (int k = 0; k < t.list_size; k++) all[k] = i;
    *v = core::int_list(all, t.list_size);
    return true;
  }
  if (!PyList_Check(o) && !PyTuple_Check(o)) return false;
  if (PyList_Check(o)) {  // a copy, since reading an item may run code that changes the list
    o = PyList_AsTuple(o);
    if (!o) return false;
    arena.hold(o);
  }
  Py_ssize_t n = PyTuple_GET_SIZE(o);
  if (in_values(t)) {
    Type element = t;
    element.list = false;
    element.optional = t.optional_elements;
    auto* values = static_cast<Value*>(arena.take(sizeof(Value) * (n + 1)));
    for (Py_ssize_t i = 0; i < n; i++)
      if (!convert_element(PyTuple_GET_ITEM(o, i), element, &values[i], arena)) return false;
    *v = core::value_list(values, n);
    return true;
  }
  void* data = arena.take(8 * (n + 1));
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject* item = PyTuple_GET_ITEM(o, i);
    switch (t.kind) {
      case Kind::Int:
        if (!as_index(item, static_cast<int64_t*>(data) + i)) return false;
        break;
      case Kind::Float: {
        Value one;
        if (!as_scalar(item, &one, arena) || one.tag == LAMELLA_COMPLEX) return false;
        static_cast<double*>(data)[i] = core::as_double(one);
        break;
      }
      case Kind::Bool:
        if (!PyBool_Check(item)) return false;
        static_cast<uint8_t*>(data)[i] = item == Py_True;
        break;
      case Kind::Tensor:
        if (item == Py_None && t.optional_elements)
          static_cast<lamella_tensor**>(data)[i] = nullptr;
        else if (is_tensor(item))
          static_cast<lamella_tensor**>(data)[i] = unwrap(item);
        else
          return false;
        break;
      default:
        return false;
    }
  }
  *v = {LAMELLA_INT_LIST, static_cast<uint32_t>(n), {0}};
  v->as.pointer = data;
  if (t.kind == Kind::Tensor) v->tag = LAMELLA_TENSOR_LIST;
  if (t.kind == Kind::Float) v->tag = LAMELLA_FLOAT_LIST;
  if (t.kind == Kind::Bool) v->tag = LAMELLA_BOOL_LIST;
  return true;
}

}  // namespace

bool convert(PyObject* o, const Type& t, Value* v, Arena& arena) {
  if (o == Py_None && t.optional) {
    *v = core::none();
    return true;
  }
  if (t.list) return as_list(o, t, v, arena);
  switch (t.kind) {
    case Kind::Tensor:
      if (!is_tensor(o)) return false;
      *v = core::tensor_value(unwrap(o));
      return true;
    case Kind::Scalar:
    case Kind::Complex:
      return as_scalar(o, v, arena);
    case Kind::Int: {
      int64_t i;
      if (!as_index(o, &i)) return false;
      *v = core::integer(i);
      return true;
    }
    case Kind::Float:
      if (!as_scalar(o, v, arena) || v->tag == LAMELLA_COMPLEX) return false;
      *v = core::floating(core::as_double(*v));
      return true;
    case Kind::Bool:
      if (!PyBool_Check(o) && !numpy_bool(o)) return false;
      *v = core::boolean(PyObject_IsTrue(o) == 1);
      return true;
    case Kind::Str:
      return as_string(o, v);
    case Kind::Dtype: {
      core::DType d;
      if (!read_dtype(o, &d)) return false;
      *v = core::dtype_value(d);
      return true;
    }
    case Kind::Device: {
      lamella_device d;
      if (read_device(o, &d) <= 0) return false;
      *v = core::device_value(d);
      return true;
    }
    case Kind::Layout:
    case Kind::MemoryFormat: {
      int64_t i;
      if (!read_enum(o, t.kind == Kind::Layout ? layout_type : memory_format_type, &i)) return false;
      if (t.kind == Kind::Layout && i != 0) return false;  // no operator with this argument makes sparse tensors
      *v = {t.kind == Kind::Layout ? uint32_t{LAMELLA_LAYOUT} : uint32_t{LAMELLA_MEMORY_FORMAT}, 0, {i}};
      return true;
    }
    case Kind::Generator: {
      lamella_object* g;
      if (!read_generator(o, &g)) return false;
      *v = {LAMELLA_OBJECT, 0, {0}};
      v->as.object = g;
      return true;
    }
    case Kind::Object: {
      lamella_object* held;
      if (!read_object(o, t.object, &held, arena)) return false;
      *v = {LAMELLA_OBJECT, 0, {0}};
      v->as.object = held;
      return true;
    }
    case Kind::Dict:
      return as_dict(o, t.of_values, v, arena);
    case Kind::Any:
      return convert_any(o, v, arena);
    default:
      return false;
  }
}

namespace {

// Returns the kind of all elements of a list: Tensor (or None, beside a tensor), Bool, Int within int64, or Float; Any
// if they differ or have another type.
Kind common_kind(PyObject* list) {
  const auto of = [](PyObject* o) {
    if (is_tensor(o)) return Kind::Tensor;
    if (PyBool_Check(o)) return Kind::Bool;
    int overflow = 0;
    if (PyLong_Check(o)) PyLong_AsLongLongAndOverflow(o, &overflow);
    return PyLong_Check(o) && !overflow ? Kind::Int : PyFloat_Check(o) ? Kind::Float : Kind::Any;
  };
  PyObject** items = PySequence_Fast_ITEMS(list);
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
  if (n == 0) return Kind::Int;
  Kind all = Kind::Any;
  for (Py_ssize_t i = 0; i < n && all == Kind::Any; i++)
    if (items[i] != Py_None) all = of(items[i]);
  for (Py_ssize_t i = 0; i < n; i++)
    if (of(items[i]) != all && !(all == Kind::Tensor && items[i] == Py_None)) return Kind::Any;
  return all;
}

bool list_of_any(PyObject* o, Value* v, Arena& arena) {
  Type t;
  t.list = true;
  if (arena.saved) {
    t.kind = common_kind(o);
    t.optional_elements = t.kind == Kind::Tensor;
    return as_list(o, t, v, arena);
  }
  for (Kind kind : {Kind::Tensor, Kind::Bool, Kind::Int, Kind::Float, Kind::Any}) {
    t.kind = PySequence_Fast_GET_SIZE(o) > 0 ? kind : Kind::Int;
    t.optional_elements = t.kind == Kind::Tensor;
    if (as_list(o, t, v, arena)) return true;
    if (PyErr_Occurred()) return false;
  }
  return false;
}

}  // namespace

bool convert_any(PyObject* o, Value* v, Arena& arena) {
  if (PyList_Check(o) || PyTuple_Check(o) || PyDict_Check(o)) {
    if (Py_EnterRecursiveCall(" while reading a list of lists")) return false;
    const bool read = PyDict_Check(o) ? as_dict(o, Kind::Any, v, arena) : list_of_any(o, v, arena);
    Py_LeaveRecursiveCall();
    return read;
  }
  Type t;
  t.optional = true;
  if (is_tensor(o))
    t.kind = Kind::Tensor;
  else if (Py_TYPE(o) == dtype_type)
    t.kind = Kind::Dtype;
  else if (Py_TYPE(o) == device_type)
    t.kind = Kind::Device;
  else if (Py_TYPE(o) == layout_type)
    t.kind = Kind::Layout;
  else if (Py_TYPE(o) == memory_format_type)
    t.kind = Kind::MemoryFormat;
  else if (Py_TYPE(o) == generator_type)
    t.kind = Kind::Generator;
  else
    t.kind = PyUnicode_Check(o) ? Kind::Str : Kind::Scalar;
  return convert(o, t, v, arena);
}

std::string received(PyObject* o, const Type& t) {
  const bool number = !t.list && (t.kind == Kind::Scalar || t.kind == Kind::Complex || t.kind == Kind::Float);
  const std::optional<std::string> why = number && zero_dim(o) ? refusal(o) : std::nullopt;
  return why ? type_name(o) + ": " + *why : type_name(o);
}

std::string expected(const Type& t) {
  static const char* const names[] = {"Tensor",        "number",    "int",    "float",  "bool",
                                      "number",        "str",       "dtype",  "layout", "device",
                                      "memory_format", "Generator", "object", "object", "dict"};
  std::string s = names[static_cast<int>(t.kind)];
  if (t.list) s = "list of " + s;
  return t.optional ? s + " or None" : s;
}

namespace {

Value element(const Value& list, uint32_t i) {
  return list.as.tensors[i] ? core::tensor_value(list.as.tensors[i]) : core::none();
}

}  // namespace

PyObject* to_python(Value& v) {
  PyObject* o;
  if (v.tag == LAMELLA_TENSOR && v.as.tensor) {
    o = wrap(core::full(v.as.tensor));
    v = core::none();
    return o;
  }
  if (v.tag == LAMELLA_TENSOR_LIST) {  // a tuple, as in torch
    o = PyTuple_New(v.length);
    for (uint32_t i = 0; o && i < v.length; i++) PyTuple_SET_ITEM(o, i, borrowed_to_python(element(v, i)));
  } else {
    o = borrowed_to_python(v);
    if (o && PyList_CheckExact(o)) Py_SETREF(o, PyList_AsTuple(o));
  }
  core::release_value(v);
  return o;
}

PyObject* borrowed_to_python(const Value& v) {
  auto list = [&](auto make) -> PyObject* {
    PyObject* l = PyList_New(v.length);
    for (uint32_t i = 0; l && i < v.length; i++) {
      PyObject* item = make(i);
      if (!item) Py_CLEAR(l);  // such as for a string that is not UTF-8
      if (l) PyList_SET_ITEM(l, i, item);
    }
    return l;
  };
  auto tensor = [](lamella_tensor* t) -> PyObject* {
    if (!t) Py_RETURN_NONE;
    core::retain(core::full(t));
    return wrap(core::full(t));
  };
  switch (v.tag) {
    case LAMELLA_BOOLEAN:
      return PyBool_FromLong(v.as.i != 0);
    case LAMELLA_INT:
      return PyLong_FromLongLong(v.as.i);
    case LAMELLA_UINT:
      return PyLong_FromUnsignedLongLong(v.as.u);
    case LAMELLA_FLOAT:
      return PyFloat_FromDouble(v.as.d);
    case LAMELLA_COMPLEX:
      return PyComplex_FromDoubles(v.as.doubles[0], v.as.doubles[1]);
    case LAMELLA_STRING:
      return PyUnicode_FromStringAndSize(v.as.string, v.length);
    case LAMELLA_DTYPE:
      return Py_NewRef(dtype_object(static_cast<core::DType>(v.as.i)));
    case LAMELLA_DEVICE:
      return new_device(v.as.device);
    case LAMELLA_LAYOUT:
      return enumerator(layout_type, v.as.i);
    case LAMELLA_MEMORY_FORMAT:
      return enumerator(memory_format_type, v.as.i);
    case LAMELLA_TENSOR:
      return tensor(v.as.tensor);
    case LAMELLA_INT_LIST:
      return list([&](uint32_t i) { return PyLong_FromLongLong(v.as.ints[i]); });
    case LAMELLA_FLOAT_LIST:
      return list([&](uint32_t i) { return PyFloat_FromDouble(v.as.doubles[i]); });
    case LAMELLA_BOOL_LIST:
      return list([&](uint32_t i) { return PyBool_FromLong(v.as.bools[i]); });
    case LAMELLA_TENSOR_LIST:
      return list([&](uint32_t i) { return tensor(v.as.tensors[i]); });
    case LAMELLA_VALUE_LIST:
      return list([&](uint32_t i) { return borrowed_to_python(v.as.values[i]); });
    case LAMELLA_DICT: {
      PyObject* d = PyDict_New();
      for (uint32_t i = 0; d && i < v.length; i++) {
        PyObject *key = borrowed_to_python(v.as.values[2 * i]), *value = borrowed_to_python(v.as.values[2 * i + 1]);
        if (!key || !value || PyDict_SetItem(d, key, value) < 0) Py_CLEAR(d);
        Py_XDECREF(key);
        Py_XDECREF(value);
      }
      return d;
    }
    case LAMELLA_OBJECT:
      if (!v.as.object) Py_RETURN_NONE;
      core::retain(v.as.object);
      return std::strcmp(v.as.object->type->name, "Generator") ? new_object(v.as.object)
                                                               : new_generator_object(v.as.object);
    default:
      Py_RETURN_NONE;
  }
}

}  // namespace lamella::binding
