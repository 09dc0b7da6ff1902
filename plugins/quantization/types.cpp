#include "types.h"

#include <cmath>
#include <deque>
#include <mutex>

namespace lamella::quantization {
namespace {

struct Entry {
  NumericType type;
  bool there = true;
};

std::mutex guard;

std::deque<Entry>& entries() {
  static auto* all = new std::deque<Entry>{
      {{"int8", kChar, 8, -128, 127, 127}},
      {{"uint8", kByte, 8, 0, 255, 255}},
      {{"int16", kShort, 16, INT16_MIN, INT16_MAX, INT16_MAX}},
      {{"int32", kInt, 32, INT32_MIN, INT32_MAX, INT32_MAX}},
      {{"int4", kChar, 4, -8, 7, 7}},
      {{"uint4", kByte, 4, 0, 15, 15}},
  };
  return *all;
}

Entry* found(std::string_view name) {
  for (Entry& e : entries())
    if (e.there && e.type.name == name) return &e;
  return nullptr;
}

std::vector<std::string> names() {
  std::lock_guard lock(guard);
  std::vector<std::string> all;
  for (const Entry& e : entries())
    if (e.there) all.push_back(e.type.name);
  return all;
}

const lamella_operator* operator_named(const char* argument, const std::string& name) {
  const size_t dot = name.find('.');
  const std::string overload = dot == std::string::npos ? "" : name.substr(dot + 1);
  const lamella_operator* op = api().find_operator(name.substr(0, dot).c_str(), overload.c_str());
  LAMELLA_CHECK_VALUE(op, "argument '", argument, "': there is no operator '", name, "'");
  return op;
}

void add_type(const std::string& name, int64_t bits, double largest, const std::string& encode,
              const std::string& decode, const Dict& kernels) {
  LAMELLA_CHECK_VALUE(!name.empty(), "argument 'name': a numeric type needs a name");
  LAMELLA_CHECK_VALUE(bits == 4 || bits == 8, "argument 'bits': a code has 4 or 8 bits, got ", bits);
  LAMELLA_CHECK_VALUE(largest > 0 && std::isfinite(largest),
                      "argument 'largest': expected the greatest number at scale 1, got ", largest);
  NumericType t{name,
                kByte,
                static_cast<int>(bits),
                0,
                (int64_t{1} << bits) - 1,
                largest,
                operator_named("encode", encode),
                operator_named("decode", decode),
                {}};
  for (size_t i = 0; i < kernels.size(); i++) {
    LAMELLA_CHECK_TYPE(kernels.value(i).tag == LAMELLA_STRING, "argument 'kernels': expected names of operators");
    t.kernels[std::string(kernels.key(i))] = operator_named("kernels", kernels.value(i).as.string);
  }
  std::lock_guard lock(guard);
  LAMELLA_CHECK(!found(name), "argument 'name': there is a numeric type '", name, "' already");
  entries().push_back({std::move(t)});
}

void remove_type(const std::string& name) {
  std::lock_guard lock(guard);
  Entry* e = found(name);
  LAMELLA_CHECK_VALUE(e && !e->type.is_integer(), "argument 'name': no package has registered a numeric type '", name,
                      "'");
  e->there = false;
}

}  // namespace

const lamella_operator* NumericType::kernel(const lamella_operator* op) const {
  if (kernels.empty()) return nullptr;
  const auto at = kernels.find(api().operator_name(op));
  return at == kernels.end() ? nullptr : at->second;
}

const NumericType& find_type(std::string_view name) {
  {
    std::lock_guard lock(guard);
    if (const Entry* e = found(name)) return e->type;
  }
  std::string all;
  for (const std::string& n : names()) all += (all.empty() ? "" : ", ") + n;
  throw Error(LAMELLA_VALUE_ERROR, "there is no numeric type '" + std::string(name) + "'; there are " + all +
                                       ". A package that brings another one registers it when it is imported");
}

void register_types(Library& m) {
  m.def("register_type(str name, int bits, float largest, str encode, str decode, Dict(str, Any) kernels) -> ()",
        add_type);
  m.def("remove_type(str name) -> ()", remove_type);
  m.def("type_names() -> str[]", names);
  m.def("largest(str name) -> float", [](const std::string& name) { return find_type(name).largest; });
}

}  // namespace lamella::quantization
