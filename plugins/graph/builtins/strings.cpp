// Texts: parts, cases and padding. Positions count characters.
#include <algorithm>

#include "builtins/arguments.h"
#include "builtins/formatting.h"
#include "builtins/tables.h"
#include "builtins/unicode.h"

namespace lamella::graph {
namespace {

using unicode::decode;
using unicode::encode;
using unicode::traits;

lamella_value get_character(const lamella_value* a) {
  const std::string_view text = string_of(a[0]);
  const char* outside = "string index out of range";
  if (unicode::is_ascii(text)) return made(text.substr(place_of(int_of(a[1]), text.size(), outside), 1));
  const std::u32string all = decode(text);
  return made(encode(std::u32string_view(all).substr(place_of(int_of(a[1]), all.size(), outside), 1)));
}

lamella_value get_substring(const lamella_value* a) {
  const std::u32string all = decode(string_of(a[0]));
  const Slice s = slice_of(a[1], a[2], int_of(a[3]), all.size());
  std::string out;
  for (size_t i = 0; i < s.count; i++) unicode::append(out, all[s.place(i)]);
  return made(out);
}

lamella_value characters(const lamella_value* a) {
  Items out;
  for (const char32_t c : decode(string_of(a[0]))) out.add(made(encode(std::u32string_view(&c, 1))));
  return out.list();
}

lamella_value joined_text(const lamella_value* a) {
  std::string out(string_of(a[0]));
  return made(out += string_of(a[1]));
}

lamella_value repeated(std::string_view text, int64_t times) {
  std::string out;
  if (times > 0 && !text.empty()) {
    LAMELLA_CHECK_VALUE(static_cast<uint64_t>(times) <= UINT32_MAX / text.size(),
                        "a str of a graph has less than 4 GiB: one of ", text.size(), " bytes cannot be repeated ",
                        times, " times");
    out.reserve(text.size() * static_cast<size_t>(times));
    for (int64_t i = 0; i < times; i++) out += text;
  }
  return made(out);
}

lamella_value join(const lamella_value* a) {
  const std::string_view between = string_of(a[0]);
  std::string out;
  size_t i = 0;
  for (const lamella_value& v : list_argument(a[1]).items) {
    LAMELLA_CHECK_TYPE(v.tag == LAMELLA_STRING, "sequence item ", i, ": expected str instance, ", type_name(v),
                       " found");
    if (i++) out += between;
    out += text_of(v);
  }
  return made(out);
}

// Takes blanks, or the characters of a text, from the ends.
template <bool Left, bool Right>
lamella_value strip(const lamella_value* a) {
  const std::u32string all = decode(string_of(a[0]));
  const std::u32string chars = a[1].tag == LAMELLA_NONE ? std::u32string() : decode(string_of(a[1]));
  const auto goes = [&](char32_t c) {
    return a[1].tag == LAMELLA_NONE ? (traits(c) & unicode::space) != 0 : chars.find(c) != std::u32string::npos;
  };
  size_t begin = 0, end = all.size();
  while (Left && begin < end && goes(all[begin])) begin++;
  while (Right && begin < end && goes(all[end - 1])) end--;
  return made(encode(std::u32string_view(all).substr(begin, end - begin)));
}

// ---- cases ----

bool is_cased(char32_t c) { return (traits(c) & (unicode::lower | unicode::upper | unicode::title)) != 0; }

// Appends a character in lower case; the capital sigma becomes the final one at the end of a word.
void append_lower(std::string& to, const std::u32string& all, size_t at) {
  constexpr char32_t capital_sigma = 0x3a3, final_sigma = 0x3c2;
  if (all[at] != capital_sigma) return unicode::append_lower(to, all[at]);
  // Marks, apostrophes and full stops stand within words.
  const auto within = [&](char32_t c) {
    return c == '\'' || c == '.' || c == 0xad || c == 0x2019 || (c >= 0x300 && c < 0x370);
  };
  size_t before = at, behind = at + 1;
  while (before > 0 && within(all[before - 1])) before--;
  while (behind < all.size() && within(all[behind])) behind++;
  const bool ends_word = before > 0 && is_cased(all[before - 1]) && (behind == all.size() || !is_cased(all[behind]));
  unicode::append(to, ends_word ? final_sigma : U'\x3c3');
}

lamella_value upper(const lamella_value* a) {
  std::string out;
  for (const char32_t c : decode(string_of(a[0]))) unicode::append_upper(out, c);
  return made(out);
}
lamella_value lower(const lamella_value* a) {
  const std::u32string all = decode(string_of(a[0]));
  std::string out;
  for (size_t i = 0; i < all.size(); i++) append_lower(out, all, i);
  return made(out);
}
lamella_value capitalize(const lamella_value* a) {
  const std::u32string all = decode(string_of(a[0]));
  std::string out;
  for (size_t i = 0; i < all.size(); i++) i ? append_lower(out, all, i) : unicode::append_title(out, all[i]);
  return made(out);
}
lamella_value title(const lamella_value* a) {
  const std::u32string all = decode(string_of(a[0]));
  std::string out;
  bool within = false;
  for (size_t i = 0; i < all.size(); i++) {
    within ? append_lower(out, all, i) : unicode::append_title(out, all[i]);
    within = is_cased(all[i]);
  }
  return made(out);
}
lamella_value swap_case(const lamella_value* a) {
  const std::u32string all = decode(string_of(a[0]));
  std::string out;
  for (size_t i = 0; i < all.size(); i++) {
    if (traits(all[i]) & unicode::upper)
      append_lower(out, all, i);
    else if (traits(all[i]) & unicode::lower)
      unicode::append_upper(out, all[i]);
    else
      unicode::append(out, all[i]);
  }
  return made(out);
}

// ---- padding ----

// Returns how many characters a text lacks to a width.
size_t room_in(std::string_view text, int64_t width) {
  const auto length = static_cast<int64_t>(unicode::length(text));
  LAMELLA_CHECK_VALUE(width < UINT32_MAX, "a str of a graph has less than 4 GiB, and the width is ", width);
  return width > length ? static_cast<size_t>(width - length) : 0;
}
char32_t fill_of(const lamella_value& v) {
  const std::u32string fill = decode(string_of(v));
  LAMELLA_CHECK_TYPE(fill.size() == 1, "The fill character must be exactly one character long");
  return fill[0];
}
lamella_value center(const lamella_value* a) {
  const std::string_view text = string_of(a[0]);
  const char32_t fill = fill_of(a[2]);
  const size_t room = room_in(text, int_of(a[1]));
  const size_t left = room / 2 + (room & static_cast<size_t>(int_of(a[1])) & 1);
  return made(padded(text, left, room - left, fill));
}
lamella_value fill_right(const lamella_value* a) {
  const char32_t fill = fill_of(a[2]);
  return made(padded(string_of(a[0]), 0, room_in(string_of(a[0]), int_of(a[1])), fill));
}
lamella_value fill_left(const lamella_value* a) {
  const char32_t fill = fill_of(a[2]);
  return made(padded(string_of(a[0]), room_in(string_of(a[0]), int_of(a[1])), 0, fill));
}
lamella_value fill_zeros(const lamella_value* a) {
  const std::string_view text = string_of(a[0]);
  const size_t room = room_in(text, int_of(a[1]));
  const bool sign = !text.empty() && (text[0] == '+' || text[0] == '-');
  return made(std::string(text.substr(0, sign)) + padded(text.substr(sign), room, 0, '0'));
}

lamella_value expand_tabs(const lamella_value* a) {
  const int64_t size = std::max<int64_t>(int_of(a[1]), 0);
  LAMELLA_CHECK_VALUE(size < UINT32_MAX, "expandtabs: the size ", size, " is too large");
  std::string out;
  int64_t column = 0;
  for (const char32_t c : decode(string_of(a[0]))) {
    if (c == '\t') {
      const int64_t n = size ? size - column % size : 0;
      out.append(static_cast<size_t>(n), ' ');
      column += n;
    } else {
      unicode::append(out, c);
      column = c == '\n' || c == '\r' ? 0 : column + 1;
    }
  }
  return made(out);
}

lamella_value remove_prefix(const lamella_value* a) {
  const std::string_view text = string_of(a[0]), prefix = string_of(a[1]);
  return made(text.substr(text.substr(0, prefix.size()) == prefix ? prefix.size() : 0));
}
lamella_value remove_suffix(const lamella_value* a) {
  const std::string_view text = string_of(a[0]), suffix = string_of(a[1]);
  const bool ends = text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
  return made(text.substr(0, text.size() - (ends ? suffix.size() : 0)));
}

constexpr Builtin strings_rows[] = {
    {"aten::len.str(str s) -> int",
     [](const lamella_value* a) { return made(static_cast<int64_t>(unicode::length(string_of(a[0])))); }},
    {"aten::__getitem__.str(str s, int index) -> str", get_character},
    {"aten::slice.str(str string, int? start=None, int? end=None, int step=1) -> str", get_substring},
    {"aten::list.str(str t) -> str[]", characters},
    {"aten::add.str(str a, str b) -> str", joined_text},
    {"aten::mul.str_int(str a, int n) -> str",
     [](const lamella_value* a) { return repeated(string_of(a[0]), int_of(a[1])); }},
    {"aten::mul.int_str(int n, str a) -> str",
     [](const lamella_value* a) { return repeated(string_of(a[1]), int_of(a[0])); }},
    {"aten::join(str self, str[] values) -> str", join},
    {"aten::strip.str(str self, str? chars=None) -> str", strip<true, true>},
    {"aten::lstrip.str(str self, str? chars=None) -> str", strip<true, false>},
    {"aten::rstrip.str(str self, str? chars=None) -> str", strip<false, true>},
    {"aten::upper.str(str self) -> str", upper},
    {"aten::lower.str(str self) -> str", lower},
    {"aten::capitalize.str(str self) -> str", capitalize},
    {"aten::title.str(str self) -> str", title},
    {"aten::swapcase.str(str self) -> str", swap_case},
    {"aten::center.str(str self, int width, str fillchar=\" \") -> str", center},
    {"aten::ljust.str(str self, int width, str fillchar=\" \") -> str", fill_right},
    {"aten::rjust.str(str self, int width, str fillchar=\" \") -> str", fill_left},
    {"aten::zfill.str(str self, int width) -> str", fill_zeros},
    {"aten::expandtabs.str(str self, int tabsize=8) -> str", expand_tabs},
    {"aten::removeprefix.str(str self, str prefix) -> str", remove_prefix},
    {"aten::removesuffix.str(str self, str suffix) -> str", remove_suffix},
};

}  // namespace

BuiltinTable string_builtins() { return table_of(strings_rows); }

}  // namespace lamella::graph
