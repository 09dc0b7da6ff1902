// C++ over Node-API: functions that JavaScript calls, their arguments, and errors, which become exceptions of
// JavaScript.
//
// Note [Failures]  Everything here fails by an exception of C++: lamella::Error, or Thrown if JavaScript has already
//   thrown. `entry` turns them into exceptions of JavaScript.
#pragma once

#define NAPI_VERSION 8
#include <node_api.h>

#include <lamella/extension.h>

#include <string>
#include <utility>
#include <vector>

namespace lamella::node {

struct Thrown {};  // an exception of JavaScript is pending

// References that this copy of the addon needs: each thread of JavaScript has one of its own.
struct Addon {
  napi_ref tensor_class = nullptr, map_class = nullptr;
  lamella_tensor* making = nullptr;  // what the constructor of class Tensor takes over

  static Addon& of(napi_env env) {
    void* found = nullptr;
    napi_get_instance_data(env, &found);
    return *static_cast<Addon*>(found);
  }
};

inline void must(napi_env env, napi_status status) {
  if (__builtin_expect(status == napi_ok, 1)) return;
  const napi_extended_error_info* info = nullptr;
  napi_get_last_error_info(env, &info);
  const std::string message = info && info->error_message ? info->error_message : "Node-API failed";
  bool pending = false;
  napi_is_exception_pending(env, &pending);
  if (pending) throw Thrown{};
  throw Error(LAMELLA_RUNTIME_ERROR, message);
}

inline napi_value text(napi_env env, std::string_view s) {
  napi_value out;
  must(env, napi_create_string_utf8(env, s.data(), s.size(), &out));
  return out;
}

inline napi_valuetype type_of(napi_env env, napi_value v) {
  napi_valuetype type;
  must(env, napi_typeof(env, v, &type));
  return type;
}

inline bool is_absent(napi_env env, napi_value v) {
  const napi_valuetype type = type_of(env, v);
  return type == napi_undefined || type == napi_null;
}

inline std::string string_of(napi_env env, napi_value v) {
  size_t length = 0;
  must(env, napi_get_value_string_utf8(env, v, nullptr, 0, &length));
  std::string s(length, '\0');
  must(env, napi_get_value_string_utf8(env, v, s.data(), length + 1, &length));
  return s;
}

inline napi_value referred(napi_env env, napi_ref ref) {
  napi_value out;
  must(env, napi_get_reference_value(env, ref, &out));
  return out;
}

// Handles of JavaScript that are made while it lives end with it.
class Scope {
 public:
  explicit Scope(napi_env env) : env_(env) { must(env, napi_open_handle_scope(env, &scope_)); }
  Scope(const Scope&) = delete;
  ~Scope() { napi_close_handle_scope(env_, scope_); }

 private:
  napi_env env_;
  napi_handle_scope scope_;
};

// Returns what a value is, for messages: "a string", "an object of class Date".
std::string described(napi_env env, napi_value v);

// Makes the exception of JavaScript for an error: a TypeError, a RangeError or an Error. Its `code` is the name that
// Python has for the kind.
napi_value exception_of(napi_env env, const Error& error);

// Returns the exception of the catch block that calls it.
napi_value caught(napi_env env);

// A call from JavaScript.
struct Call {
  static constexpr size_t ROOM = 6;

  napi_env env;
  napi_value self;
  void* data = nullptr;  // what the function was defined with
  bool is_new = false;   // the call is by the operator `new`
  std::vector<napi_value> args;

  Call(napi_env e, napi_callback_info info) : env(e), args(ROOM) {
    napi_value target;
    must(env, napi_get_new_target(env, info, &target));
    is_new = target != nullptr;
    size_t n = ROOM;
    must(env, napi_get_cb_info(env, info, &n, args.data(), &self, &data));
    const bool again = n > ROOM;
    args.resize(n);
    if (again) must(env, napi_get_cb_info(env, info, &n, args.data(), nullptr, nullptr));
  }
  // Returns an argument; undefined if the call has fewer.
  napi_value arg(size_t i) const {
    if (i < args.size()) return args[i];
    napi_value none;
    must(env, napi_get_undefined(env, &none));
    return none;
  }
};

// The function of Node-API that runs a function of C++.
template <napi_value (*F)(Call&)>
napi_value entry(napi_env env, napi_callback_info info) {
  try {
    Call call(env, info);
    return F(call);
  } catch (...) {
    if (napi_value exception = caught(env)) napi_throw(env, exception);
    return nullptr;
  }
}

template <napi_value (*F)(Call&)>
napi_property_descriptor method(const char* name, const char* data = nullptr) {
  return {name, nullptr, entry<F>, nullptr, nullptr, nullptr, napi_default_method, const_cast<char*>(data)};
}
template <napi_value (*F)(Call&)>
napi_property_descriptor getter(const char* name) {
  return {name, nullptr, nullptr, entry<F>, nullptr, nullptr, napi_configurable, nullptr};
}

// Marks the objects that wrap something of ours, so that no other object is taken for one.
inline constexpr napi_type_tag TENSOR_TAG = {0x6c616d656c6c6174, 0x656e736f72000001};
inline constexpr napi_type_tag MODULE_TAG = {0x6c616d656c6c616d, 0x6f64756c65000001};

inline bool is_tagged(napi_env env, napi_value v, const napi_type_tag& tag) {
  bool same = false;
  return type_of(env, v) == napi_object && napi_check_object_type_tag(env, v, &tag, &same) == napi_ok && same;
}

// ---- tensor.cpp ----

void define_tensor(napi_env env, napi_value exports);
// Makes an object of class Tensor; takes the tensor over.
napi_value tensor_object(napi_env env, lamella_tensor* owned);
// Returns the tensor of an object of class Tensor, borrowed. Raises for one that was disposed of.
lamella_tensor* tensor_of(napi_env env, napi_value v);
// Makes a tensor of a copy of a typed array: a vector of its elements, in the dtype of the array's type.
Tensor tensor_of_array(napi_env env, napi_value typed_array);

// ---- module.cpp ----

void define_module(napi_env env, napi_value exports);

}  // namespace lamella::node
