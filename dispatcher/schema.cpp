#include "dispatcher/schema.h"

#include <cctype>

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

}  // namespace

std::string Schema::text() const {
  std::string s = ns + "::" + name + (overload.empty() ? "" : "." + overload) + "(";
  bool starred = false;
  for (size_t i = 0; i < args.size(); i++) {
    const Argument& a = args[i];
    if (i) s += ", ";
    if (a.keyword_only && !starred) {
      s += "*, ";
      starred = true;
    }
    s += typed(a.type, a.alias) + " " + a.name;
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
  bool starred = false;
  for (size_t i = 0; i < args.size(); i++) {
    const Argument& a = args[i];
    if (i) s += ", ";
    if (a.keyword_only && !starred) {
      s += "*, ";
      starred = true;
    }
    s += a.name;
    if (!a.has_default) continue;
    bool name = a.value.tag == LAMELLA_MEMORY_FORMAT || a.value.tag == LAMELLA_LAYOUT || a.value.tag == LAMELLA_DTYPE;
    s += "=" + (name ? "None" : a.default_text);
  }
  return s + ")";
}

void Schema::describe() {
  described_args.clear();
  described_rets.clear();
  for (const Argument& a : args) {
    const uint32_t flags = type_flags(a.type) | flag(a.keyword_only, LAMELLA_ARGUMENT_KEYWORD_ONLY) |
                           flag(a.has_default, LAMELLA_ARGUMENT_HAS_DEFAULT) |
                           flag(a.alias.write, LAMELLA_ARGUMENT_WRITTEN) | flag(a.is_out, LAMELLA_ARGUMENT_OUT);
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
