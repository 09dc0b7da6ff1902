// Functions that all builtins share: they read arguments of a kind, indices and slices, and compare values.
#pragma once

#include <complex>
#include <optional>

#include "run/containers.h"
#include "signatures/builtins.h"

namespace lamella::graph {

using Complex = std::complex<double>;

[[noreturn]] void raise(int32_t kind, std::string message);
[[noreturn]] void raise_kind(const char* wanted, const lamella_value& got);  // "expected an int, got a str"
[[noreturn]] void raise_too_large();                                         // an int of more than 64 bits
[[noreturn]] void raise_key(const lamella_value& key);

// Returns the name of a value's type in Python.
std::string_view type_name(const lamella_value& v);

// Returns whether a device has a number beside its name: the devices of backends with one device have none.
inline bool has_index(lamella_device d) {
  const lamella_backend* b = api().backend_description(d.backend);
  return b && b->device_count;
}

// ---- arguments of a kind, which hostile graphs may not hold ----

inline int64_t int_of(const lamella_value& v) {
  if (__builtin_expect(v.tag != LAMELLA_INT && v.tag != LAMELLA_BOOLEAN, 0)) {
    if (v.tag == LAMELLA_UINT) raise_too_large();
    raise_kind("an int", v);
  }
  return v.as.i;
}
inline bool bool_of(const lamella_value& v) { return int_of(v) != 0; }
inline double float_of(const lamella_value& v) {
  if (__builtin_expect(v.tag == LAMELLA_FLOAT, 1)) return v.as.d;
  if (v.tag == LAMELLA_UINT) return static_cast<double>(v.as.u);
  if (v.tag != LAMELLA_INT && v.tag != LAMELLA_BOOLEAN) raise_kind("a float", v);
  return static_cast<double>(v.as.i);
}
inline Complex complex_of(const lamella_value& v) {
  if (v.tag == LAMELLA_COMPLEX) return {v.as.doubles[0], v.as.doubles[1]};
  return {float_of(v), 0.0};
}
inline std::string_view string_of(const lamella_value& v) {
  if (__builtin_expect(v.tag != LAMELLA_STRING, 0)) raise_kind("a str", v);
  return {v.as.string, v.length};
}
inline List& list_argument(const lamella_value& v) {
  if (__builtin_expect(!is_object(v, list_type), 0)) raise_kind("a list", v);
  return list_of(v);
}
inline Dict& dict_argument(const lamella_value& v) {
  if (__builtin_expect(!is_object(v, dict_type), 0)) raise_kind("a dict", v);
  return dict_of(v);
}
inline lamella_tensor* tensor_argument(const lamella_value& v) {
  if (__builtin_expect(v.tag != LAMELLA_TENSOR || !v.as.tensor, 0)) raise_kind("a Tensor", v);
  return v.as.tensor;
}
inline std::optional<int64_t> optional_int(const lamella_value& v) {
  return v.tag == LAMELLA_NONE ? std::nullopt : std::optional<int64_t>(int_of(v));
}

// ---- results ----

inline lamella_value made(bool x) { return {LAMELLA_BOOLEAN, 0, {x}}; }
inline lamella_value made(int64_t x) { return {LAMELLA_INT, 0, {x}}; }
inline lamella_value made(double x) {
  lamella_value v{LAMELLA_FLOAT, 0, {0}};
  v.as.d = x;
  return v;
}
inline lamella_value made(const Complex& x) { return new_complex(x.real(), x.imag()); }
inline lamella_value made(std::string_view x) { return new_string(x); }
inline lamella_value made(const std::string& x) { return new_string(x); }
template <class T>
lamella_value made(T*) = delete;

// Takes over an owned value.
inline OwnedValue adopt(lamella_value owned) {
  OwnedValue v;
  const_cast<lamella_value&>(v.get()) = owned;
  return v;
}

// Items that are released unless a container takes them over.
struct Items {
  std::vector<lamella_value> values;
  Items() = default;
  Items(const Items&) = delete;
  ~Items() {
    for (lamella_value& v : values) release(v);
  }
  void add(lamella_value owned) {
    try {
      values.push_back(owned);
    } catch (...) {
      release(owned);
      throw;
    }
  }
  void add_copy(const lamella_value& v) { add(copy_of(v)); }
  lamella_value list() { return new_list(std::exchange(values, {})); }
  lamella_value tuple() { return new_tuple(std::exchange(values, {})); }
};

// Calls aten::item, which every layer sees.
OwnedValue item_of(const lamella_value& tensor);

// ---- indices and slices ----

// Returns the place of an index that may count from the end.
inline size_t place_of(int64_t index, size_t size, const char* message) {
  const int64_t at = index < 0 ? index + static_cast<int64_t>(size) : index;
  if (__builtin_expect(at < 0 || at >= static_cast<int64_t>(size), 0)) raise(LAMELLA_INDEX_ERROR, message);
  return static_cast<size_t>(at);
}

struct Slice {
  int64_t start, stop, step;
  size_t count;
  size_t place(size_t i) const { return static_cast<size_t>(start + static_cast<int64_t>(i) * step); }
};
// Returns the places that a slice of Python's meaning takes of `size` items.
Slice slice_of(const lamella_value& start, const lamella_value& stop, int64_t step, size_t size);

// ---- comparison ----

enum class Order : int8_t { less = -1, equal = 0, greater = 1, none = 2 };

template <class T>
Order order_of(T a, T b) {
  return a < b ? Order::less : a > b ? Order::greater : a == b ? Order::equal : Order::none;
}
Order order_of(int64_t a, double b);  // exact, also where a float cannot hold the int
// Returns whether a < b, as Python's `<` does for numbers, texts, lists and tuples; `sign` names the comparison in the
// TypeError of values without an order.
bool less(const lamella_value& a, const lamella_value& b, const char* sign = "<");
// Returns whether a <= b.
bool less_or_equal(const lamella_value& a, const lamella_value& b, const char* sign = "<=");

// Returns the hash of a value: equal numbers of all kinds have one. Raises a TypeError for a list or a dictionary.
int64_t hash_of(const lamella_value& v);

// Counts a level of nested containers while it lives.
class Level {
 public:
  explicit Level(const char* what);
  ~Level();
  Level(const Level&) = delete;
};

}  // namespace lamella::graph
