// The tokens of a text.
#include "text/lexer.h"

#include <charconv>

namespace lamella::graph {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
// Bytes above 127 are letters of UTF-8, as Python's names may have.
bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || (c & 0x80);
}

}  // namespace

Lexer::Deeper::Deeper(Lexer& lexer) : lexer(lexer) {
  if (++lexer.depth_ > most_nested) lexer.fail_as_too_deep();
}

void Lexer::fail_as_too_deep() const { fail("nested more deeply than " + std::to_string(most_nested) + " levels"); }

void Lexer::fail(const std::string& why) const {
  throw SyntaxError(line_, column_,
                    why + (kind_ == Token::end ? ", found the end of the text"
                                               : ", found '" + std::string(token_.substr(0, 40)) + "'"));
}

void Lexer::step(size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (text_[at_] == '\n')
      now_line_++, now_column_ = 1;
    else
      now_column_++;
    at_++;
  }
}

// Returns the length of the number that begins here; 0 if none does.
size_t Lexer::length_of_number() const {
  const char c = peek();
  const bool infinite = text_.substr(at_, 4) == "-inf";
  const bool begins =
      is_digit(c) || (c == '.' && is_digit(peek(1))) || (c == '-' && (is_digit(peek(1)) || peek(1) == '.' || infinite));
  if (!begins) return 0;
  if (infinite) return 4;
  size_t n = 1;
  const auto is_exponent = [](char x) { return x == 'e' || x == 'E'; };
  while (is_digit(peek(n)) || peek(n) == '.' || is_exponent(peek(n)) ||
         ((peek(n) == '-' || peek(n) == '+') && is_exponent(peek(n - 1))))
    n++;
  return n;
}

void Lexer::advance() {
  while (at_ < text_.size() && (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r')) step(1);
  line_ = now_line_, column_ = now_column_;
  const size_t begin = at_;
  const char c = peek();
  size_t n = 1;
#ifndef LAMELLA_PLANTED_GRAPH  // the tests remove this check, to verify that the fuzzer finds the fault
  if (at_ == text_.size()) {
    kind_ = Token::end;
    token_ = {};
    return;
  }
#endif
  if (const size_t digits = length_of_number()) {
    kind_ = Token::number;
    n = digits;
  } else if (c == '%') {
    kind_ = Token::value;
    while (is_name(peek(n)) || peek(n) == '.' || peek(n) == '$') n++;
  } else if (is_name(c)) {
    kind_ = Token::name;
    while (is_name(peek(n))) n++;
  } else if (c == '"') {
    kind_ = Token::text;
    while (at_ + n < text_.size() && peek(n) != '"' && peek(n) != '\n') n += peek(n) == '\\' ? 2 : 1;
    if (at_ + n >= text_.size() || peek(n) != '"') {
      token_ = text_.substr(at_, 1);
      fail("a text without its end");
    }
    n++;
  } else if (c == '#') {
    kind_ = Token::comment;
    while (at_ + n < text_.size() && peek(n) != '\n') n++;
  } else {
    kind_ = Token::mark;
    if ((c == '-' && peek(1) == '>') || (c == ':' && peek(1) == ':')) n = 2;
    if (text_.substr(at_, 3) == "...") n = 3;
  }
  step(n);
  token_ = text_.substr(begin, n);
}

bool Lexer::peek_is_name() const { return is_name(peek()); }

bool Lexer::peek_after_blanks(char wanted) const {
  size_t n = 0;
  while (peek(n) == ' ') n++;
  return peek(n) == wanted;
}

std::string Lexer::name() {
  if (kind_ != Token::name) fail("expected a name");
  std::string out(token_);
  advance();
  return out;
}

std::string Lexer::part() {
  if (kind_ != Token::name && kind_ != Token::number) fail("expected a name");
  std::string out(token_);
  advance();
  return out;
}

std::string Lexer::qualified() {
  std::string out = name();
  while (true) {
    if (take("::")) {
      out += "::" + name();
    } else if (is(".") && is_name(peek())) {
      advance();
      out += "." + part();
    } else {
      return out;
    }
  }
}

int64_t Lexer::integer() {
  if (kind_ != Token::number) fail("expected an integer");
  int64_t n = 0;
  const char* end = token_.data() + token_.size();
  const auto [stop, error] = std::from_chars(token_.data(), end, n);
  if (error != std::errc() || stop != end) fail("expected an integer of 64 bits");
  advance();
  return n;
}

}  // namespace lamella::graph
