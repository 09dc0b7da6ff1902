// format(value, spec), with Python's specifications: [[fill]align][sign][z][#][0][width][grouping][.precision][type].
#include <cmath>

#include "builtins/formatting.h"
#include "builtins/unicode.h"

namespace lamella::graph {
namespace {

struct Spec {
  char32_t fill = ' ', type = 0;
  char align = 0, sign = 0, grouping = 0;
  bool no_negative_zero = false, alternate = false, zero = false, own_fill = false;
  int64_t width = -1, precision = -1;
};

[[noreturn]] void fail(std::string why) { raise(LAMELLA_VALUE_ERROR, std::move(why)); }

bool is_align(char32_t c) { return c == '<' || c == '>' || c == '=' || c == '^'; }

class SpecParser {
 public:
  SpecParser(std::string_view text, std::string_view type) : text_(unicode::decode(text)), type_(type) {}

  Spec parse() {
    Spec s;
    if (text_.size() > 1 && is_align(text_[1])) {
      s.fill = text_[0];
      s.own_fill = true;
      s.align = static_cast<char>(text_[1]);
      at_ = 2;
    } else if (!text_.empty() && is_align(text_[0])) {
      s.align = static_cast<char>(text_[at_++]);
    }
    if (peek() == '+' || peek() == '-' || peek() == ' ') s.sign = static_cast<char>(text_[at_++]);
    s.no_negative_zero = take('z');
    s.alternate = take('#');
    if (!s.own_fill && take('0')) {
      s.fill = '0';
      s.zero = true;
    }
    s.width = number();
    if (peek() == ',' || peek() == '_') {
      s.grouping = static_cast<char>(text_[at_++]);
      if (peek() == ',' || peek() == '_')
        fail(peek() == static_cast<char32_t>(s.grouping)
                 ? std::string("Cannot specify '") + s.grouping + "' with '" + s.grouping + "'."
                 : "Cannot specify both ',' and '_'.");
    }
    if (take('.')) {
      s.precision = number();
      if (s.precision < 0) fail("Format specifier missing precision");
    }
    if (at_ + 1 < text_.size())
      fail("Invalid format specifier '" + unicode::encode(text_) + "' for object of type '" + std::string(type_) + "'");
    if (at_ < text_.size()) s.type = text_[at_];
    return s;
  }

