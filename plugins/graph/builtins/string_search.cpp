// Texts within texts: their places, and the parts between them. Positions count characters; the search is for bytes,
// which finds whole characters, as none of UTF-8 begins within another one.
#include <algorithm>

#include "builtins/arguments.h"
#include "builtins/tables.h"
#include "builtins/unicode.h"

namespace lamella::graph {
namespace {

constexpr auto npos = std::string_view::npos;

// Returns the byte at which a character begins.
size_t byte_of(std::string_view text, size_t character) {
  size_t at = 0;
  for (; character > 0 && at < text.size(); character--) {
    at++;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) at++;
  }
  return at;
}

// The part of a text that arguments `start` and `end` choose.
struct Part {
  bool exists = false;  // false for one that begins behind the text
  std::string_view text;
  size_t begin = 0;  // in characters
};
Part part_of(const lamella_value& text, const lamella_value& start, const lamella_value& end) {
  const std::string_view whole = string_of(text);
  const auto n = static_cast<int64_t>(unicode::length(whole));
  const auto place = [&](const lamella_value& v, int64_t otherwise) {
    const int64_t i = optional_int(v).value_or(otherwise);
    return i < 0 ? std::max<int64_t>(i + n, 0) : i;
  };
  const int64_t first = place(start, 0), last = std::min(place(end, n), n);
  if (first > last) return {};
  const bool ascii = n == static_cast<int64_t>(whole.size());
  const size_t from = ascii ? static_cast<size_t>(first) : byte_of(whole, static_cast<size_t>(first));
  const size_t to = ascii ? static_cast<size_t>(last) : byte_of(whole, static_cast<size_t>(last));
  return {true, whole.substr(from, to - from), static_cast<size_t>(first)};
}

template <bool Last>
int64_t found(const lamella_value* a) {
  const std::string_view wanted = string_of(a[1]);
  const Part part = part_of(a[0], a[2], a[3]);
  const size_t at = !part.exists ? npos : Last ? part.text.rfind(wanted) : part.text.find(wanted);
  return at == npos ? -1 : static_cast<int64_t>(part.begin + unicode::length(part.text.substr(0, at)));
}
template <bool Last>
lamella_value find(const lamella_value* a) {
  return made(found<Last>(a));
}
template <bool Last>
lamella_value index(const lamella_value* a) {
  const int64_t at = found<Last>(a);
  LAMELLA_CHECK_VALUE(at >= 0, "substring not found");
  return made(at);
}

lamella_value count_text(const lamella_value* a) {
  const std::string_view wanted = string_of(a[1]);
  const Part part = part_of(a[0], a[2], a[3]);
  if (!part.exists) return made(int64_t{0});
  if (wanted.empty()) return made(static_cast<int64_t>(unicode::length(part.text)) + 1);
  int64_t n = 0;
  for (size_t at = part.text.find(wanted); at != npos; at = part.text.find(wanted, at + wanted.size())) n++;
  return made(n);
}

lamella_value starts_with(const lamella_value* a) {
  const std::string_view wanted = string_of(a[1]);
  const Part part = part_of(a[0], a[2], a[3]);
  return made(part.exists && part.text.substr(0, wanted.size()) == wanted);
}
lamella_value ends_with(const lamella_value* a) {
  const std::string_view wanted = string_of(a[1]);
  const Part part = part_of(a[0], a[2], a[3]);
  return made(part.exists && part.text.size() >= wanted.size() &&
              part.text.substr(part.text.size() - wanted.size()) == wanted);
}

std::string_view separator_of(const lamella_value& v) {
  LAMELLA_CHECK_VALUE(!string_of(v).empty(), "empty separator");
  return string_of(v);
}
// Returns the most cuts that an argument `max` allows.
size_t most_of(const lamella_value& v) { return int_of(v) < 0 ? SIZE_MAX : static_cast<size_t>(int_of(v)); }

// Splits at blanks, which are not parts; from the right if Right.
template <bool Right>
lamella_value split_at_blanks(std::string_view text, size_t most) {
  const std::u32string all = unicode::decode(text);
  const auto blank = [](char32_t c) { return (unicode::traits(c) & unicode::space) != 0; };
  std::vector<std::u32string_view> parts;
  std::u32string_view rest = all;
  const auto trim = [&] {
    while (!rest.empty() && blank(Right ? rest.back() : rest.front()))
      Right ? rest.remove_suffix(1) : rest.remove_prefix(1);
  };
  for (trim(); !rest.empty(); trim()) {
    size_t n = 0;
    while (n < rest.size() && (parts.size() >= most || !blank(Right ? rest[rest.size() - 1 - n] : rest[n]))) n++;
    parts.push_back(Right ? rest.substr(rest.size() - n) : rest.substr(0, n));
    Right ? rest.remove_suffix(n) : rest.remove_prefix(n);
  }
  if (Right) std::reverse(parts.begin(), parts.end());
  Items out;
  for (const std::u32string_view part : parts) out.add(made(unicode::encode(part)));
  return out.list();
}

lamella_value split(const lamella_value* a) {
  const size_t most = most_of(a[2]);
  std::string_view text = string_of(a[0]);
  if (a[1].tag == LAMELLA_NONE) return split_at_blanks<false>(text, most);
  const std::string_view separator = separator_of(a[1]);
  Items out;
  for (size_t cuts = 0; cuts < most; cuts++) {
    const size_t at = text.find(separator);
    if (at == npos) break;
    out.add(made(text.substr(0, at)));
    text.remove_prefix(at + separator.size());
  }
  out.add(made(text));
  return out.list();
}
lamella_value split_from_right(const lamella_value* a) {
  const size_t most = most_of(a[2]);
  std::string_view text = string_of(a[0]);
  if (a[1].tag == LAMELLA_NONE) return split_at_blanks<true>(text, most);
  const std::string_view separator = separator_of(a[1]);
  Items out;
  for (size_t cuts = 0; cuts < most; cuts++) {
    const size_t at = text.rfind(separator);
    if (at == npos) break;
    out.add(made(text.substr(at + separator.size())));
    text = text.substr(0, at);
  }
  out.add(made(text));
  std::reverse(out.values.begin(), out.values.end());
  return out.list();
}

lamella_value split_lines(const lamella_value* a) {
  const std::u32string all = unicode::decode(string_of(a[0]));
  const bool keep = bool_of(a[1]);
  const auto ends_line = [](char32_t c) {
    return (c >= 0x0a && c <= 0x0d) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
  };
  Items out;
  for (size_t at = 0; at < all.size();) {
    size_t end = at;
    while (end < all.size() && !ends_line(all[end])) end++;
    size_t next = end == all.size() ? end : end + 1;
    if (next < all.size() && all[end] == '\r' && all[next] == '\n') next++;
    out.add(made(unicode::encode(std::u32string_view(all).substr(at, (keep ? next : end) - at))));
    at = next;
  }
  return out.list();
}

lamella_value three(std::string_view a, std::string_view b, std::string_view c) {
  Items parts;
  for (const std::string_view text : {a, b, c}) parts.add(made(text));
  return parts.tuple();
}
lamella_value partition(const lamella_value* a) {
  const std::string_view text = string_of(a[0]), separator = separator_of(a[1]);
  const size_t at = text.find(separator);
  return at == npos ? three(text, "", "") : three(text.substr(0, at), separator, text.substr(at + separator.size()));
}
lamella_value partition_from_right(const lamella_value* a) {
  const std::string_view text = string_of(a[0]), separator = separator_of(a[1]);
  const size_t at = text.rfind(separator);
  return at == npos ? three("", "", text) : three(text.substr(0, at), separator, text.substr(at + separator.size()));
}

lamella_value replace(const lamella_value* a) {
  std::string_view text = string_of(a[0]);
  const std::string_view old = string_of(a[1]), by = string_of(a[2]);
  size_t most = most_of(a[3]);
  std::string out;
  if (old.empty()) {  // before each character, and at the end
    const std::u32string all = unicode::decode(text);
    for (size_t i = 0; i <= all.size(); i++) {
      if (i < most) out += by;
      if (i < all.size()) unicode::append(out, all[i]);
    }
    return made(out);
  }
  for (; most > 0; most--) {
    const size_t at = text.find(old);
    if (at == npos) break;
    out += text.substr(0, at);
    out += by;
    text.remove_prefix(at + old.size());
  }
  return made(out += text);
}

#define RANGE "(str self, str substr, int? start=None, int? end=None) -> "

constexpr Builtin string_search_rows[] = {
    {"aten::__contains__.str(str s, str item) -> bool",
     [](const lamella_value* a) { return made(string_of(a[0]).find(string_of(a[1])) != npos); }},
    {"aten::split.str(str self, str? separator=None, int max=-1) -> str[]", split},
    {"aten::rsplit.str(str self, str? separator=None, int max=-1) -> str[]", split_from_right},
    {"aten::splitlines(str self, bool keepends=False) -> str[]", split_lines},
    {"aten::partition(str self, str separator) -> (str, str, str)", partition},
    {"aten::rpartition(str self, str separator) -> (str, str, str)", partition_from_right},
    {"aten::replace.str(str self, str old, str new, int max=-1) -> str", replace},
    {"aten::startswith.str" RANGE "bool", starts_with},
    {"aten::endswith.str" RANGE "bool", ends_with},
    {"aten::find.str" RANGE "int", find<false>},
    {"aten::rfind.str" RANGE "int", find<true>},
    {"aten::index.str" RANGE "int", index<false>},
    {"aten::rindex.str" RANGE "int", index<true>},
    {"aten::count.str" RANGE "int", count_text},
};

#undef RANGE

}  // namespace

BuiltinTable string_search_builtins() { return table_of(string_search_rows); }

}  // namespace lamella::graph
