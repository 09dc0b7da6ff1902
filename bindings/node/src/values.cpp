#include "values.h"

#include <cmath>

namespace lamella::node {
namespace {

constexpr int DEEPEST = 100;
constexpr double LARGEST = 9007199254740991;  // Number.MAX_SAFE_INTEGER

[[noreturn]] void refuse(const Place& place, const std::string& got) {
  throw Error(LAMELLA_TYPE_ERROR, place.text() + " must be a Tensor, a typed array, a number, a BigInt, a boolean, a " +
                                      "string, null, an array, a Map or a plain object, got " + got);
}

lamella_value string_value(const std::string& s) {
  const lamella_value borrowed = lamella::value(s);
  lamella_value out;
  check(api().value_retain(&borrowed, &out));
  return out;
}

lamella_value number_value(double x) {
  const bool whole = std::trunc(x) == x && std::fabs(x) <= LARGEST && !(x == 0 && std::signbit(x));
  return whole ? lamella::value(static_cast<int64_t>(x)) : lamella::value(x);
}

lamella_value bigint_value(napi_env env, napi_value v, const Place& place) {
  int64_t i;
  bool exact;
  must(env, napi_get_value_bigint_int64(env, v, &i, &exact));
  if (exact) return lamella::value(i);
  throw Error(LAMELLA_OVERFLOW, place.text() + " is a BigInt that int64 does not hold");
}

// Makes a container of the graph; takes the items over.
lamella_value container(int32_t kind, Values& items) {
  lamella_value out = none();
  check(graph().make(kind, items.all.data(), static_cast<int32_t>(items.all.size()), nullptr, nullptr, &out));
  items.all.clear();
  return out;
}

lamella_value of_array(napi_env env, napi_value v, const Place& place, int depth) {
  uint32_t length;
  must(env, napi_get_array_length(env, v, &length));
  Values items;
  items.all.reserve(length);
  for (uint32_t i = 0; i < length; i++) {
    const Scope scope(env);
    napi_value item;
    must(env, napi_get_element(env, v, i, &item));
    items.all.push_back(value_of(env, item, {nullptr, &place, i}, depth + 1));
  }
  return container(LAMELLA_GRAPH_TUPLE, items);
}

lamella_value of_object(napi_env env, napi_value v, const Place& place, int depth) {
  napi_value keys;
  must(env, napi_get_all_property_names(env, v, napi_key_own_only,
                                        static_cast<napi_key_filter>(napi_key_enumerable | napi_key_skip_symbols),
                                        napi_key_numbers_to_strings, &keys));
  uint32_t length;
  must(env, napi_get_array_length(env, keys, &length));
  Values items;
  for (uint32_t i = 0; i < length; i++) {
    const Scope scope(env);
    napi_value key, item;
    must(env, napi_get_element(env, keys, i, &key));
    must(env, napi_get_property(env, v, key, &item));
    const std::string name = string_of(env, key);
    items.all.push_back(string_value(name));
    items.all.push_back(value_of(env, item, {nullptr, &place, 0, &name}, depth + 1));
  }
  return container(LAMELLA_GRAPH_DICT, items);
}

lamella_value of_map(napi_env env, napi_value v, const Place& place, int depth) {
  napi_value global, array, from, pairs;
  must(env, napi_get_global(env, &global));
  must(env, napi_get_named_property(env, global, "Array", &array));
  must(env, napi_get_named_property(env, array, "from", &from));
  must(env, napi_call_function(env, array, from, 1, &v, &pairs));
  uint32_t length;
  must(env, napi_get_array_length(env, pairs, &length));
  Values items;
  for (uint32_t i = 0; i < length; i++) {
    const Scope scope(env);
    napi_value pair, key, item;
    must(env, napi_get_element(env, pairs, i, &pair));
    must(env, napi_get_element(env, pair, 0, &key));
    must(env, napi_get_element(env, pair, 1, &item));
    const std::string name = "(the key of entry " + std::to_string(i) + ")";
    const napi_valuetype type = type_of(env, key);
    if (type != napi_string && type != napi_number && type != napi_bigint && type != napi_boolean)
      throw Error(LAMELLA_TYPE_ERROR, Place{nullptr, &place, 0, &name}.text() +
                                          " must be a string, a number, a BigInt or a boolean, got " +
                                          described(env, key));
    items.all.push_back(value_of(env, key, {nullptr, &place, 0, &name}, depth + 1));
    items.all.push_back(value_of(env, item, {nullptr, &place, i}, depth + 1));
  }
  return container(LAMELLA_GRAPH_DICT, items);
}

// Returns whether an object is one of literals: its prototype is that of objects, or null.
bool is_plain(napi_env env, napi_value v) {
  napi_value prototype, above;
  must(env, napi_get_prototype(env, v, &prototype));
  if (type_of(env, prototype) == napi_null) return true;
  must(env, napi_get_prototype(env, prototype, &above));
  return type_of(env, above) == napi_null;
}

lamella_value of_instance(napi_env env, napi_value v, const Place& place, int depth) {
  if (is_tagged(env, v, TENSOR_TAG)) {
    lamella_value out = lamella::value(tensor_of(env, v));
    api().retain(out.as.tensor);
    return out;
  }
  bool is;
  must(env, napi_is_array(env, v, &is));
  if (is) return of_array(env, v, place, depth);
  must(env, napi_is_typedarray(env, v, &is));
  if (is) return lamella::value(tensor_of_array(env, v).release());
  must(env, napi_instanceof(env, v, referred(env, Addon::of(env).map_class), &is));
  if (is) return of_map(env, v, place, depth);
  must(env, napi_is_promise(env, v, &is));
  if (is) throw Error(LAMELLA_TYPE_ERROR, place.text() + " is a promise: await it first");
  if (!is_plain(env, v)) refuse(place, described(env, v));
  return of_object(env, v, place, depth);
}

}  // namespace

std::string Place::text() const {
  if (!outer) return *function + ": argument " + std::to_string(index + 1);
  return outer->text() + "[" + (key ? *key : std::to_string(index)) + "]";
}

const Place& Place::argument() const { return outer ? outer->argument() : *this; }

lamella_value value_of(napi_env env, napi_value v, const Place& place, int depth) {
  if (depth > DEEPEST)
    throw Error(LAMELLA_TYPE_ERROR, place.argument().text() + " is nested more than 100 deep, or contains itself");
  switch (type_of(env, v)) {
    case napi_undefined:
    case napi_null:
      return none();
    case napi_boolean: {
      bool b;
      must(env, napi_get_value_bool(env, v, &b));
      return lamella::value(b);
    }
    case napi_number: {
      double x;
      must(env, napi_get_value_double(env, v, &x));
      return number_value(x);
    }
    case napi_bigint:
      return bigint_value(env, v, place);
    case napi_string:
      return string_value(string_of(env, v));
    case napi_object:
      return of_instance(env, v, place, depth);
    default:
      refuse(place, described(env, v));
  }
}

// ---- to JavaScript ----

namespace {

napi_value number(napi_env env, double x) {
  napi_value out;
  must(env, napi_create_double(env, x, &out));
  return out;
}

napi_value whole(napi_env env, int64_t i) {
  napi_value out;
  if (std::fabs(static_cast<double>(i)) <= LARGEST)
    must(env, napi_create_int64(env, i, &out));
  else
    must(env, napi_create_bigint_int64(env, i, &out));
  return out;
}

napi_value unsigned_whole(napi_env env, uint64_t u) {
  napi_value out;
  must(env, napi_create_bigint_uint64(env, u, &out));
  return out;
}

napi_value boolean(napi_env env, bool b) {
  napi_value out;
  must(env, napi_get_boolean(env, b, &out));
  return out;
}

napi_value object(napi_env env) {
  napi_value out;
  must(env, napi_create_object(env, &out));
  return out;
}

// Gives an object a property of its own, also for a name such as "__proto__".
void set_own(napi_env env, napi_value object, napi_value name, napi_value value) {
  const napi_property_descriptor d = {nullptr, name, nullptr, nullptr, nullptr, value, napi_default_jsproperty,
                                      nullptr};
  must(env, napi_define_properties(env, object, 1, &d));
}

napi_value complex(napi_env env, double re, double im) {
  const napi_value out = object(env);
  set_own(env, out, text(env, "re"), number(env, re));
  set_own(env, out, text(env, "im"), number(env, im));
  return out;
}

template <class Each>
napi_value array(napi_env env, size_t n, Each each) {
  napi_value out;
  must(env, napi_create_array_with_length(env, n, &out));
  for (size_t i = 0; i < n; i++) {
    const Scope scope(env);
    must(env, napi_set_element(env, out, static_cast<uint32_t>(i), each(i)));
  }
  return out;
}

// The conversion of one result.
class Result {
 public:
  Result(napi_env env, const Program& program) : env_(env), program_(program) {}

