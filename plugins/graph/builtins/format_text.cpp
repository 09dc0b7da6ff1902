// Templates with items: str.format, and the operator % of str.
#include <cmath>

#include "builtins/formatting.h"
#include "builtins/numbers.h"
#include "builtins/tables.h"
#include "builtins/unicode.h"

namespace lamella::graph {
namespace {

[[noreturn]] void fail_format(std::string why) { raise(LAMELLA_VALUE_ERROR, std::move(why)); }

// Reads "{} {0:>{1}} {!r}".
class Fields {
 public:
  explicit Fields(const std::vector<lamella_value>& items) : items_(items) {}

  std::string filled(std::string_view text, int depth = 2) {
    if (depth == 0) fail_format("Max string recursion exceeded");
    std::string out;
    for (size_t i = 0; i < text.size(); i++) {
      const char c = text[i];
      if (c != '{' && c != '}') {
        out += c;
      } else if (i + 1 < text.size() && text[i + 1] == c && (c == '{' || depth == 2)) {
        out += c;
        i++;
      } else if (c == '}') {
        fail_format("Single '}' encountered in format string");
      } else {
        if (i + 1 == text.size()) fail_format("Single '{' encountered in format string");
        const size_t begin = i + 1;
        int open = 1;
        for (i = begin; i < text.size(); i++) {
          open += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
          if (open == 0) break;
        }
        if (open) fail_format("expected '}' before end of string");
        out += field(text.substr(begin, i - begin), depth);
      }
    }
    return out;
  }

 private:
  std::string field(std::string_view text, int depth) {
    const size_t end = std::min(text.find_first_of(":!"), text.size());
    const lamella_value& v = item(text.substr(0, end));
    std::string_view rest = text.substr(end);
    char conversion = 0;
    if (!rest.empty() && rest[0] == '!') {
      if (rest.size() < 2) fail_format("end of string while looking for conversion specifier");
      conversion = rest[1];
      rest = rest.substr(2);
      if (!rest.empty() && rest[0] != ':') fail_format("expected ':' after conversion specifier");
    }
    const std::string spec = rest.empty() ? std::string() : filled(rest.substr(1), depth - 1);
    if (!conversion) return formatted(v, spec);
    if (conversion != 'r' && conversion != 's' && conversion != 'a')
      fail_format(std::string("Unknown conversion specifier ") + conversion);
    const std::string converted = conversion == 's'   ? str_of(v)
                                  : conversion == 'r' ? repr_of(v)
                                                      : ascii_only(repr_of(v));
    return formatted(value(converted), spec);
  }

  const lamella_value& item(std::string_view name) {
    size_t number = 0;
    if (name.empty()) {
      if (numbered_) fail_format("cannot switch from manual field specification to automatic field numbering");
      automatic_ = true;
      number = next_++;
    } else {
      for (const char c : name) {
        if (c < '0' || c > '9')
          fail_format("format: the field '" + std::string(name) +
                      "' is no number; a graph's format has fields {} and {0}, without names, attributes and indices");
        number = number * 10 + static_cast<size_t>(c - '0');
        if (number > UINT32_MAX) fail_format("Too many decimal digits in format string");
      }
      if (automatic_) fail_format("cannot switch from automatic field numbering to manual field specification");
      numbered_ = true;
    }
    LAMELLA_CHECK_INDEX(number < items_.size(), "Replacement index ", number,
                        " out of range for positional args tuple");
    return items_[number];
  }

  const std::vector<lamella_value>& items_;
  size_t next_ = 0;
  bool automatic_ = false, numbered_ = false;
};

// Reads "%-5d %s %.3f %%".
class Percent {
 public:
  Percent(std::string_view text, const std::vector<lamella_value>& items)
      : text_(unicode::decode(text)), items_(items) {}

  std::string filled() {
    std::string out;
    while (at_ < text_.size()) {
      const char32_t c = text_[at_++];
      if (c != '%')
        unicode::append(out, c);
      else
        out += field();
    }
    if (next_ != items_.size()) raise(LAMELLA_TYPE_ERROR, "not all arguments converted during string formatting");
    return out;
  }

 private:
  char32_t take() {
    if (at_ == text_.size()) fail_format("incomplete format");
    return text_[at_++];
  }
  const lamella_value& next() {
    if (next_ == items_.size()) raise(LAMELLA_TYPE_ERROR, "not enough arguments for format string");
    return items_[next_++];
  }
  // Reads a number or "*", which stands for an item.
  int64_t number(char32_t& c) {
    if (c == '*') {
      const lamella_value& v = next();
      if (v.tag != LAMELLA_INT && v.tag != LAMELLA_BOOLEAN) raise(LAMELLA_TYPE_ERROR, "* wants int");
      c = take();
      return v.as.i;
    }
    int64_t n = 0;
    for (; c >= '0' && c <= '9'; c = take()) {
      n = n * 10 + (c - '0');
      if (n > INT32_MAX) fail_format("width or precision too big");
    }
    return n;
  }

