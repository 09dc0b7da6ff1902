// Numbers and texts as text, as Python writes and formats them.
#pragma once

#include <string>
#include <string_view>

#include "builtins/arguments.h"

namespace lamella::graph {

std::string float_text(double x);               // repr(x): the fewest digits that read back as x
std::string complex_text(Complex x);            // repr(x)
std::string quoted(std::string_view);           // repr of a str
std::string ascii_only(std::string_view repr);  // with escapes for other characters, as ascii()

// Returns the digits of a float that is not negative. type: one of "eEfFgG%", or 'r' for repr's; precision: negative
// for the default.
std::string float_digits(double x, char type, int64_t precision, bool alternate);
// Returns the digits of an int, without a sign, in base 2, 8, 10 or 16.
std::string int_digits(uint64_t x, int base, bool capitals = false);
inline uint64_t size_of(int64_t x) { return x < 0 ? -static_cast<uint64_t>(x) : static_cast<uint64_t>(x); }

// Returns format(v, spec).
std::string formatted(const lamella_value& v, std::string_view spec);

// Returns template.format(*items), and template % items.
std::string format_fields(std::string_view text, const std::vector<lamella_value>& items);
std::string format_percent(std::string_view text, const std::vector<lamella_value>& items);

// Returns `text` with copies of a character at its left and right.
std::string padded(std::string_view text, size_t left, size_t right, char32_t fill);

}  // namespace lamella::graph
