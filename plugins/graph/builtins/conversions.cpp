// Conversions between numbers, texts and tensors of one element.
#include <charconv>
#include <cmath>

#include "builtins/formatting.h"
#include "builtins/numbers.h"
#include "builtins/tables.h"
#include "builtins/unicode.h"

namespace lamella::graph {
namespace {

// Returns the text without blanks around it, and with digits of all scripts as those of ASCII.
std::string plain_number(std::string_view text) {
  std::u32string all = unicode::decode(text);
  const auto blank = [](char32_t c) { return (unicode::traits(c) & unicode::space) != 0; };
  while (!all.empty() && blank(all.back())) all.pop_back();
  while (!all.empty() && blank(all.front())) all.erase(0, 1);
  for (char32_t& c : all)
    if (c >= 0x80 && unicode::traits(c) & unicode::decimal) c = U'0' + static_cast<char32_t>(unicode::digit_value(c));
  return unicode::encode(all);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes the "_" between digits out. Returns false for one that stands elsewhere.
bool join_digits(std::string* text) {
  std::string out;
  for (size_t i = 0; i < text->size(); i++) {
    const char c = (*text)[i];
    if (c != '_')
      out += c;
    else if (i == 0 || i + 1 == text->size() || !is_digit((*text)[i - 1]) || !is_digit((*text)[i + 1]))
      return false;
  }
  *text = std::move(out);
  return true;
}

int64_t int_of_text(std::string_view text) {
  std::string number = plain_number(text);
  if (!number.empty() && number[0] == '+') number.erase(0, number.size() > 1 && is_digit(number[1]) ? 1 : 0);
  int64_t x = 0;
  if (join_digits(&number) && !number.empty()) {
    const char* end = number.data() + number.size();
    const auto [stop, error] = std::from_chars(number.data(), end, x);
    if (stop == end && error == std::errc::result_out_of_range) raise_too_large();
    if (stop == end && error == std::errc()) return x;
  }
  raise(LAMELLA_VALUE_ERROR, "invalid literal for int() with base 10: " + quoted(text));
}

// Returns whether a number that a float does not hold is too large for it, and not too small.
bool is_large(const std::string& number) {
  const size_t e = std::min(number.find('e'), number.size()), point = std::min(number.find('.'), e);
  const size_t first = number.find_first_of("123456789");
  if (first >= e) return false;
  int64_t exponent = 0;
  const size_t digits = e + (e + 1 < number.size() && number[e + 1] == '+' ? 2 : 1);
  if (e < number.size()) {
    const char* end = number.data() + number.size();
    if (std::from_chars(number.data() + digits, end, exponent).ec != std::errc()) return number[digits] != '-';
  }
  return exponent + static_cast<int64_t>(point) - static_cast<int64_t>(first) > 0;
}

double float_of_text(std::string_view text) {
  std::string number = plain_number(text);
  bool negative = false, valid = join_digits(&number);
  if (!number.empty() && (number[0] == '+' || number[0] == '-')) {
    negative = number[0] == '-';
    number.erase(0, 1);
  }
  for (char& c : number)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  double x = 0;
  if (number == "inf" || number == "infinity") {
    x = INFINITY;
  } else if (number == "nan") {
    x = NAN;
  } else {
    valid = valid && !number.empty() &&
            (is_digit(number[0]) || (number[0] == '.' && number.size() > 1 && is_digit(number[1])));
    const char* end = number.data() + number.size();
    const auto [stop, error] = std::from_chars(number.data(), end, x);
    valid = valid && stop == end;
    if (valid && error == std::errc::result_out_of_range) x = is_large(number) ? INFINITY : 0;
  }
  if (!valid) raise(LAMELLA_VALUE_ERROR, "could not convert string to float: " + quoted(text));
  return negative ? -x : x;
}

int64_t to_int(const lamella_value& v) {
  if (v.tag == LAMELLA_COMPLEX)
    raise(LAMELLA_TYPE_ERROR, "int() argument must be a string, a bytes-like object or a real number, not 'complex'");
  return v.tag == LAMELLA_FLOAT ? whole_part(v.as.d) : int_of(v);
}
double to_float(const lamella_value& v) {
  if (v.tag == LAMELLA_COMPLEX)
    raise(LAMELLA_TYPE_ERROR, "float() argument must be a string or a real number, not 'complex'");
  return float_of(v);
}

lamella_value character_of(const lamella_value* a) {
  const int64_t i = int_of(a[0]);
  LAMELLA_CHECK_VALUE(i >= 0 && i < 0x110000, "chr() arg not in range(0x110000)");
  LAMELLA_CHECK_VALUE(i < 0xd800 || i > 0xdfff, "chr: ", i,
                      " is one half of a surrogate pair, which no text of UTF-8 holds");
  std::string out;
  unicode::append(out, static_cast<char32_t>(i));
  return made(out);
}
lamella_value code_of(const lamella_value* a) {
  const std::u32string all = unicode::decode(string_of(a[0]));
  LAMELLA_CHECK_TYPE(all.size() == 1, "ord() expected a character, but string of length ", all.size(), " found");
  return made(static_cast<int64_t>(all[0]));
}

template <int Base>
lamella_value in_base(const lamella_value* a) {
  const int64_t x = int_of(a[0]);
  const char* prefix = Base == 2 ? "0b" : Base == 8 ? "0o" : "0x";
  return made((x < 0 ? "-" : "") + std::string(prefix) + int_digits(size_of(x), Base));
}

lamella_value item_as_int(const lamella_value* a) { return made(to_int(item_of(a[0]).get())); }
lamella_value item_as_float(const lamella_value* a) { return made(to_float(item_of(a[0]).get())); }
lamella_value item_as_complex(const lamella_value* a) { return made(complex_of(item_of(a[0]).get())); }
lamella_value truth(const lamella_value* a) { return made(is_true(a[0])); }
lamella_value as_float(const lamella_value* a) { return made(to_float(a[0])); }
lamella_value as_int(const lamella_value* a) { return made(to_int(a[0])); }

constexpr Builtin conversions_rows[] = {
    {"aten::Int.bool(bool a) -> int", as_int},
    {"aten::Int.float(float a) -> int", as_int},
    {"aten::Int.str(str a) -> int", [](const lamella_value* a) { return made(int_of_text(string_of(a[0]))); }},
    {"aten::Int.Scalar(Scalar a) -> int", as_int},
    {"aten::Int.Tensor(Tensor a) -> int", item_as_int},
    {"aten::Float.bool(bool a) -> float", as_float},
    {"aten::Float.int(int a) -> float", as_float},
    {"aten::Float.str(str a) -> float", [](const lamella_value* a) { return made(float_of_text(string_of(a[0]))); }},
    {"aten::Float.Scalar(Scalar a) -> float", as_float},
    {"aten::Float.Tensor(Tensor a) -> float", item_as_float},
    {"aten::Bool.int(int a) -> bool", truth},
    {"aten::Bool.float(float a) -> bool", truth},
    {"aten::Bool.complex(complex a) -> bool", truth},
    {"aten::Bool.str(str a) -> bool", truth},
    {"aten::Bool.Scalar(Scalar a) -> bool", truth},
    {"aten::Bool.Tensor(Tensor a) -> bool", [](const lamella_value* a) { return made(is_true(item_of(a[0]).get())); }},
    {"aten::Complex.Scalar(Scalar a) -> complex", [](const lamella_value* a) { return made(complex_of(a[0])); }},
    {"aten::Complex.float_float(float x, float y) -> complex",
     [](const lamella_value* a) { return new_complex(float_of(a[0]), float_of(a[1])); }},
    {"aten::Complex.Tensor(Tensor a) -> complex", item_as_complex},
    {"aten::IntImplicit(Tensor a) -> int", item_as_int},
    {"aten::FloatImplicit(Tensor a) -> float", item_as_float},
    {"aten::ComplexImplicit(Tensor a) -> complex", item_as_complex},
    {"aten::ScalarImplicit(Tensor a) -> Scalar", [](const lamella_value* a) { return item_of(a[0]).release(); }},
    {"aten::ord(str string) -> int", code_of},
    {"aten::chr(int i) -> str", character_of},
    {"aten::bin(int i) -> str", in_base<2>},
    {"aten::oct(int i) -> str", in_base<8>},
    {"aten::hex(int i) -> str", in_base<16>},
    {"aten::hash.t(t value) -> int", [](const lamella_value* a) { return made(hash_of(a[0])); }},
};

}  // namespace

BuiltinTable conversion_builtins() { return table_of(conversions_rows); }

}  // namespace lamella::graph