  std::string field() {
    bool left = false, zero = false, alternate = false;
    char sign = 0;
    char32_t c = take();
    if (c == '(') raise(LAMELLA_TYPE_ERROR, "format requires a mapping; a graph's % has items by their places alone");
    for (;; c = take()) {
      if (c == '-')
        left = true;
      else if (c == '0')
        zero = true;
      else if (c == '#')
        alternate = true;
      else if (c == '+' || (c == ' ' && !sign))
        sign = static_cast<char>(c);
      else if (c != ' ')
        break;
    }
    int64_t width = number(c);
    if (width < 0) {
      left = true;
      width = width < -INT32_MAX ? INT32_MAX : -width;
    }
    if (width > INT32_MAX) fail_format("width too big");
    int64_t precision = -1;
    if (c == '.') {
      c = take();
      precision = std::max<int64_t>(number(c), 0);
      if (precision > INT32_MAX) fail_format("precision too big");
    }
    if (c == 'h' || c == 'l' || c == 'L') c = take();
    if (c == '%' && text_[at_ - 2] == '%') return "%";

    std::string before, body;
    bool numeric = true;
    switch (c) {
      case 's':
      case 'r':
      case 'a': {
        const lamella_value& v = next();
        body = c == 's' ? str_of(v) : c == 'r' ? repr_of(v) : ascii_only(repr_of(v));
        if (precision >= 0)
          body = unicode::encode(std::u32string_view(unicode::decode(body)).substr(0, static_cast<size_t>(precision)));
        numeric = false;
        break;
      }
      case 'c':
        body = character(next());
        numeric = false;
        break;
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        before = whole(next(), c, sign, alternate, precision, &body);
        break;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G': {
        const double x = real(next());
        before = std::signbit(x) && !std::isnan(x) ? "-" : std::string(sign ? 1 : 0, sign);
        body = float_digits(std::fabs(x), static_cast<char>(c), precision, alternate);
        break;
      }
      default: {
        next();
        std::string name;
        unicode::append(name, c);
        fail_format("unsupported format character '" + name + "' (0x" + int_digits(c, 16) + ") at index " +
                    std::to_string(at_ - 1));
      }
    }
    const size_t length = before.size() + unicode::length(body);
    const size_t room = width > static_cast<int64_t>(length) ? static_cast<size_t>(width) - length : 0;
    if (left) return padded(before + body, 0, room, ' ');
    return zero && numeric ? before + padded(body, room, 0, '0') : padded(before + body, room, 0, ' ');
  }

  static std::string character(const lamella_value& v) {
    std::string out;
    if (v.tag == LAMELLA_STRING && unicode::length(text_of(v)) == 1) return std::string(text_of(v));
    if (v.tag != LAMELLA_INT && v.tag != LAMELLA_BOOLEAN) raise(LAMELLA_TYPE_ERROR, "%c requires int or char");
    if (v.as.i < 0 || v.as.i > 0x10ffff) raise(LAMELLA_OVERFLOW, "%c arg not in range(0x110000)");
    unicode::append(out, static_cast<char32_t>(v.as.i));
    return out;
  }

  // Returns sign and prefix, and sets the digits.
  static std::string whole(const lamella_value& v, char32_t c, char sign, bool alternate, int64_t precision,
                           std::string* digits) {
    const bool decimal = c == 'd' || c == 'i' || c == 'u';
    int64_t x;
    if (v.tag == LAMELLA_FLOAT && decimal)
      x = whole_part(v.as.d);
    else if (v.tag == LAMELLA_INT || v.tag == LAMELLA_BOOLEAN)
      x = v.as.i;
    else
      raise(LAMELLA_TYPE_ERROR,
            detail::text("%", std::string(1, static_cast<char>(c)),
                         " format: ", decimal ? "a real number" : "an integer", " is required, not ", type_name(v)));
    *digits = int_digits(size_of(x), decimal ? 10 : c == 'o' ? 8 : 16, c == 'X');
    if (precision > static_cast<int64_t>(digits->size()))
      digits->insert(0, static_cast<size_t>(precision) - digits->size(), '0');
    std::string before = x < 0 ? "-" : std::string(sign ? 1 : 0, sign);
    if (alternate && !decimal) before += c == 'o' ? "0o" : c == 'x' ? "0x" : "0X";
    return before;
  }
  static double real(const lamella_value& v) {
    if (v.tag != LAMELLA_FLOAT && v.tag != LAMELLA_INT && v.tag != LAMELLA_BOOLEAN)
      raise(LAMELLA_TYPE_ERROR, detail::text("must be real number, not ", type_name(v)));
    return float_of(v);
  }

  std::u32string text_;
  const std::vector<lamella_value>& items_;
  size_t at_ = 0, next_ = 0;
};

constexpr Builtin format_text_rows[] = {
    {"aten::str(t elem) -> str", [](const lamella_value* a) { return made(str_of(a[0])); }},
    {"aten::repr(t elem) -> str", [](const lamella_value* a) { return made(repr_of(a[0])); }},
    {"aten::__format__(t self, str spec) -> str",
     [](const lamella_value* a) { return made(formatted(a[0], string_of(a[1]))); }},
    {"aten::format(str self, ...) -> str",
     [](const lamella_value* a) { return made(format_fields(string_of(a[0]), list_argument(a[1]).items)); }},
    {"aten::percentFormat(str self, ...) -> str",
     [](const lamella_value* a) { return made(format_percent(string_of(a[0]), list_argument(a[1]).items)); }},
};

}  // namespace

std::string format_fields(std::string_view text, const std::vector<lamella_value>& items) {
  return Fields(items).filled(text);
}
std::string format_percent(std::string_view text, const std::vector<lamella_value>& items) {
  return Percent(text, items).filled();
}

BuiltinTable format_builtins() { return table_of(format_text_rows); }

}  // namespace lamella::graph
