// Reads what the index says of functions and classes.
#include "files/description.h"

#include <algorithm>
#include <unordered_set>

#include "run/machine.h"
#include "text/text.h"

namespace lamella::graph::files {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word_character(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }
bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_word_character);
}

// Calls a function with each type within a type.
template <class F>
void each_type(const Type& t, const F& f) {
  f(t);
  for (const TypePtr& part : t.inner) each_type(*part, f);
}

// Reads types, whose names have to be in the index.
class TypeReader {
 public:
  explicit TypeReader(const Json& index) {
    for (const JsonMember& m : index.at("classes").as_object("'classes'")) names_.insert(m.name);
    for (const Json& name : index.at("interfaces").as_list("'interfaces'")) names_.insert(name.as_text("an interface"));
    for (const JsonMember& m : index.at("enums").as_object("'enums'")) {
      names_.insert(m.name);
      enums_.insert(m.name);
    }
  }
  TypePtr read(const Json& text) const {
    const std::string& own = text.as_text("a type");
    TypePtr found;
    try {
      found = parse_type(own);
    } catch (const SyntaxError& e) {
      throw Damage("the type '" + own.substr(0, 80) + "' is none: " + e.what());
    }
    each_type(*found, [&](const Type& t) {
      if (t.kind == Kind::object && !names_.count(t.name))
        throw Damage("there is no type '" + t.name.substr(0, 80) + "', and no class of this name in the program");
    });
    return found;
  }
  // Returns the name of the enum that a type, or the type in an optional one, is; empty for other types.
  std::string enum_of(const Type& t) const {
    if (t.kind == Kind::optional) return enum_of(*t.inner[0]);
    return t.kind == Kind::object && enums_.count(t.name) ? t.name : "";
  }

 private:
  std::unordered_set<std::string> names_, enums_;
};

bool flag(const Json& entry, std::string_view name) {
  const Json* found = entry.find(name);
  const bool* on = found ? std::get_if<bool>(&found->value) : nullptr;
  return on && *on;
}

FunctionEntry function_of(const std::string& name, const Json& entry, const TypeReader& types) {
  FunctionEntry f;
  for (const Json& p : entry.at("parameters").as_list(name + ": 'parameters'")) {
    FunctionEntry::Parameter own;
    own.name = p.at("name").as_text(name + ": the name of a parameter");
    const TypePtr type = types.read(p.at("type"));
    own.type = *p.at("type").text();
    own.of_enum = types.enum_of(*type);
    own.keyword_only = flag(p, "keyword_only");
    own.written = p.find("default");
    own.has_default = own.written != nullptr;
    f.parameters.push_back(std::move(own));
  }
  types.read(entry.at("result"));
  f.result = *entry.at("result").text();
  f.is_static = flag(entry, "static");
  return f;
}

std::vector<std::string> names_of(const std::string& name, const Json& entry, const char* kind) {
  std::vector<std::string> all;
  const Json& list = entry.at(kind);
  const std::string wrong = "class " + name + ": '" + kind + "' has to be a list of names";
  if (!list.list()) throw Damage(wrong);
  for (const Json& x : *list.list()) {
    if (!x.text() || !is_word(*x.text())) throw Damage(wrong);
    all.push_back(*x.text());
  }
  return all;
}

ModuleEntry module_of(const std::string& name, const Json& entry, Values& values) {
  ModuleEntry own;
  own.original = entry.at("original").as_text("class " + name + ": 'original'");
  own.parameters = names_of(name, entry, "parameters");
  own.buffers = names_of(name, entry, "buffers");
  own.modules = names_of(name, entry, "modules");
  own.transient = names_of(name, entry, "transient");
  for (const Json& pair : entry.at("constants").as_list("class " + name + ": 'constants'")) {
    const Json::List& parts = pair.as_list("a constant");
    if (parts.size() != 2) throw Damage("a constant has to have a name and a value");
    try {
      values.alone(parts[1]);
    } catch (const Unsupported&) {  // Python alone reads it
    }
  }
  return own;
}

void check_enum(const std::string& name, const Json& entry) {
  entry.at("original").as_text("the name of an enum");
  for (const Json& pair : entry.at("members").as_list("the members of an enum")) {
    const Json::List& parts = pair.as_list("a member of an enum");
    const std::string* member = parts.size() == 2 ? parts[0].text() : nullptr;
    const bool plain = member && is_word(*member) && is_letter((*member)[0]) && (*member)[0] != '_' && *member != "mro";
    if (!plain)
      throw Damage("the enum " + name + " has a member " + (parts.empty() ? "''" : parts[0].shown()) +
                   ", which is no plain name");
  }
}

}  // namespace

bool is_graph_name(std::string_view name) {
  bool begins = true;  // a part of the name
  for (const char c : name) {
    if (begins ? !is_letter(c) : !(is_word_character(c) || c == '.')) return false;
    begins = c == '.';
  }
  return !begins;
}

