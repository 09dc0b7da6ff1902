#include "dispatcher/schema.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace lamella::dispatcher {
namespace {

std::string typed(const Type& t, const Alias& a) {
  std::string s = t.text;
  if (!a.present()) return s;
  std::string mark = "(" + a.before + (a.write ? "!" : "") + (a.after != a.before ? " -> " + a.after : "") + ")";
  size_t end = 0;
  while (end < s.size() && (std::isalnum(static_cast<unsigned char>(s[end])) || s[end] == '_' || s[end] == '.')) end++;
  return s.substr(0, end) + mark + s.substr(end);
}

uint32_t flag(bool on, lamella_argument_flags which) { return on ? uint32_t{which} : 0; }

uint32_t type_flags(const Type& t) {
  return flag(t.list, LAMELLA_ARGUMENT_LIST) | flag(t.optional, LAMELLA_ARGUMENT_OPTIONAL) |
         flag(t.optional_elements, LAMELLA_ARGUMENT_OPTIONAL_ELEMENTS);
}

// Returns whether an argument names dimensions: LAMELLA_ARGUMENT_DIM. A SymInt is a size, as in `tile(SymInt[] dims)`.
// A plain integer `dims` is a number of dimensions, as in `tensordot`. `source` and `destination` name dimensions where
// both are given, as in `movedim`.
bool names_dimensions(const Argument& a, const std::vector<Argument>& all) {
  if (a.type.kind != Kind::Int || a.type.text.compare(0, 6, "SymInt") == 0) return false;
  static const std::set<std::string> one = {"dim", "axis", "dimension", "start_dim", "end_dim"};
  static const std::set<std::string> several = {"dims", "axes"};
  const std::string word = a.name.substr(0, a.name.find_last_not_of("0123456789") + 1);  // dim0, axis1
  if (one.count(word) || (a.type.list && several.count(word))) return true;
  const auto has = [&](const char* name) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Argument& b) { return b.name == name && b.type.kind == Kind::Int; });
  };
  return (word == "source" && has("destination")) || (word == "destination" && has("source"));
}

// Returns what stands before an argument: a comma, and a star before the first keyword-only one.
std::string before(const std::vector<Argument>& args, size_t i) {
  const bool starts = args[i].keyword_only && (i == 0 || !args[i - 1].keyword_only);
  return std::string(i ? ", " : "") + (starts ? "*, " : "");
}

}  // namespace

std::string Schema::text() const {
  std::string s = ns + "::" + name + (overload.empty() ? "" : "." + overload) + "(";
  for (size_t i = 0; i < args.size(); i++) {
    const Argument& a = args[i];
    s += before(args, i) + typed(a.type, a.alias) + " " + a.name;
    if (a.has_default) s += "=" + a.default_text;
  }
  if (variadic_args) s += args.empty() ? "..." : ", ...";
  s += ") -> ";
  bool parens = rets.size() != 1 || variadic_rets;
  if (parens) s += "(";
  for (size_t i = 0; i < rets.size(); i++)
    s += (i ? ", " : "") + typed(rets[i].type, rets[i].alias) + (rets[i].name.empty() ? "" : " " + rets[i].name);
  if (variadic_rets) s += rets.empty() ? "..." : ", ...";
  return s + (parens ? ")" : "");
}

std::string Schema::signature() const {
  std::string s = "(";
  for (size_t i = 0; i < args.size(); i++) {
    const Argument& a = args[i];
    s += before(args, i) + a.name;
    if (!a.has_default) continue;
    bool name = a.value.tag == LAMELLA_MEMORY_FORMAT || a.value.tag == LAMELLA_LAYOUT || a.value.tag == LAMELLA_DTYPE;
    s += "=" + (name ? "None" : a.default_text);
  }
  return s + ")";
}

void Schema::describe() {
  described_args.clear();
  described_rets.clear();
  for (Argument& a : args) {
    a.dim = names_dimensions(a, args);
    const uint32_t flags = type_flags(a.type) | flag(a.keyword_only, LAMELLA_ARGUMENT_KEYWORD_ONLY) |
                           flag(a.has_default, LAMELLA_ARGUMENT_HAS_DEFAULT) |
                           flag(a.alias.write, LAMELLA_ARGUMENT_WRITTEN) | flag(a.is_out, LAMELLA_ARGUMENT_OUT) |
                           flag(a.dim, LAMELLA_ARGUMENT_DIM);
    described_args.push_back(
        {sizeof(lamella_argument), static_cast<uint32_t>(a.type.kind), flags, -1, a.name.c_str(), a.value});
  }
  for (const Return& r : rets) {
    int32_t of = -1;
    for (size_t k = 0; k < args.size() && r.alias.present() && of < 0; k++)
      if (args[k].alias.present() && args[k].alias.before == r.alias.before) of = static_cast<int32_t>(k);
    described_rets.push_back({sizeof(lamella_argument), static_cast<uint32_t>(r.type.kind), type_flags(r.type), of,
                              r.name.c_str(), core::none()});
  }
}

}  // namespace lamella::dispatcher
