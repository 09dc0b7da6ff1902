#include "core/value.h"

#include <cstdlib>

#include "core/device.h"
#include "core/error.h"

#include <lamella/half.h>

namespace lamella::core {
namespace {

int64_t payload_bytes(const Value& v) {
  switch (v.tag) {
    case LAMELLA_COMPLEX:
      return 16;
    case LAMELLA_STRING:
      return v.length + 1;
    case LAMELLA_BOOL_LIST:
      return v.length;
    case LAMELLA_INT_LIST:
    case LAMELLA_FLOAT_LIST:
    case LAMELLA_TENSOR_LIST:
      return 8 * static_cast<int64_t>(v.length);
    case LAMELLA_VALUE_LIST:
    case LAMELLA_DICT:
      return static_cast<int64_t>(sizeof(Value) * num_values(v));
    default:
      return -1;
  }
}

}  // namespace

Value retain_value(const Value& v) {
  Value out = v;
  if (v.tag == LAMELLA_TENSOR || v.tag == LAMELLA_OBJECT) {
    if (v.as.object) retain(v.as.object);
    return out;
  }
  int64_t bytes = payload_bytes(v);
  if (bytes < 0) return out;
  out.as.pointer = checked(std::malloc(bytes + 8));
  if (bytes && v.as.pointer) std::memcpy(out.as.pointer, v.as.pointer, bytes);
  if (v.tag == LAMELLA_TENSOR_LIST)
    for (uint32_t i = 0; i < v.length; i++)
      if (v.as.tensors[i]) retain(&v.as.tensors[i]->object);
  auto* own = static_cast<Value*>(out.as.pointer);
  for (uint64_t i = 0, n = num_values(v); i < n; i++) {
    try {
      own[i] = retain_value(v.as.values[i]);
    } catch (...) {  // no memory: releases the values that were retained so far
      for (uint64_t k = 0; k < i; k++) release_value(own[k]);
      std::free(own);
      throw;
    }
  }
  return out;
}

void release_value(Value& v) {
  if (v.tag == LAMELLA_TENSOR || v.tag == LAMELLA_OBJECT) {
    if (v.as.object) release(v.as.object);
  } else if (payload_bytes(v) >= 0) {
    if (v.tag == LAMELLA_TENSOR_LIST)
      for (uint32_t i = 0; i < v.length; i++)
        if (v.as.tensors[i]) release(&v.as.tensors[i]->object);
    for (uint64_t i = 0, n = num_values(v); i < n; i++) release_value(static_cast<Value*>(v.as.pointer)[i]);
    std::free(v.as.pointer);
  }
  v = none();
}

bool same_value(const Value& a, const Value& b) {
  if (is_number(a) && is_number(b)) {
    const auto real = [](const Value& v) -> long double {  // holds every int64 and uint64 exactly
      if (v.tag == LAMELLA_UINT) return v.as.u;
      return v.tag == LAMELLA_FLOAT || v.tag == LAMELLA_COMPLEX ? as_double(v) : static_cast<long double>(v.as.i);
    };
    const auto imaginary = [](const Value& v) { return v.tag == LAMELLA_COMPLEX ? v.as.doubles[1] : 0.0; };
    return real(a) == real(b) && imaginary(a) == imaginary(b);
  }
  if (a.tag != b.tag) return false;
  if (a.tag == LAMELLA_VALUE_LIST || a.tag == LAMELLA_DICT) {
    bool same = a.length == b.length;
    for (uint64_t i = 0, n = num_values(a); same && i < n; i++) same = same_value(a.as.values[i], b.as.values[i]);
    return same;
  }
  const int64_t bytes = payload_bytes(a);
  if (bytes >= 0) return a.length == b.length && (a.length == 0 || !std::memcmp(a.as.pointer, b.as.pointer, bytes));
  return a.tag == LAMELLA_NONE || a.as.i == b.as.i;
}

Value read_number(const lamella_tensor* t) {
  auto as = [t](auto zero) {
    std::memcpy(&zero, t->dl.data, sizeof zero);
    return zero;
  };
  switch (t->dtype) {
    case LAMELLA_BOOL:
      return boolean(as(uint8_t{}) != 0);
    case LAMELLA_UINT8:
      return integer(as(uint8_t{}));
    case LAMELLA_UINT16:
      return integer(as(uint16_t{}));
    case LAMELLA_UINT32:
      return integer(as(uint32_t{}));
    case LAMELLA_UINT64:
      return unsigned_integer(as(uint64_t{}));
    case LAMELLA_INT8:
      return integer(as(int8_t{}));
    case LAMELLA_INT16:
      return integer(as(int16_t{}));
    case LAMELLA_INT32:
      return integer(as(int32_t{}));
    case LAMELLA_INT64:
      return integer(as(int64_t{}));
    case LAMELLA_FLOAT16:
      return floating(static_cast<float>(as(float16{})));
    case LAMELLA_BFLOAT16:
      return floating(static_cast<float>(as(bfloat16{})));
    case LAMELLA_FLOAT32:
      return floating(as(0.0f));
    case LAMELLA_FLOAT64:
      return floating(as(0.0));
    case LAMELLA_COMPLEX64:
    case LAMELLA_COMPLEX128: {
      double z[2];
      float half[2];
      if (t->dtype == LAMELLA_COMPLEX64) {
        std::memcpy(half, t->dl.data, sizeof half);
        z[0] = half[0];
        z[1] = half[1];
      } else {
        std::memcpy(z, t->dl.data, sizeof z);
      }
      Value v{LAMELLA_COMPLEX, 0, {0}};
      v.as.doubles = z;
      return retain_value(v);
    }
    default: {
      float x;
      dtype_info(t->dtype).to_float32(1, t->dl.data, &x);
      return dtype_class(t->dtype) == LAMELLA_CLASS_INTEGRAL ? integer(static_cast<int64_t>(x)) : floating(x);
    }
  }
}

std::string shape_string(int ndim, const int64_t* sizes) {
  std::string s = "(";
  for (int i = 0; i < ndim; i++) s += std::to_string(sizes[i]) + (i + 1 < ndim ? ", " : ndim == 1 ? "," : "");
  return s + ")";
}

std::string describe(const Value& v) {
  switch (v.tag) {
    case LAMELLA_NONE:
      return "None";
    case LAMELLA_BOOLEAN:
      return v.as.i ? "True" : "False";
    case LAMELLA_INT:
      return std::to_string(v.as.i);
    case LAMELLA_UINT:
      return std::to_string(v.as.u);
    case LAMELLA_FLOAT:
      return format("%g", v.as.d);
    case LAMELLA_COMPLEX:
      return v.as.doubles ? format("(%g%+gj)", v.as.doubles[0], v.as.doubles[1]) : "a null complex number";
    case LAMELLA_STRING:
      return v.as.string ? "'" + std::string(v.as.string, v.length) + "'" : "a null string";
    case LAMELLA_DTYPE:
      return dtype_info(static_cast<DType>(v.as.i)).name;
    case LAMELLA_DEVICE:
      return "device '" + device_name(v.as.device) + "'";
    case LAMELLA_TENSOR:
      if (!v.as.tensor) return "no tensor";
      return std::string("Tensor ") + dtype_info(v.as.tensor->dtype).name + " " + shape_string(v.as.tensor) + " on " +
             device_name(full(v.as.tensor)->device());
    case LAMELLA_BOOL_LIST:
      return format("a list of %u bools", v.length);
    case LAMELLA_INT_LIST:
      return v.as.ints || !v.length ? shape_string(static_cast<int>(v.length), v.as.ints) : "a null list";
    case LAMELLA_FLOAT_LIST:
      return format("a list of %u floats", v.length);
    case LAMELLA_TENSOR_LIST:
      return format("a list of %u tensors", v.length);
    case LAMELLA_VALUE_LIST: {
      if (!v.as.values && v.length) return "a null list";
      std::string s = "[";
      for (uint32_t i = 0; i < v.length; i++) s += (i ? ", " : "") + describe(v.as.values[i]);
      return s + "]";
    }
    case LAMELLA_DICT:
      return format("a dictionary of %u entries", v.length);
    case LAMELLA_OBJECT:
      return v.as.object ? v.as.object->type->name : "no object";
    default:
      return "a value of an unknown kind";
  }
}

}  // namespace lamella::core
