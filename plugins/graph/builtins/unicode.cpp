#include "builtins/unicode.h"

#include <algorithm>

namespace lamella::graph::unicode {
namespace {

constexpr char32_t lone_byte = 0xdc00;

// Reads one character of UTF-8 and moves `at` behind it.
char32_t next(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  const size_t n = first < 0x80                    ? 1
                   : first >= 0xc2 && first < 0xe0 ? 2
                   : first >= 0xe0 && first < 0xf0 ? 3
                   : first >= 0xf0 && first < 0xf5 ? 4
                                                   : 0;
  bool valid = n > 0 && at + n <= text.size();
  char32_t c = n == 1 ? first : first & (0x7f >> n);
  for (size_t i = 1; valid && i < n; i++) {
    valid = (byte(at + i) & 0xc0) == 0x80;
    c = c << 6 | (byte(at + i) & 0x3f);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (!valid || c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
    at++;
    return lone_byte + first;
  }
  at += n;
  return c;
}

// Returns the place of the run that a character is in.
const uint32_t* run_of(char32_t c) {
  return std::upper_bound(trait_runs, trait_runs + num_trait_runs, c << 10 | 0x3ff) - 1;
}

struct Case {
  const Shift* shifts;
  size_t num_shifts;
  const Expansion* expansions;
  size_t num_expansions;
};

// Appends the character's form, if the table has one.
bool append_form(std::string& to, char32_t c, const Case& table) {
  const Expansion* end = table.expansions + table.num_expansions;
  const Expansion* e = std::lower_bound(table.expansions, end, c,
                                        [](const Expansion& x, char32_t wanted) { return x.character < wanted; });
  if (e != end && e->character == c) {
    to += e->text;
    return true;
  }
  const Shift* last = table.shifts + table.num_shifts;
  const Shift* s =
      std::lower_bound(table.shifts, last, c, [](const Shift& x, char32_t wanted) { return x.last < wanted; });
  if (s == last || c < s->first || (c - s->first) % static_cast<uint32_t>(s->step) != 0) return false;
  append(to, static_cast<char32_t>(static_cast<int64_t>(c) + s->by));
  return true;
}

}  // namespace

uint32_t traits(char32_t c) {
  if (c > 0x10ffff) return 0;
  const uint32_t run = *run_of(c);
  const bool odd = (c - (run >> 10)) & 1;
  return trait_sets[odd ? run & 31 : run >> 5 & 31];
}

int digit_value(char32_t c) { return static_cast<int>((c - (*run_of(c) >> 10)) % 10); }  // such runs begin with a zero

std::u32string decode(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) out += next(text, at);
  return out;
}

void append(std::string& to, char32_t c) {
  const auto put = [&](char32_t byte) { to += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c >= lone_byte + 0x80 && c <= lone_byte + 0xff) {
    put(c - lone_byte);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6);
    put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3f));
    put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  }
}

std::string encode(std::u32string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char32_t c : text) append(out, c);
  return out;
}

size_t length(std::string_view text) {
  size_t n = 0;
  for (size_t at = 0; at < text.size(); n++) next(text, at);
  return n;
}

void append_upper(std::string& to, char32_t c) {
  if (!append_form(to, c, {upper_shifts, num_upper_shifts, upper_expansions, num_upper_expansions})) append(to, c);
}
void append_lower(std::string& to, char32_t c) {
  if (!append_form(to, c, {lower_shifts, num_lower_shifts, lower_expansions, num_lower_expansions})) append(to, c);
}
void append_title(std::string& to, char32_t c) {
  if (!append_form(to, c, {title_shifts, num_title_shifts, title_expansions, num_title_expansions}))
    append_upper(to, c);
}

}  // namespace lamella::graph::unicode