  napi_value of(const lamella_value& v, int depth) {
    if (depth > DEEPEST)
      throw Error(LAMELLA_VALUE_ERROR, "the program's result is nested more than 100 deep, or contains itself");
    switch (v.tag) {
      case LAMELLA_NONE:
        return null();
      case LAMELLA_BOOLEAN:
        return boolean(env_, v.as.i != 0);
      case LAMELLA_INT:
        return whole(env_, v.as.i);
      case LAMELLA_UINT:
        return unsigned_whole(env_, v.as.u);
      case LAMELLA_FLOAT:
        return number(env_, v.as.d);
      case LAMELLA_COMPLEX:
        return complex(env_, v.as.doubles[0], v.as.doubles[1]);
      case LAMELLA_STRING:
        return text(env_, {v.as.string, v.length});
      case LAMELLA_DTYPE:
        return text(env_, name(static_cast<ScalarType>(v.as.i)));
      case LAMELLA_DEVICE:
        return text(env_, detail::text(Device(v.as.device)));
      case LAMELLA_TENSOR:
        return tensor(v.as.tensor);
      case LAMELLA_BOOL_LIST:
        return array(env_, v.length, [&](size_t i) { return boolean(env_, v.as.bools[i] != 0); });
      case LAMELLA_INT_LIST:
        return array(env_, v.length, [&](size_t i) { return whole(env_, v.as.ints[i]); });
      case LAMELLA_FLOAT_LIST:
        return array(env_, v.length, [&](size_t i) { return number(env_, v.as.doubles[i]); });
      case LAMELLA_TENSOR_LIST:
        return array(env_, v.length, [&](size_t i) { return tensor(v.as.tensors[i]); });
      case LAMELLA_VALUE_LIST:
        return array(env_, v.length, [&](size_t i) { return of(v.as.values[i], depth + 1); });
      case LAMELLA_DICT:
        return dictionary(v.as.values, 2 * static_cast<size_t>(v.length), depth);
      case LAMELLA_OBJECT:
        return contained(v, depth);
      default:
        throw Error(LAMELLA_TYPE_ERROR, "the program returned a value that JavaScript has no type for");
    }
  }

