// Compares values with types, and converts the arguments of the host.
#include <algorithm>

#include "run/future.h"
#include "run/machine.h"

namespace lamella::graph {
namespace {

[[noreturn]] void refuse(const lamella_value& v, const Type& type, const std::string& what) {
  std::string got = v.tag == LAMELLA_TENSOR ? "a Tensor" : repr_of(v);
  if (got.size() > 60) got = got.substr(0, 57) + "...";
  throw Error(LAMELLA_TYPE_ERROR, what + " has to be " + type.text() + ", got " + got);
}

bool holds_one_number(const Type& t) {
  return t.kind == Kind::integer || t.kind == Kind::floating || t.kind == Kind::boolean || t.kind == Kind::complex;
}

// Converts the element of a tensor of one element.
lamella_value converted_item(const lamella_value& tensor, const Type& type, const std::string& what) {
  lamella_value item = none();
  check(api().call(nullptr, api().find_operator("aten::item", ""), &tensor, 1, &item, 1));
  lamella_value out = none();
  try {
    out = converted(item, type, what);
  } catch (...) {
    release(item);
    throw;
  }
  release(item);
  return out;
}

}  // namespace

bool is_of(const lamella_value& v, const Type& type) {
  switch (type.kind) {
    case Kind::any:
      return true;
    case Kind::tensor:
      return v.tag == LAMELLA_TENSOR;  // facts describe one run, and restrict no other
    case Kind::integer:
      return v.tag == LAMELLA_INT;
    case Kind::floating:
      return v.tag == LAMELLA_FLOAT;
    case Kind::complex:
      return v.tag == LAMELLA_COMPLEX;
    case Kind::boolean:
      return v.tag == LAMELLA_BOOLEAN;
    case Kind::number:
      return v.tag >= LAMELLA_BOOLEAN && v.tag <= LAMELLA_COMPLEX;
    case Kind::string:
      return v.tag == LAMELLA_STRING;
    case Kind::none:
      return v.tag == LAMELLA_NONE;
    case Kind::device:
      return v.tag == LAMELLA_DEVICE;
    case Kind::dtype:
      return v.tag == LAMELLA_DTYPE;
    case Kind::layout:
      return v.tag == LAMELLA_LAYOUT;
    case Kind::memory_format:
      return v.tag == LAMELLA_MEMORY_FORMAT;
    case Kind::optional:
      return v.tag == LAMELLA_NONE || is_of(v, *type.inner[0]);
    case Kind::list: {
      if (!is_object(v, list_type)) return false;
      const auto& items = list_of(v).items;
      return std::all_of(items.begin(), items.end(), [&](const lamella_value& x) { return is_of(x, *type.inner[0]); });
    }
    case Kind::tuple:
      return is_object(v, tuple_type) &&
             std::equal(tuple_of(v).items.begin(), tuple_of(v).items.end(), type.inner.begin(), type.inner.end(),
                        [](const lamella_value& x, const TypePtr& t) { return is_of(x, *t); });
    case Kind::dict:
      if (!is_object(v, dict_type)) return false;
      for (const Dict::Entry& e : dict_of(v).entries())
        if (!is_of(e.key, *type.inner[0]) || !is_of(e.value, *type.inner[1])) return false;
      return true;
    case Kind::object:
      return is_object(v, instance_type) && instance_of(v).type->name == type.name;
    case Kind::future:
      return is_object(v, future_type);
    case Kind::generator:
    case Kind::function:
      return v.tag == LAMELLA_OBJECT;
  }
  return false;
}

lamella_value converted(const lamella_value& v, const Type& type, const std::string& what) {
  if (is_of(v, type)) return copy_of(v);
  if (type.kind == Kind::optional) return converted(v, *type.inner[0], what);
  if (v.tag == LAMELLA_TENSOR && v.as.tensor->numel == 1 && holds_one_number(type))
    return converted_item(v, type, what);
  if (type.kind == Kind::integer && v.tag == LAMELLA_BOOLEAN) return value(v.as.i);
  if (type.kind == Kind::floating && (v.tag == LAMELLA_INT || v.tag == LAMELLA_UINT || v.tag == LAMELLA_BOOLEAN))
    return value(as_double(v));
  if (type.kind == Kind::complex && (v.tag == LAMELLA_INT || v.tag == LAMELLA_FLOAT))
    return new_complex(as_double(v), 0);
  if (type.kind == Kind::list) {  // with elements to convert, or a tuple
    lamella_value list = unflattened(copy_of(v));
    std::vector<lamella_value> items;
    try {
      const std::vector<lamella_value>* from = is_object(list, list_type)    ? &list_of(list).items
                                               : is_object(list, tuple_type) ? &tuple_of(list).items
                                                                             : nullptr;
      if (!from) refuse(v, type, what);
      for (const lamella_value& x : *from) items.push_back(converted(x, *type.inner[0], what));
    } catch (...) {
      for (lamella_value& x : items) release(x);
      release(list);
      throw;
    }
    release(list);
    return new_list(std::move(items));
  }
  if (type.kind == Kind::tuple && is_object(v, tuple_type) && tuple_of(v).items.size() == type.inner.size()) {
    std::vector<lamella_value> items;
    try {
      for (size_t i = 0; i < type.inner.size(); i++)
        items.push_back(converted(tuple_of(v).items[i], *type.inner[i], what));
    } catch (...) {
      for (lamella_value& x : items) release(x);
      throw;
    }
    return new_tuple(std::move(items));
  }
  if (type.kind == Kind::dict && is_object(v, dict_type)) {
    auto* made = new Dict;
    lamella_value owned = value_of(made);
    try {
      for (const Dict::Entry& e : dict_of(v).entries()) {
        lamella_value key = converted(e.key, *type.inner[0], what), item = none();
        try {
          item = converted(e.value, *type.inner[1], what);
        } catch (...) {
          release(key);
          throw;
        }
        made->set(key, item);  // takes both over, also if it fails
      }
    } catch (...) {
      release(owned);
      throw;
    }
    return owned;
  }
  refuse(v, type, what);
}

}  // namespace lamella::graph
