/* Conversions between the types of schemas and C++ types: the schema type of each C++ type, the conversion of an
 * argument to the C++ type, and the conversion of a result from it. Note [Types] in kernel.h lists the types. */
#ifndef LAMELLA_CONVERT_H
#define LAMELLA_CONVERT_H

#include <lamella/tensor.h>

#pragma GCC visibility push(hidden)

namespace lamella {
namespace detail {

/* The schema type that a C++ type stands for. */
struct CppType {
  uint32_t kind;         /* enum lamella_kind */
  uint32_t flags;        /* enum lamella_argument_flags: LIST, OPTIONAL, OPTIONAL_ELEMENTS, WRITTEN */
  std::string (*name)(); /* the C++ spelling, for messages */
};

/* get() converts a borrowed argument; put() makes an owned result. */
template <class T, class = void>
struct Convert {};

/* Returns the tensor itself, without a reference: a Tensor is nothing but the pointer. */
inline const Tensor& borrowed(lamella_tensor* const& t) { return reinterpret_cast<const Tensor&>(t); }
inline lamella_status put_copy(const lamella_value& v, lamella_value* out) { return api().value_retain(&v, out); }

#define LAMELLA_CONVERT_(T, KIND, FLAGS, NAME, GET, PUT)                      \
  template <>                                                                 \
  struct Convert<T, void> {                                                   \
    static constexpr CppType type() {                                         \
      return {LAMELLA_KIND_##KIND, FLAGS, [] { return std::string(NAME); }};  \
    }                                                                         \
    static T get(const lamella_value& v) { return GET; }                      \
    static lamella_status put(const T& x, lamella_value* out) { return PUT; } \
  };
LAMELLA_CONVERT_(int64_t, INT, 0, "int64_t", as_int(v), (*out = lamella::value(x), LAMELLA_OK))
LAMELLA_CONVERT_(double, FLOAT, 0, "double", as_double(v), (*out = lamella::value(x), LAMELLA_OK))
LAMELLA_CONVERT_(bool, BOOL, 0, "bool", v.as.i != 0, (*out = lamella::value(x), LAMELLA_OK))
LAMELLA_CONVERT_(Scalar, SCALAR, 0, "Scalar", Scalar(v), put_copy(x.value(), out))
LAMELLA_CONVERT_(std::string_view, STRING, 0, "std::string_view", std::string_view(v.as.string, v.length),
                 put_copy(lamella::value(std::string(x)), out))
LAMELLA_CONVERT_(std::string, STRING, 0, "std::string", std::string(v.as.string, v.length),
                 put_copy(lamella::value(x), out))
LAMELLA_CONVERT_(ScalarType, DTYPE, 0, "ScalarType", static_cast<ScalarType>(v.as.i),
                 (*out = lamella::value(x), LAMELLA_OK))
LAMELLA_CONVERT_(Layout, LAYOUT, 0, "Layout", static_cast<Layout>(v.as.i), (*out = lamella::value(x), LAMELLA_OK))
LAMELLA_CONVERT_(Device, DEVICE, 0, "Device", Device(v.as.device), (*out = lamella::value(x), LAMELLA_OK))
LAMELLA_CONVERT_(MemoryFormat, MEMORY_FORMAT, 0, "MemoryFormat", static_cast<MemoryFormat>(v.as.i),
                 (*out = lamella::value(x), LAMELLA_OK))
LAMELLA_CONVERT_(Generator, GENERATOR, 0, "Generator",
                 Generator::borrow(v.tag == LAMELLA_OBJECT ? v.as.object : nullptr), put_copy(lamella::value(x), out))
LAMELLA_CONVERT_(IntArrayRef, INT, LAMELLA_ARGUMENT_LIST, "IntArrayRef", IntArrayRef(v.as.ints, v.length),
                 put_copy(lamella::value(x), out))
LAMELLA_CONVERT_(ArrayRef<double>, FLOAT, LAMELLA_ARGUMENT_LIST, "ArrayRef<double>",
                 ArrayRef<double>(v.as.doubles, v.length), put_copy(lamella::value(x), out))
LAMELLA_CONVERT_(ArrayRef<bool>, BOOL, LAMELLA_ARGUMENT_LIST, "ArrayRef<bool>",
                 ArrayRef<bool>(reinterpret_cast<const bool*>(v.as.bools), v.length), put_copy(lamella::value(x), out))
LAMELLA_CONVERT_(TensorList, TENSOR, LAMELLA_ARGUMENT_LIST, "TensorList",
                 TensorList(reinterpret_cast<const Tensor*>(v.as.tensors), v.length), put_copy(lamella::value(x), out))
LAMELLA_CONVERT_(lamella_value, ANY, 0, "lamella_value", v, put_copy(x, out))
#undef LAMELLA_CONVERT_

template <>
struct Convert<Tensor, void> {
  static constexpr CppType type() {
    return {LAMELLA_KIND_TENSOR, 0, [] { return std::string("Tensor"); }};
  }
  static const Tensor& get(const lamella_value& v) {
    static lamella_tensor* const undefined = nullptr;
    return borrowed(__builtin_expect(v.tag == LAMELLA_TENSOR, 1) ? v.as.tensor : undefined);
  }
  static lamella_status put(Tensor x, lamella_value* out) {
    *out = lamella::value(x);
    (void)x.release();
    return LAMELLA_OK;
  }
};
template <>
struct Convert<OwnedValue, void> {
  static constexpr CppType type() {
    return {LAMELLA_KIND_ANY, 0, [] { return std::string("OwnedValue"); }};
  }
  static OwnedValue get(const lamella_value& v) { return OwnedValue(v); }
  static lamella_status put(OwnedValue x, lamella_value* out) {
    *out = x.release();
    return LAMELLA_OK;
  }
};
template <class T>
struct Convert<T, std::enable_if_t<IsComplex<T>::value>> {
  static constexpr CppType type() {
    return {LAMELLA_KIND_COMPLEX, 0, [] { return std::string("std::complex"); }};
  }
  static T get(const lamella_value& v) { return Scalar(v).to<T>(); }
  static lamella_status put(const T& x, lamella_value* out) { return put_copy(Scalar(x).value(), out); }
};
/* Lists of values: each element is converted by itself. */
template <class T, uint32_t Flags = 0>
struct ConvertEach {
  static std::string spelled() { return "std::vector<" + Convert<T>::type().name() + ">"; }
  static constexpr CppType type() { return {Convert<T>::type().kind, LAMELLA_ARGUMENT_LIST | Flags, spelled}; }
  static std::vector<T> get(const lamella_value& v) {
    std::vector<T> all;
    for (uint32_t i = 0; i < v.length; i++) all.push_back(Convert<T>::get(v.as.values[i]));
    return all;
  }
  static lamella_status put(const std::vector<T>& x, lamella_value* out) {
    std::vector<lamella_value> each(x.size(), none());
    lamella_status st = LAMELLA_OK;
    for (size_t i = 0; i < x.size() && !st; i++) st = Convert<T>::put(x[i], &each[i]);
    lamella_value list{LAMELLA_VALUE_LIST, static_cast<uint32_t>(each.size()), {0}};
    list.as.values = each.data();
    if (!st) st = put_copy(list, out);
    for (lamella_value& v : each) api().value_release(&v);
    return st;
  }
};
template <>
struct Convert<std::vector<std::string>, void> : ConvertEach<std::string> {};
template <>
struct Convert<std::vector<Scalar>, void> : ConvertEach<Scalar> {};
template <class T>
struct Convert<std::vector<std::optional<T>>, void>
    : ConvertEach<std::optional<T>, LAMELLA_ARGUMENT_OPTIONAL_ELEMENTS> {
  static constexpr CppType type() {
    return {Convert<T>::type().kind, LAMELLA_ARGUMENT_LIST | LAMELLA_ARGUMENT_OPTIONAL_ELEMENTS,
            ConvertEach<std::optional<T>, LAMELLA_ARGUMENT_OPTIONAL_ELEMENTS>::spelled};
  }
};
template <>
struct Convert<Dict, void> {
  static constexpr CppType type() {
    return {LAMELLA_KIND_DICT, 0, [] { return std::string("Dict"); }};
  }
  static Dict get(const lamella_value& v) { return Dict(v); }
  static lamella_status put(const Dict& x, lamella_value* out) { return put_copy(x.value(), out); }
};

template <class T>
struct Convert<std::vector<T>, void> {
  using List = Convert<ArrayRef<T>>;
  static std::string spelled() { return "std::vector<" + Convert<T>::type().name() + ">"; }
  static constexpr CppType type() { return {List::type().kind, List::type().flags, spelled}; }
  static std::vector<T> get(const lamella_value& v) { return List::get(v).vec(); }
  static lamella_status put(const std::vector<T>& x, lamella_value* out) { return List::put(x, out); }
};
template <> /* stores bits, so it has no array to point to */
struct Convert<std::vector<bool>, void> {
  static constexpr CppType type() {
    return {LAMELLA_KIND_BOOL, LAMELLA_ARGUMENT_LIST, [] { return std::string("std::vector<bool>"); }};
  }
  static std::vector<bool> get(const lamella_value& v) { return std::vector<bool>(v.as.bools, v.as.bools + v.length); }
  static lamella_status put(const std::vector<bool>& x, lamella_value* out) {
    const std::vector<uint8_t> bytes(x.begin(), x.end());
    lamella_value v{LAMELLA_BOOL_LIST, static_cast<uint32_t>(bytes.size()), {0}};
    v.as.bools = bytes.data();
    return put_copy(v, out);
  }
};
template <>
struct Convert<std::vector<std::optional<Tensor>>, void> {
  static constexpr CppType type() {
    return {LAMELLA_KIND_TENSOR, LAMELLA_ARGUMENT_LIST | LAMELLA_ARGUMENT_OPTIONAL_ELEMENTS,
            [] { return std::string("std::vector<std::optional<Tensor>>"); }};
  }
  static std::vector<std::optional<Tensor>> get(const lamella_value& v) {
    std::vector<std::optional<Tensor>> all(v.length);
    for (uint32_t i = 0; i < v.length; i++)
      if (v.as.tensors[i]) all[i] = Tensor::borrow(v.as.tensors[i]);
    return all;
  }
};
template <class T>
struct Convert<std::optional<T>, void> {
  static std::string spelled() { return "std::optional<" + Convert<T>::type().name() + ">"; }
  static constexpr CppType type() {
    return {Convert<T>::type().kind, Convert<T>::type().flags | LAMELLA_ARGUMENT_OPTIONAL, spelled};
  }
  static std::optional<T> get(const lamella_value& v) {
    return v.tag == LAMELLA_NONE ? std::optional<T>() : std::optional<T>(Convert<T>::get(v));
  }
  static lamella_status put(std::optional<T> x, lamella_value* out) {
    if (x) return Convert<T>::put(std::move(*x), out);
    *out = none();
    return LAMELLA_OK;
  }
};

template <class T, class = void>
struct HasSchemaType : std::false_type {};
template <class T>
struct HasSchemaType<T, std::void_t<decltype(Convert<T>::type())>> : std::true_type {};

/* Stores the result of a function that no schema describes. */
template <class R>
lamella_status put(R&& x, lamella_value* out) {
  static_assert(HasSchemaType<std::decay_t<R>>::value, "no type of a schema is this result's; see Note [Types]");
  return Convert<std::decay_t<R>>::put(std::forward<R>(x), out);
}

}  // namespace detail
}  // namespace lamella

#pragma GCC visibility pop

#endif
