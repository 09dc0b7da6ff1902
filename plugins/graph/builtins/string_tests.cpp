// Builtins that test the characters of a text: isalpha() and its like.
#include "builtins/arguments.h"
#include "builtins/tables.h"
#include "builtins/unicode.h"

namespace lamella::graph {
namespace {

using unicode::traits;

// Returns whether the text has characters, and each of them one of these traits.
template <uint32_t Traits>
lamella_value all(const lamella_value* a) {
  const std::u32string text = unicode::decode(string_of(a[0]));
  for (const char32_t c : text)
    if (!(traits(c) & Traits)) return made(false);
  return made(!text.empty());
}

// Returns whether the text has characters with a case, and all of them have this one.
template <uint32_t Case>
lamella_value in_case(const lamella_value* a) {
  bool any = false;
  for (const char32_t c : unicode::decode(string_of(a[0]))) {
    const uint32_t cases = traits(c) & (unicode::lower | unicode::upper | unicode::title);
    if (cases & ~(Case == unicode::upper ? Case | unicode::title : Case)) return made(false);
    if (Case == unicode::upper && cases == unicode::title) return made(false);
    any |= cases != 0;
  }
  return made(any);
}

// Returns whether upper-case and title-case characters begin words, and lower-case ones go on with them.
lamella_value is_title(const lamella_value* a) {
  bool any = false, within = false;
  for (const char32_t c : unicode::decode(string_of(a[0]))) {
    const uint32_t t = traits(c);
    if (t & unicode::title) {
      if (within) return made(false);
      any = within = true;
    } else if (t & unicode::lower) {
      if (!within) return made(false);
      any = true;
    } else {
      within = false;
    }
  }
  return made(any);
}

lamella_value is_identifier(const lamella_value* a) {
  const std::u32string text = unicode::decode(string_of(a[0]));
  for (size_t i = 0; i < text.size(); i++)
    if (!(traits(text[i]) & (i ? unicode::identifier_part : unicode::identifier_start))) return made(false);
  return made(!text.empty());
}

lamella_value is_printable(const lamella_value* a) {
  for (const char32_t c : unicode::decode(string_of(a[0])))
    if (!(traits(c) & unicode::printable)) return made(false);
  return made(true);
}

constexpr Builtin string_tests_rows[] = {
    {"aten::isalnum.str(str self) -> bool", all<unicode::alpha | unicode::decimal | unicode::digit | unicode::numeric>},
    {"aten::isalpha.str(str self) -> bool", all<unicode::alpha>},
    {"aten::isdecimal.str(str self) -> bool", all<unicode::decimal>},
    {"aten::isdigit.str(str self) -> bool", all<unicode::digit>},
    {"aten::isidentifier.str(str self) -> bool", is_identifier},
    {"aten::islower.str(str self) -> bool", in_case<unicode::lower>},
    {"aten::isnumeric.str(str self) -> bool", all<unicode::numeric>},
    {"aten::isprintable.str(str self) -> bool", is_printable},
    {"aten::isspace.str(str self) -> bool", all<unicode::space>},
    {"aten::istitle.str(str self) -> bool", is_title},
    {"aten::isupper.str(str self) -> bool", in_case<unicode::upper>},
};

}  // namespace

BuiltinTable string_test_builtins() { return table_of(string_tests_rows); }

}  // namespace lamella::graph