 private:
  napi_value null() {
    napi_value out;
    must(env_, napi_get_null(env_, &out));
    return out;
  }

  napi_value tensor(lamella_tensor* t) {
    if (!t) return null();
    api().retain(t);
    return tensor_object(env_, t);
  }

  // Pairs of keys and values: an object if all keys are strings, else a Map.
  napi_value dictionary(const lamella_value* items, size_t n, int depth) {
    bool named = true;
    for (size_t i = 0; i < n; i += 2) named = named && items[i].tag == LAMELLA_STRING;
    if (named) {
      const napi_value out = object(env_);
      for (size_t i = 0; i < n; i += 2) {
        const Scope scope(env_);
        set_own(env_, out, text(env_, {items[i].as.string, items[i].length}), of(items[i + 1], depth + 1));
      }
      return out;
    }
    napi_value pairs = array(env_, n / 2, [&](size_t i) {
      return array(env_, 2, [&](size_t k) { return of(items[2 * i + k], depth + 1); });
    });
    napi_value out;
    must(env_, napi_new_instance(env_, referred(env_, Addon::of(env_).map_class), 1, &pairs, &out));
    return out;
  }

  napi_value instance(const lamella_value& v, const std::vector<lamella_value>& attributes, int depth) {
    const std::vector<std::string> names = program_.attributes(graph().class_of(&v));
    const napi_value out = object(env_);
    for (size_t i = 0; i < attributes.size(); i++)
      set_own(env_, out, text(env_, names.at(i)), of(attributes[i], depth + 1));
    return out;
  }

  napi_value contained(const lamella_value& v, int depth) {
    const int32_t kind = graph().kind_of(&v);
    Values owned;
    std::vector<lamella_value> items;  // borrowed from it
    if (kind != LAMELLA_GRAPH_NO_CONTAINER && kind != LAMELLA_GRAPH_FUTURE) {
      owned.all.push_back(none());
      check(graph().items(&v, &owned.all[0]));
      items.assign(owned.all[0].as.values, owned.all[0].as.values + owned.all[0].length);
    }
    switch (kind) {
      case LAMELLA_GRAPH_LIST:
      case LAMELLA_GRAPH_TUPLE:
        return array(env_, items.size(), [&](size_t i) { return of(items[i], depth + 1); });
      case LAMELLA_GRAPH_DICT:
        return dictionary(items.data(), items.size(), depth);
      case LAMELLA_GRAPH_INSTANCE:
        return instance(v, items, depth);
      case LAMELLA_GRAPH_FUTURE: {
        Values result;
        result.all.push_back(none());
        check(graph().wait(&v, &result.all[0]));
        return of(result.all[0], depth + 1);
      }
      default:
        throw Error(LAMELLA_TYPE_ERROR, detail::text("the program returned an object that JavaScript has no type for: ",
                                                     v.as.object->type->name));
    }
  }

  napi_env env_;
  const Program& program_;
};

}  // namespace

napi_value from_value(napi_env env, const Program& program, const lamella_value& v) {
  return Result(env, program).of(v, 0);
}

}  // namespace lamella::node
