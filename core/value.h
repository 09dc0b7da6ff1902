// Value: constructors and readers for the sixteen-byte tagged union, and OwnedValue, which outlives a call.
#pragma once

#include <lamella/c_api.h>

#include <cstring>
#include <string>
#include <utility>

#include "core/tensor.h"

namespace lamella::core {

using Value = lamella_value;

inline Value none() { return {LAMELLA_NONE, 0, {0}}; }
inline Value boolean(bool x) { return {LAMELLA_BOOLEAN, 0, {x}}; }
inline Value integer(int64_t x) { return {LAMELLA_INT, 0, {x}}; }
inline Value unsigned_integer(uint64_t x) {
  return {x > INT64_MAX ? uint32_t{LAMELLA_UINT} : uint32_t{LAMELLA_INT}, 0, {static_cast<int64_t>(x)}};
}
inline Value floating(double x) { return {LAMELLA_FLOAT, 0, {.d = x}}; }
inline Value dtype_value(DType t) { return {LAMELLA_DTYPE, 0, {t}}; }
inline Value device_value(lamella_device d) { return {LAMELLA_DEVICE, 0, {.device = d}}; }
inline Value tensor_value(lamella_tensor* t) { return {LAMELLA_TENSOR, 0, {.tensor = t}}; }
inline Value string_value(const char* s) {
  return {LAMELLA_STRING, static_cast<uint32_t>(std::strlen(s)), {.string = s}};
}
inline Value int_list(const int64_t* p, int64_t n) { return {LAMELLA_INT_LIST, static_cast<uint32_t>(n), {.ints = p}}; }
inline Value tensor_list(lamella_tensor* const* p, int64_t n) {
  return {LAMELLA_TENSOR_LIST, static_cast<uint32_t>(n), {.tensors = p}};
}
inline Value value_list(const Value* p, int64_t n) {
  return {LAMELLA_VALUE_LIST, static_cast<uint32_t>(n), {.values = p}};
}

// Returns how many values a list of values or a dictionary holds: two for each entry of a dictionary, its key and its
// value; 0 for anything else.
inline uint64_t num_values(const Value& v) {
  return v.tag == LAMELLA_VALUE_LIST ? v.length : v.tag == LAMELLA_DICT ? 2 * static_cast<uint64_t>(v.length) : 0;
}

inline bool is_number(const Value& v) {
  return (v.tag >= LAMELLA_BOOLEAN && v.tag <= LAMELLA_COMPLEX) || v.tag == LAMELLA_UINT;
}
inline double as_double(const Value& v) {
  return v.tag == LAMELLA_FLOAT     ? v.as.d
         : v.tag == LAMELLA_COMPLEX ? v.as.doubles[0]
         : v.tag == LAMELLA_UINT    ? static_cast<double>(v.as.u)
                                    : static_cast<double>(v.as.i);
}

// Returns an owned copy: tensors and objects are retained; complex numbers, strings, lists and dictionaries are copied,
// and the tensors and objects in them retained.
Value retain_value(const Value& v);
void release_value(Value& v);

// A value that outlives a call: adopt() takes over the reference, a copy retains, the destructor releases.
struct OwnedValue : Value {
  OwnedValue() : Value(none()) {}
  OwnedValue(const OwnedValue& o) : Value(retain_value(o)) {}
  OwnedValue(OwnedValue&& o) noexcept : OwnedValue() { swap(o); }
  OwnedValue& operator=(OwnedValue o) noexcept {
    swap(o);
    return *this;
  }
  ~OwnedValue() { release_value(*this); }

  static OwnedValue adopt(const Value& v) {
    OwnedValue owned;
    static_cast<Value&>(owned) = v;
    return owned;
  }

 private:
  void swap(OwnedValue& o) noexcept { std::swap(static_cast<Value&>(*this), static_cast<Value&>(o)); }
};

// Returns whether two values have equal content: equal numbers, also of different kinds; the same tensor or object; or
// values of one kind with equal content. Lists of floats are equal if their bytes are; entries of dictionaries must be
// in the same order.
bool same_value(const Value& a, const Value& b);

// The first element of a tensor in host memory, as a number. A complex value is owned; release it.
Value read_number(const lamella_tensor* t);

std::string describe(const Value& v);  // for messages: "a list of 3 floats", "Tensor float32 (2, 3) on cpu"
std::string shape_string(int ndim, const int64_t* sizes);
inline std::string shape_string(const lamella_tensor* t) { return shape_string(t->dl.ndim, t->dl.shape); }

}  // namespace lamella::core
