// Reads values of the index. Every tag and number in it is checked.
#include "files/values.h"

#include <charconv>
#include <cstring>
#include <unordered_set>

#include "run/machine.h"
#include "signatures/builtins.h"

namespace lamella::graph::files {
namespace {

// The values of checkpoints that are none of programs.
const std::unordered_set<std::string_view> foreign = {
    "$set",    "$frozenset", "$deque", "$bytes",   "$bytearray",  "$namespace",
    "$scalar", "$array",     "$text",  "$storage", "$functional",
};

uint64_t hex_of(const Json& text, size_t most_digits) {
  std::string_view digits = text.as_text("a hexadecimal number");
  if (digits.substr(0, 2) == "0x") digits.remove_prefix(2);
  uint64_t bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  if (digits.empty() || digits.size() > most_digits || error != std::errc() || end != digits.data() + digits.size())
    throw Damage("expected a hexadecimal number, got " + text.shown());
  return bits;
}

double float_of(const Json& x) {
  if (const double* d = std::get_if<double>(&x.value)) return *d;
  const uint64_t bits = hex_of(x.at("$float"), 16);
  double out;
  std::memcpy(&out, &bits, sizeof out);
  return out;
}

lamella_value word(uint32_t tag, int64_t number) { return {tag, 0, {number}}; }

lamella_value dtype_of(const std::string& name) {
  int32_t dtype = 0;
  check(api().find_dtype(name.c_str(), &dtype));
  return word(LAMELLA_DTYPE, dtype);
}

lamella_value format_of(const std::string& name) {
  const int64_t found = memory_format_of_word(name);
  if (found < 0) throw Damage("memory format '" + name + "' is unknown");
  return word(LAMELLA_MEMORY_FORMAT, found);
}

lamella_value generator_of(const Json::List& parts) {
  if (parts.size() != 3) throw Damage("a generator has to have a device, a seed and an offset");
  const auto number = [](const Json& x) {
    if (const uint64_t* big = std::get_if<uint64_t>(&x.value)) return *big;
    return x.object() ? hex_of(x.at("$int"), 16) : static_cast<uint64_t>(x.as_number_of_part());
  };
  const uint64_t seed = number(parts[1]), offset = number(parts[2]);
  lamella_object* made = nullptr;
  check(api().generator_new(Device(parts[0].as_text("a device")).get(), seed, &made));
  lamella_value v = value_of(made);
  if (const lamella_status st = api().generator_set(made, seed, offset)) {
    release(v);
    check(st);
  }
  return v;
}

bool is_key(const lamella_value& v) {
  return (v.tag >= LAMELLA_BOOLEAN && v.tag <= LAMELLA_STRING) || v.tag == LAMELLA_TENSOR ||
         is_object(v, instance_type);
}

void release_all(std::vector<lamella_value>& all) {
  for (lamella_value& v : all) release(v);
}

}  // namespace

Held Values::alone(const Json& node) {
  struct Scope {
    int& depth;
    explicit Scope(int& depth) : depth(depth) { depth++; }
    ~Scope() { depth--; }
  } scope(alone_);
  return value(node);
}

Held Values::value(const Json& node) {
  if (const Json::List* list = node.list()) return numbered(Held(new_list(items(*list))), "list");
  if (node.object()) return object(node);
  return scalar(node);
}

Held Values::scalar(const Json& node) {
  if (const bool* x = std::get_if<bool>(&node.value)) return Held(lamella::value(*x));
  if (const int64_t* x = std::get_if<int64_t>(&node.value)) return Held(lamella::value(*x));
  if (const double* x = std::get_if<double>(&node.value)) return Held(lamella::value(*x));
  if (const std::string* x = node.text()) return Held(new_string(*x));
  if (const uint64_t* x = std::get_if<uint64_t>(&node.value)) {
    lamella_value v{LAMELLA_UINT, 0, {0}};
    v.as.u = *x;
    return Held(v);
  }
  return Held();
}

Held Values::object(const Json& json) {
  const Json::Object& node = *json.object();
  if (node.empty() || node[0].name.empty() || node[0].name[0] != '$') return plain(node);
  const std::string& tag = node[0].name;
  if (tag == "$object") return numbered(instance(json), "object");
  return tagged(tag, node[0].value);
}

Held Values::tagged(const std::string& tag, const Json& content) {
  if (tag == "$tensor") return Held(copy_of(lamella::value(tensors_.tensor(content))));
  if (tag == "$same") return same(content);
  if (tag == "$tuple") {
    const Json::List& list = content.as_list("a tuple");
    Held made(new_tuple(items(list)));
    return list.empty() ? std::move(made) : numbered(std::move(made), "tuple");
  }
  if (tag == "$dict" || tag == "$ordered_dict" || tag == "$default_dict" || tag == "$counter")
    return numbered(pairs(content), "dict");
  if (tag == "$size") return Held(new_tuple(items(content.as_list("a size"))));
  if (tag == "$float") {
    const uint64_t bits = hex_of(content, 16);
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return Held(lamella::value(x));
  }
  if (tag == "$complex") {
    const Json::List& parts = content.as_list("a complex number");
    if (parts.size() != 2) throw Damage("a complex number has to have two parts");
    return Held(new_complex(float_of(parts[0]), float_of(parts[1])));
  }
  if (tag == "$int") {
    lamella_value v{LAMELLA_UINT, 0, {0}};
    v.as.u = hex_of(content, 16);
    if (v.as.u <= INT64_MAX) v.tag = LAMELLA_INT;
    return Held(v);
  }
  if (tag == "$dtype") return Held(dtype_of(content.as_text("a dtype")));
  if (tag == "$device") return Held(copy_of(lamella::value(Device(content.as_text("a device")))));
  if (tag == "$memory_format") return Held(format_of(content.as_text("a memory format")));
  if (tag == "$layout") {
    if (content.as_text("a layout") != "strided")
      throw Damage("layout '" + *content.text() + "' is unknown; 'strided' is the only one");
    return Held(word(LAMELLA_LAYOUT, 0));
  }
  if (tag == "$generator") return Held(generator_of(content.as_list("a generator")));
  if (tag == "$module") throw Damage("it has a module of Python, as checkpoints alone have");
  if (foreign.count(tag)) throw Unsupported("a value '" + tag + "' is none that a program has");
  throw Damage("'" + tag.substr(0, 40) + "' is no kind of value");
}

Held Values::numbered(Held made, const char* kind) {
  if (alone_) return made;
  const bool shared = is_object(made.get(), instance_type);
  containers_.push_back({Held(shared ? copy_of(made.get()) : none()), kind});
  return made;
}

Held Values::same(const Json& number) {
  if (alone_) throw Damage("'$same' is inside a part in which nothing is numbered");
  const auto n = static_cast<size_t>(number.as_number_of_part());
#ifndef LAMELLA_PLANTED_PROGRAM  // the tests remove this check, to verify that the fuzzer finds the fault
  if (n >= containers_.size())
    throw Damage("'$same' names the container " + std::to_string(n) + ", which is not there");
#endif
  const Numbered& found = containers_[n];
  if (found.value.get().tag == LAMELLA_NONE)
    throw Damage(std::string("'$same' stands for a ") + found.kind + ", which no file of this kind shares");
  return Held(copy_of(found.value.get()));
}

std::vector<lamella_value> Values::items(const Json::List& list) {
  std::vector<lamella_value> all;
  all.reserve(list.size());
  try {
    for (const Json& x : list) all.push_back(value(x).give());
  } catch (...) {
    release_all(all);
    throw;
  }
  return all;
}

Held Values::plain(const Json::Object& node) {
  auto* d = new Dict;
  Held made(value_of(d));
  for (const JsonMember& m : node) {
    Held key(new_string(m.name)), x = value(m.value);
    d->set(key.give(), x.give());
  }
  return numbered(std::move(made), "dict");
}

Held Values::pairs(const Json& list) {
  auto* d = new Dict;
  Held made(value_of(d));
  for (const Json& pair : list.as_list("a dict")) {
    const Json::List& parts = pair.as_list("an entry of a dict");
    if (parts.size() != 2) throw Damage("an entry of a dict has to have a key and a value");
    Held key = alone(parts[0]), x = value(parts[1]);
    if (!is_key(key.get())) throw Damage("a key of a dict has to be a number, text, or a tensor");
    d->set(key.give(), x.give());
  }
  return made;
}

const Values::KnownClass& Values::class_named(const std::string& name) {
  const auto known = classes_.find(name);
  if (known != classes_.end()) return known->second;
  const auto found = program_.classes.find(name);
  if (found == program_.classes.end()) throw Damage("the program has no class '" + name.substr(0, 80) + "'");
  KnownClass& made = classes_[name];
  made.type = found->second;
  for (size_t i = 0; i < made.type->attributes.size(); i++) made.places[made.type->attributes[i].first] = i;
  return made;
}

Held Values::instance(const Json& node) {
  const std::string& name = node.at("$object").as_text("the class of an object");
  const KnownClass& own = class_named(name);
  const Class& type = *own.type;
  auto* made = new Instance;
  Held out(value_of(made));
  made->type = own.type;
  made->attributes.assign(type.attributes.size(), none());
  std::vector<bool> given(type.attributes.size());
  for (const Json& pair : node.at("attributes").as_list("'attributes'")) {
    const Json::List& parts = pair.as_list("an attribute");
    if (parts.size() != 2) throw Damage("an attribute has to have a name and a value");
    const std::string& attribute = parts[0].as_text("the name of an attribute");
    const auto found = own.places.find(attribute);
    if (found == own.places.end())
      throw Damage("class " + name + " has no attribute '" + attribute.substr(0, 80) + "'");
    const size_t at = found->second;
    const Held x = value(parts[1]);
    Held taken(converted(x.get(), *type.attributes[at].second, name + ": attribute '" + attribute + "'"));
    release(made->attributes[at]);
    made->attributes[at] = taken.give();
    given[at] = true;
  }
  for (size_t i = 0; i < given.size(); i++)
    if (!given[i]) throw Damage("class " + name + ": attribute '" + type.attributes[i].first + "' is missing");
  return out;
}

}  // namespace lamella::graph::files