 private:
  char32_t peek() const { return at_ < text_.size() ? text_[at_] : 0; }
  bool take(char32_t c) {
    if (peek() != c) return false;
    at_++;
    return true;
  }
  int64_t number() {
    int64_t n = -1;
    for (; unicode::traits(peek()) & unicode::decimal; at_++) {
      if (n > INT64_MAX / 20) fail("Too many decimal digits in format string");
      n = std::max<int64_t>(n, 0) * 10 + unicode::digit_value(text_[at_]);
    }
    return n;
  }
  std::u32string text_;
  std::string_view type_;
  size_t at_ = 0;
};

[[noreturn]] void fail_type(const Spec& s, std::string_view of) {
  std::string type;
  unicode::append(type, s.type);
  fail("Unknown format code '" + type + "' for object of type '" + std::string(of) + "'");
}

std::string fitted(std::string_view text, const Spec& s, char align) {
  const size_t length = unicode::length(text);
  const size_t room = s.width > static_cast<int64_t>(length) ? static_cast<size_t>(s.width) - length : 0;
  LAMELLA_CHECK_VALUE(room < UINT32_MAX, "format: the width ", s.width, " is too large");
  const size_t left = align == '<' ? 0 : align == '^' ? room / 2 : room;
  return padded(text, left, room - left, s.fill);
}

std::string text_formatted(std::string_view text, const Spec& s) {
  if (s.type && s.type != 's') fail_type(s, "str");
  if (s.sign)
    fail(s.sign == ' ' ? "Space not allowed in string format specifier"
                       : "Sign not allowed in string format specifier");
  if (s.no_negative_zero) fail("Negative zero coercion (z) not allowed in string format specifier");
  if (s.alternate) fail("Alternate form (#) not allowed in string format specifier");
  if (s.grouping) fail(std::string("Cannot specify '") + s.grouping + "' with 's'.");
  if (s.align == '=') fail("'=' alignment not allowed in string format specifier");
  std::string cut(text);
  if (s.precision >= 0) {
    const std::u32string all = unicode::decode(text);
    cut = unicode::encode(std::u32string_view(all).substr(0, static_cast<size_t>(s.precision)));
  }
  return fitted(cut, s, s.align ? s.align : '<');
}

std::string_view sign_of(bool negative, const Spec& s) {
  return negative ? "-" : s.sign == '+' ? "+" : s.sign == ' ' ? " " : "";
}

// Puts a mark between groups of digits of the whole part; with zeros in front, so that it has a least width.
std::string grouped(std::string digits, char mark, size_t group, int64_t least) {
  size_t whole = 0;
  while (whole < digits.size() && isxdigit(static_cast<unsigned char>(digits[whole])) &&
         (group == 4 || isdigit(static_cast<unsigned char>(digits[whole]))))
    whole++;
  const std::string rest = digits.substr(whole);
  digits.resize(whole);
  const auto width = [&] {
    return static_cast<int64_t>(digits.size() + (mark ? (digits.size() - 1) / group : 0) + rest.size());
  };
  if (least > 0) {
    LAMELLA_CHECK_VALUE(least < UINT32_MAX, "format: the width ", least, " is too large");
    while (!digits.empty() && width() < least) digits.insert(digits.begin(), '0');
    if (digits.empty())
      digits.assign(static_cast<size_t>(std::max<int64_t>(0, least - static_cast<int64_t>(rest.size()))), '0');
  }
  if (mark)
    for (size_t i = digits.size(); i > group; i -= group) digits.insert(i - group, 1, mark);
  return digits + rest;
}

// Puts sign, prefix and digits together, with zeros between them if the specification wants so.
std::string number_formatted(bool negative, std::string_view prefix, std::string digits, const Spec& s, size_t group) {
  const std::string before = std::string(sign_of(negative, s)) + std::string(prefix);
  const char align = s.align ? s.align : s.zero ? '=' : '>';
  const bool zeros = align == '=' && s.fill == '0';
  const int64_t least = zeros ? s.width - static_cast<int64_t>(before.size()) : 0;
  if (zeros || s.grouping) digits = grouped(std::move(digits), s.grouping, group, least);
  if (align != '=') return fitted(before + digits, s, align);
  const auto length = static_cast<int64_t>(before.size() + digits.size());
  const size_t room = s.width > length ? static_cast<size_t>(s.width - length) : 0;
  LAMELLA_CHECK_VALUE(room < UINT32_MAX, "format: the width ", s.width, " is too large");
  return before + padded(digits, room, 0, s.fill);
}

std::string float_formatted(double x, Spec s, std::string_view of) {
  const char32_t type = s.type;
  if (type && (type > 'z' || std::string_view("eEfFgGn%").find(static_cast<char>(type)) == std::string_view::npos))
    fail_type(s, of);
  if (type == 'n' && s.grouping) fail(std::string("Cannot specify '") + s.grouping + "' with 'n'.");
  const char own = !type ? 'r' : type == 'n' ? 'g' : static_cast<char>(type);
  if (own == '%') x *= 100;
  std::string digits = float_digits(std::fabs(x), own, s.precision, s.alternate);
  bool negative = std::signbit(x) && !std::isnan(x);
  if (s.no_negative_zero && digits.find_first_of("123456789in") == std::string::npos) negative = false;
  if (own == '%') digits += '%';
  return number_formatted(negative, "", std::move(digits), s, 3);
}

std::string int_formatted(int64_t x, const Spec& s, std::string_view of) {
  const char32_t type = s.type ? s.type : 'd';
  if (type < 'z' && std::string_view("eEfFgG%").find(static_cast<char>(type)) != std::string_view::npos)
    return float_formatted(static_cast<double>(x), s, of);
  if (type > 'z' || std::string_view("bcdoxXn").find(static_cast<char>(type)) == std::string_view::npos)
    fail_type(s, of);
  if (s.precision >= 0) fail("Precision not allowed in integer format specifier");
  if (s.no_negative_zero)
    fail("Negative zero coercion (z) not allowed in format specifier with integer presentation type");
  if ((s.grouping == ',' && type != 'd') || (s.grouping && (type == 'n' || type == 'c')))
    fail(std::string("Cannot specify '") + s.grouping + "' with '" + static_cast<char>(type) + "'.");
  if (type == 'c') {
    if (s.sign) fail("Sign not allowed with integer format specifier 'c'");
    if (s.alternate) fail("Alternate form (#) not allowed with integer format specifier 'c'");
    if (x < 0 || x > 0x10ffff) raise(LAMELLA_OVERFLOW, "%c arg not in range(0x110000)");
    std::string one;
    unicode::append(one, static_cast<char32_t>(x));
    const char align = s.align ? s.align : s.zero ? '=' : '>';
    return fitted(one, s, align == '=' ? '>' : align);
  }
  const int base = type == 'b' ? 2 : type == 'o' ? 8 : type == 'x' || type == 'X' ? 16 : 10;
  const char* prefix = !s.alternate || base == 10 ? ""
                       : type == 'b'              ? "0b"
                       : type == 'o'              ? "0o"
                       : type == 'x'              ? "0x"
                                                  : "0X";
  return number_formatted(x < 0, prefix, int_digits(size_of(x), base, type == 'X'), s, base == 10 ? 3 : 4);
}

std::string complex_formatted(Complex x, const Spec& s) {
  const char32_t type = s.type;
  if (type && (type > 'z' || std::string_view("eEfFgGn").find(static_cast<char>(type)) == std::string_view::npos))
    fail_type(s, "complex");
  if (s.fill == '0') fail("Zero padding is not allowed in complex format specifier");
  if (s.align == '=') fail("'=' alignment flag is not allowed in complex format specifier");
  const char own = !type ? 'c' : type == 'n' ? 'g' : static_cast<char>(type);
  const auto part = [&](double p, bool plus) {
    std::string digits = float_digits(std::fabs(p), own, s.precision, s.alternate);
    bool negative = std::signbit(p) && !std::isnan(p);
    if (s.no_negative_zero && digits.find_first_of("123456789in") == std::string::npos) negative = false;
    Spec alone;
    alone.sign = plus ? '+' : s.sign;
    if (s.grouping) digits = grouped(std::move(digits), s.grouping, 3, 0);
    return std::string(sign_of(negative, alone)) + digits;
  };
  std::string all;
  if (!type && x.real() == 0 && !std::signbit(x.real()))
    all = part(x.imag(), false) + "j";
  else
    all = part(x.real(), false) + part(x.imag(), true) + "j";
  if (!type && !(x.real() == 0 && !std::signbit(x.real()))) all = "(" + all + ")";
  return fitted(all, s, s.align ? s.align : '>');
}

}  // namespace

std::string formatted(const lamella_value& v, std::string_view spec) {
  if (v.tag == LAMELLA_TENSOR && v.as.tensor && v.as.tensor->dl.ndim == 0 && !spec.empty()) {
    const OwnedValue one = item_of(v);
    return formatted(one.get(), spec);
  }
  if (spec.empty()) return str_of(v);
  const std::string_view of = type_name(v);
  switch (v.tag) {
    case LAMELLA_INT:
    case LAMELLA_BOOLEAN:
      return int_formatted(v.as.i, SpecParser(spec, of).parse(), of);
    case LAMELLA_FLOAT:
      return float_formatted(v.as.d, SpecParser(spec, of).parse(), of);
    case LAMELLA_COMPLEX:
      return complex_formatted(complex_of(v), SpecParser(spec, of).parse());
    case LAMELLA_STRING:
      return text_formatted(text_of(v), SpecParser(spec, of).parse());
    default:
      raise(LAMELLA_TYPE_ERROR, detail::text("unsupported format string passed to ", of, ".__format__"));
  }
}

}  // namespace lamella::graph
