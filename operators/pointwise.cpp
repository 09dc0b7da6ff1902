// The table of pointwise operators: the families, and the second names that torch gives some of them.
#include "operators/pointwise.h"

#include <cstring>

namespace lamella::operators {
namespace {

// An alias has every overload, form and kernel of the operator that it names. Its name also goes into the list at the
// end of the family's header, so that backends give it the same loops.
struct SecondName {
  const char *name, *of;
};
constexpr SecondName aliases[] = {
    {"absolute", "abs"},    {"arccos", "acos"},   {"arccosh", "acosh"}, {"arcsin", "asin"},      {"arcsinh", "asinh"},
    {"arctan", "atan"},     {"arctan2", "atan2"}, {"arctanh", "atanh"}, {"clip", "clamp"},       {"divide", "div"},
    {"true_divide", "div"}, {"fix", "trunc"},     {"greater", "gt"},    {"greater_equal", "ge"}, {"less", "lt"},
    {"less_equal", "le"},   {"multiply", "mul"},  {"negative", "neg"},  {"not_equal", "ne"},     {"subtract", "sub"},
};

const char* kept(const std::string& text) { return strdup(text.c_str()); }  // never freed, as an operator's texts

std::string renamed(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

Declaration alias_of(const Declaration& d, const SecondName& a) {
  Declaration copy = d;
  copy.schema = kept(a.name + std::string(d.schema).substr(std::strlen(a.of)));
  if (d.doc)
    copy.doc = kept("Another name of " + std::string(a.of) + ".\n\n" +
                    renamed(d.doc, "lamella." + std::string(a.of) + "(", "lamella." + std::string(a.name) + "("));
  return copy;
}

bool is_named(const Declaration& d, const char* name) {
  const size_t n = std::strlen(name);
  return std::strncmp(d.schema, name, n) == 0 && (d.schema[n] == '.' || d.schema[n] == '(');
}

}  // namespace

const std::vector<Declaration>& pointwise_operators() {
  static const auto* table = [] {
    auto* all = new std::vector<Declaration>;
    for (auto family : {arithmetic_operators, function_operators, choosing_operators, activation_operators,
                        backward_operators, elementwise_operators})
      for (const Declaration& d : family()) all->push_back(d);
    const std::vector<Declaration> own = *all;
    for (const SecondName& a : aliases)
      for (const Declaration& d : own)
        if (is_named(d, a.of)) all->push_back(alias_of(d, a));
    return all;
  }();
  return *table;
}

}  // namespace lamella::operators
