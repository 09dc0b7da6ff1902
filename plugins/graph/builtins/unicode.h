// Characters: UTF-8, and the properties and cases of Unicode's characters, from tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lamella::graph::unicode {

enum Trait : uint32_t {
  alpha = 1,
  decimal = 2,
  digit = 4,
  numeric = 8,
  space = 16,
  printable = 32,
  lower = 64,
  upper = 128,
  title = 256,  // also of upper-case characters
  identifier_start = 512,
  identifier_part = 1024
};
uint32_t traits(char32_t c);
// Returns the value of a decimal digit of any script.
int digit_value(char32_t c);

// Reads UTF-8. A byte that is no part of it becomes 0xdc00 + the byte, and is written as that byte again.
std::u32string decode(std::string_view text);
void append(std::string& to, char32_t c);
std::string encode(std::u32string_view text);
// Returns the number of characters.
size_t length(std::string_view text);
inline bool is_ascii(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  return true;
}

// Append a character in upper, lower or title case, which may be several characters.
void append_upper(std::string& to, char32_t c);
void append_lower(std::string& to, char32_t c);
void append_title(std::string& to, char32_t c);

// ---- the tables ----

struct Shift {
  uint32_t first, last;  // every `step`-th character from first to last becomes the one `by` behind it
  int32_t step, by;
};
struct Expansion {
  uint32_t character;
  const char* text;
};
extern const uint16_t trait_sets[];
extern const uint32_t trait_runs[];
extern const Shift upper_shifts[], lower_shifts[], title_shifts[];
extern const Expansion upper_expansions[], lower_expansions[], title_expansions[];
extern const size_t num_trait_runs, num_upper_shifts, num_lower_shifts, num_title_shifts, num_upper_expansions,
    num_lower_expansions, num_title_expansions;

}  // namespace lamella::graph::unicode
