// The digits of numbers, and texts in quotes.
#include <charconv>
#include <cmath>

#include "builtins/formatting.h"
#include "builtins/unicode.h"

namespace lamella::graph {
namespace {

constexpr int64_t most_precision = 1 << 30;

std::string chars(double x, std::chars_format format, int64_t precision) {
  // A float has at most 309 digits before its point, and 1074 behind it; further ones are zeros.
  const int64_t exact = std::min<int64_t>(precision, 1100);
  char text[1500];
  const std::to_chars_result end = std::to_chars(text, text + sizeof text, x, format, static_cast<int>(exact));
  std::string out(text, end.ptr);
  if (exact < precision) {
    const size_t exponent = out.find('e');
    out.insert(exponent == std::string::npos ? out.size() : exponent, static_cast<size_t>(precision - exact), '0');
  }
  return out;
}

int exponent_of(std::string_view scientific) {
  int e = 0;
  const size_t at = scientific.find('e') + 1;
  const char* first = scientific.data() + at + (scientific[at] == '+');
  std::from_chars(first, scientific.data() + scientific.size(), e);
  return e;
}

// Puts a point behind the digits before the exponent, if there is none.
void add_point(std::string* digits) {
  if (digits->find('.') != std::string::npos) return;
  const size_t exponent = digits->find('e');
  digits->insert(exponent == std::string::npos ? digits->size() : exponent, ".");
}
void drop_zeros(std::string* digits) {
  if (digits->find('.') == std::string::npos) return;
  const size_t exponent = std::min(digits->find('e'), digits->size());
  size_t end = exponent;
  while ((*digits)[end - 1] == '0') end--;
  if ((*digits)[end - 1] == '.') end--;
  digits->erase(end, exponent - end);
}

// The format "g": the form with an exponent for small and large numbers, and no zeros at the end. With `whole`, as for
// formats without a type, a number without a fraction gets ".0", and one digit less stands before the point.
std::string general(double x, int64_t precision, bool alternate, bool whole) {
  if (precision == 0) precision = 1;
  std::string out = chars(x, std::chars_format::scientific, precision - 1);
  const int64_t point = x == 0 ? 1 : exponent_of(out) + 1;
  const bool scientific = point <= -4 || point > precision - whole;
  if (!scientific) out = chars(x, std::chars_format::fixed, std::max<int64_t>(precision - point, 0));
  if (!alternate) drop_zeros(&out);
  if (alternate) add_point(&out);
  if (whole && !scientific) {
    if (out.find('.') == std::string::npos) out += ".";
    if (out.back() == '.') out += "0";
  }
  return out;
}

std::string shortest(double x, bool alternate, bool whole) {
  char text[400];
  std::string out(text, std::to_chars(text, text + sizeof text, x, std::chars_format::scientific).ptr);
  const int point = x == 0 ? 1 : exponent_of(out) + 1;
  const bool scientific = point <= -4 || point > 16;
  if (!scientific) out = std::string(text, std::to_chars(text, text + sizeof text, x, std::chars_format::fixed).ptr);
  if (alternate) add_point(&out);
  if (whole && !scientific) {
    if (out.find('.') == std::string::npos) out += ".";
    if (out.back() == '.') out += "0";
  }
  return out;
}

}  // namespace

std::string float_digits(double x, char type, int64_t precision, bool alternate) {
  const bool capitals = type == 'E' || type == 'F' || type == 'G';
  std::string out;
  if (!std::isfinite(x)) {
    out = std::isnan(x) ? "nan" : "inf";
  } else {
    LAMELLA_CHECK_VALUE(precision <= most_precision, "precision too big");
    const int64_t digits = precision < 0 ? 6 : precision;
    switch (type) {
      case 'e':
      case 'E':
        out = chars(x, std::chars_format::scientific, digits);
        if (alternate) add_point(&out);
        break;
      case 'g':
      case 'G':
        out = general(x, digits, alternate, false);
        break;
      case 'r':
      case 'c':  // a part of a complex number
        out = precision < 0 ? shortest(x, alternate, type == 'r') : general(x, precision, alternate, type == 'r');
        break;
      default:
        out = chars(x, std::chars_format::fixed, digits);
        if (alternate) add_point(&out);
    }
  }
  if (capitals)
    for (char& c : out)
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

std::string int_digits(uint64_t x, int base, bool capitals) {
  char text[64];
  std::string out(text, std::to_chars(text, text + sizeof text, x, base).ptr);
  if (capitals)
    for (char& c : out)
      if (c >= 'a') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

std::string float_text(double x) {
  return (std::signbit(x) && !std::isnan(x) ? "-" : "") + float_digits(std::fabs(x), 'r', -1, false);
}

std::string complex_text(Complex x) {
  const auto part = [](double p, bool plus) {
    const bool negative = std::signbit(p) && !std::isnan(p);
    return (negative ? "-" : plus ? "+" : "") + float_digits(std::fabs(p), 'c', -1, false);
  };
  if (x.real() == 0 && !std::signbit(x.real())) return part(x.imag(), false) + "j";
  return "(" + part(x.real(), false) + part(x.imag(), true) + "j)";
}

namespace {

void append_escape(std::string* out, char32_t c) {
  const int digits = c < 0x100 ? 2 : c < 0x10000 ? 4 : 8;
  const std::string number = int_digits(c, 16);
  *out += digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
  out->append(static_cast<size_t>(digits) - number.size(), '0');
  *out += number;
}

}  // namespace

std::string quoted(std::string_view text) {
  const bool twice = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = twice ? '"' : '\'';
  std::string out(1, quote);
  for (const char32_t c : unicode::decode(text)) {
    if (c == static_cast<char32_t>(quote) || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (unicode::traits(c) & unicode::printable) {
      unicode::append(out, c);
    } else {
      append_escape(&out, c);
    }
  }
  return out + quote;
}

std::string ascii_only(std::string_view repr) {
  std::string out;
  for (const char32_t c : unicode::decode(repr)) {
    if (c < 0x80)
      out += static_cast<char>(c);
    else
      append_escape(&out, c);
  }
  return out;
}

std::string padded(std::string_view text, size_t left, size_t right, char32_t fill) {
  std::string one, out;
  unicode::append(one, fill);
  out.reserve(text.size() + (left + right) * one.size());
  for (size_t i = 0; i < left; i++) out += one;
  out += text;
  for (size_t i = 0; i < right; i++) out += one;
  return out;
}

}  // namespace lamella::graph