std::string text_of_classes(const Json& index) {
  constexpr std::string_view marks = "[]?(), :.*=+!";
  std::string out;
  for (const JsonMember& m : index.at("classes").as_object("'classes'")) {
    if (!is_graph_name(m.name)) throw Damage("'" + m.name.substr(0, 80) + "' is no name of a class");
    out += "class " + m.name + " {\n";
    for (const Json& attribute : m.value.at("attributes").as_list("class " + m.name + ": 'attributes'")) {
      const Json::List& parts = attribute.as_list("an attribute");
      if (parts.size() != 2 && parts.size() != 3) throw Damage("an attribute has to have a name and a type");
      if (!parts[0].text() || !is_word(*parts[0].text()))
        throw Damage("class " + m.name + ": " + parts[0].shown() + " is no name of an attribute");
      const std::string* type = parts[1].text();
      if (!type || type->empty() || !std::all_of(type->begin(), type->end(), [&](char c) {
            return is_word_character(c) || marks.find(c) != std::string_view::npos;
          }))
        throw Damage("class " + m.name + ": the type of " + parts[0].shown() + " is no type: " + parts[1].shown());
      out += "  " + *parts[0].text() + " : " + *type + "\n";
    }
    out += "}\n";
  }
  return out;
}

Description description_of(const Json& index, Tensors& tensors) {
  const TypeReader types(index);
  const Program no_program;
  Values values(tensors, no_program);
  for (const JsonMember& m : index.at("enums").as_object("'enums'")) check_enum(m.name, m.value);
  Description d;
  d.main = index.at("main").as_text("'main'");
  if (const Json* by = index.find("written_by"); by && by->text()) d.written_by = *by->text();
  std::unordered_set<std::string_view> graphs;
  for (const JsonMember& m : index.at("graphs").as_object("'graphs'")) graphs.insert(m.name);
  for (const JsonMember& m : index.at("methods").as_object("'methods'")) {
    if (!graphs.count(m.name)) throw Damage("the method '" + m.name.substr(0, 80) + "' has no graph");
    d.functions[m.name] = function_of(m.name, m.value, types);
  }
  for (const JsonMember& m : index.at("classes").as_object("'classes'")) {
    for (const Json& attribute : m.value.at("attributes").as_list("'attributes'"))
      types.read(attribute.as_list("an attribute").back());
    if (m.value.find("original")) d.modules[m.name] = module_of(m.name, m.value, values);
  }
  return d;
}

void set_defaults(const Json& index, const Program& program, Values& values, Description* description) {
  std::unordered_map<std::string_view, std::unordered_map<std::string_view, int64_t>> enums;  // numbers of members
  for (const JsonMember& m : index.at("enums").as_object("'enums'"))
    for (const Json& pair : *m.value.at("members").list())
      enums[m.name].emplace(*(*pair.list())[0].text(), static_cast<int64_t>(enums[m.name].size()));
  for (auto& [name, f] : description->functions) {
    const auto& parameters = program.find(name)->top().parameters();
    const size_t own = parameters.size() - std::min(parameters.size(), f.parameters.size());  // 1 for `self`
    if (own + f.parameters.size() != parameters.size() || own > 1)
      throw Damage("the method '" + name + "' has " + std::to_string(f.parameters.size()) +
                   " parameters, and its graph " + std::to_string(parameters.size()));
    for (size_t i = 0; i < f.parameters.size(); i++) {
      FunctionEntry::Parameter& p = f.parameters[i];
      if (!p.written) continue;
      Held given = values.alone(*p.written);
      if (!p.of_enum.empty() && p.written->text()) {  // the number of the member
        const auto& members = enums[p.of_enum];
        const auto found = members.find(*p.written->text());
        if (found == members.end())
          throw Damage("the enum " + p.of_enum + " has no member '" + p.written->text()->substr(0, 80) + "'");
        given = Held(lamella::value(found->second));
      }
      p.value = Held(converted(given.get(), *parameters[own + i]->type, name + ": the default of '" + p.name + "'"));
      p.written = nullptr;
    }
  }
}

void check_modules(const lamella_value& root, const Description& description) {
  const auto known = [&](const lamella_value& v) {
    return is_object(v, instance_type) && description.modules.count(instance_of(v).type->name);
  };
  if (!known(root))
    throw Damage("its object is of class " + instance_of(root).type->name + ", which is no class of modules");
  std::vector<const Instance*> waiting = {&instance_of(root)};
  std::unordered_set<const Instance*> seen = {waiting[0]};
  std::unordered_map<const Class*, std::unordered_map<std::string_view, size_t>> places;  // of attributes
  while (!waiting.empty()) {
    const Instance& self = *waiting.back();
    waiting.pop_back();
    const std::string& name = self.type->name;
    const ModuleEntry& own = description.modules.at(name);
    auto& known_places = places[self.type.get()];
    if (known_places.empty())
      for (size_t i = 0; i < self.type->attributes.size(); i++) known_places[self.type->attributes[i].first] = i;
    const auto value_of_name = [&](const std::string& attribute) {
      const auto found = known_places.find(attribute);
      return found == known_places.end() ? none() : self.attributes[found->second];
    };
    for (const auto* names : {&own.parameters, &own.buffers})
      for (const std::string& n : *names) {
        const uint32_t tag = value_of_name(n).tag;
        if (tag != LAMELLA_NONE && tag != LAMELLA_TENSOR) throw Damage(name + "." + n + " has to be a tensor");
      }
    for (const std::string& n : own.modules) {
      const lamella_value v = value_of_name(n);
      if (v.tag == LAMELLA_NONE) continue;
      if (!known(v)) throw Damage(name + "." + n + " has to be an object of a class of modules");
      if (seen.insert(&instance_of(v)).second) waiting.push_back(&instance_of(v));
    }
  }
}

}  // namespace lamella::graph::files
