// Reads and prints the schemas of builtins.
#include <algorithm>

#include "signatures/builtins.h"
#include "text/literals.h"

namespace lamella::graph {
namespace {

class SchemaParser : public LiteralParser {
 public:
  explicit SchemaParser(std::string_view text) : LiteralParser(text) { facts_of_tensors_ = false; }

  Signature schema() {
    Signature s;
    s.name = name();
    while (take("::")) s.name += "::" + name();
    if (take(".")) s.overload = part();
    expect("(");
    bool keyword_only = false;
    list(")", [&] {
      if (take("*")) {
        keyword_only = true;
        return;
      }
      if (s.variadic) fail("'...' stands behind all other arguments");
      if (take("...")) {
        s.variadic = true;
        return;
      }
      Signature::Argument a;
      a.keyword_only = keyword_only;
      a.type = annotated(&a.alias, &a.written);
      a.name = name();
      if (take("=")) {
        a.has_default = true;
        const bool word = a.type->kind == Kind::memory_format && memory_format_of_word(token_) >= 0;
        a.default_value = word ? Literal{Literal::Word{Kind::memory_format, name()}} : literal();
      }
      s.arguments.push_back(std::move(a));
    });
    expect("->");
    if (!is("(") || !peek_after_blanks(')')) {  // several parts in parentheses are one tuple
      Signature::Result r;
      bool written = false;
      r.type = annotated(&r.alias, &written);
      s.results.push_back(std::move(r));
    } else {
      expect("(");
      expect(")");
    }
    if (kind_ != Token::end) fail("expected the end of the schema");
    return s;
  }

 private:
  // Reads a type with an alias set: "Tensor(a!)", "t[](a!)?".
  TypePtr annotated(std::string* alias, bool* written) {
    TypePtr t = type();
    if (!take("(")) return t;
    *alias = name();
    *written = take("!");
    expect(")");
    while (is("[") || is("?")) {
      if (take("?")) {
        t = Type::optional(std::move(t));
      } else {
        expect("[");
        expect("]");
        t = Type::list(std::move(t));
      }
    }
    return t;
  }
};

}  // namespace

Signature parse_schema(std::string_view text) { return SchemaParser(text).schema(); }

bool Signature::writes() const {
  return std::any_of(arguments.begin(), arguments.end(), [](const Argument& a) { return a.written; });
}

std::string Signature::text() const {
  std::string out = name + (overload.empty() ? "" : "." + overload) + "(";
  bool keyword_only = false;
  for (size_t i = 0; i < arguments.size(); i++) {
    const Argument& a = arguments[i];
    if (i) out += ", ";
    if (a.keyword_only && !keyword_only) out += "*, ";
    keyword_only = a.keyword_only;
    out += a.type->text();
    if (!a.alias.empty()) out += "(" + a.alias + (a.written ? "!" : "") + ")";
    out += " " + a.name;
    if (a.has_default) out += "=" + a.default_value.text();
  }
  if (variadic) out += arguments.empty() ? "..." : ", ...";
  out += ") -> ";
  if (results.size() != 1) out += "(";
  for (size_t i = 0; i < results.size(); i++) {
    out += (i ? ", " : "") + results[i].type->text();
    if (!results[i].alias.empty()) out += "(" + results[i].alias + ")";
  }
  return results.size() == 1 ? out : out + ")";
}

}  // namespace lamella::graph
