// The entry of the addon: what it exports, and the exceptions that its errors become.
#include <cstring>

#include "napi.h"
#include "program.h"

namespace lamella::node {

std::string described(napi_env env, napi_value v) {
  switch (type_of(env, v)) {
    case napi_undefined:
      return "undefined";
    case napi_null:
      return "null";
    case napi_boolean:
      return "a boolean";
    case napi_number:
      return "a number";
    case napi_string:
      return "a string";
    case napi_symbol:
      return "a symbol";
    case napi_function:
      return "a function";
    case napi_bigint:
      return "a BigInt";
    default:
      break;
  }
  bool is = false;
  if (napi_is_array(env, v, &is) == napi_ok && is) return "an array";
  if (napi_is_promise(env, v, &is) == napi_ok && is) return "a promise";
  if (is_tagged(env, v, TENSOR_TAG)) return "a Tensor";
  napi_value constructor, name;
  if (napi_get_named_property(env, v, "constructor", &constructor) == napi_ok &&
      type_of(env, constructor) == napi_function &&
      napi_get_named_property(env, constructor, "name", &name) == napi_ok && type_of(env, name) == napi_string)
    return "an object of class " + string_of(env, name);
  bool pending = false;  // a getter has thrown
  if (napi_is_exception_pending(env, &pending) == napi_ok && pending)
    must(env, napi_get_and_clear_last_exception(env, &name));
  return "an object";
}

namespace {

std::string kind_name(int kind) {
  static const char* const names[] = {"RuntimeError",        "TypeError",         "ValueError",    "IndexError",
                                      "NotImplementedError", "MemoryError",       "OverflowError", "ZeroDivisionError",
                                      "BufferError",         "KeyboardInterrupt", "RuntimeError",  "AcceleratorError"};
  if (kind >= 1 && kind <= 12) return names[kind - 1];
  const char* registered = api().error_kind_name(kind, nullptr);
  return registered ? registered : "RuntimeError";
}

}  // namespace

napi_value exception_of(napi_env env, const Error& error) {
  int32_t base = error.kind();
  while (base > LAMELLA_ACCELERATOR_ERROR) {
    int32_t above = LAMELLA_RUNTIME_ERROR;
    if (!api().error_kind_name(base, &above)) above = LAMELLA_RUNTIME_ERROR;
    base = above;
  }
  const auto make = base == LAMELLA_TYPE_ERROR                                ? napi_create_type_error
                    : base == LAMELLA_INDEX_ERROR || base == LAMELLA_OVERFLOW ? napi_create_range_error
                                                                              : napi_create_error;
  napi_value made;
  must(env, make(env, text(env, kind_name(error.kind())), text(env, error.what()), &made));
  return made;
}

napi_value caught(napi_env env) {
  napi_value exception = nullptr;
  try {
    try {
      throw;
    } catch (const Thrown&) {
      must(env, napi_get_and_clear_last_exception(env, &exception));
    } catch (const Error& e) {
      exception = exception_of(env, e);
    } catch (const std::bad_alloc&) {
      exception = exception_of(env, Error(LAMELLA_OUT_OF_MEMORY, "out of memory"));
    } catch (const std::exception& e) {
      exception = exception_of(env, Error(LAMELLA_RUNTIME_ERROR, e.what()));
    }
  } catch (...) {  // JavaScript ends, and makes no objects any more
  }
  return exception;
}

namespace {

napi_value exported(napi_env env, napi_value exports) {
  auto* addon = new Addon;
  must(env, napi_set_instance_data(
                env, addon, [](napi_env, void* a, void*) { delete static_cast<Addon*>(a); }, nullptr));
  start();
  napi_value global, map;
  must(env, napi_get_global(env, &global));
  must(env, napi_get_named_property(env, global, "Map", &map));
  must(env, napi_create_reference(env, map, 1, &addon->map_class));
  must(env, napi_set_named_property(env, exports, "libraryVersion", text(env, api().library_version)));
  define_tensor(env, exports);
  define_module(env, exports);
  return exports;
}

}  // namespace
}  // namespace lamella::node

NAPI_MODULE_INIT() {
  try {
    return lamella::node::exported(env, exports);
  } catch (const lamella::node::StartFault& fault) {
    napi_throw_error(env, nullptr, fault.message.c_str());
  } catch (...) {
    if (napi_value exception = lamella::node::caught(env)) napi_throw(env, exception);
  }
  return nullptr;
}
