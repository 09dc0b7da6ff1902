// Cuts the text of a graph into tokens, and reads names and whole numbers. The parsers of types, literals and nodes are
// derived from it.
#pragma once

#include <string>
#include <string_view>

#include "text/text.h"

namespace lamella::graph {

enum class Token : uint8_t { end, name, value, number, text, comment, mark };

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

 protected:
  static constexpr int most_nested = 200;  // levels: blocks, and types and literals within them

  // Raises a SyntaxError at the present token.
  [[noreturn]] void fail(const std::string& why) const;
  [[noreturn]] void fail_as_too_deep() const;
  void advance();

  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool peek_is_name() const;
  bool peek_after_blanks(char wanted) const;  // whether the next character after the token is `wanted`
  bool is(std::string_view mark) const { return (kind_ == Token::mark || kind_ == Token::name) && token_ == mark; }
  bool take(std::string_view mark) {
    if (!is(mark)) return false;
    advance();
    return true;
  }
  bool take_name(std::string_view name) { return kind_ == Token::name && take(name); }
  void expect(std::string_view mark) {
    if (!take(mark)) fail("expected '" + std::string(mark) + "'");
  }
  std::string name();
  std::string part();       // a name, or a number that a name begins with
  std::string qualified();  // names with "::" and "." between them
  int64_t integer();
  // Calls `element` for each element up to the closing mark; commas stand between elements.
  template <class F>
  void list(std::string_view close, F element) {
    for (bool first = true; !take(close); first = false) {
      if (!first) expect(",");
      element();
    }
  }

  // Counts a level of nesting while it lives, so that a hostile text cannot exhaust the stack.
  struct Deeper {
    Lexer& lexer;
    explicit Deeper(Lexer& lexer);
    ~Deeper() { lexer.depth_--; }
    Deeper(const Deeper&) = delete;
  };

  std::string_view token_;
  Token kind_ = Token::end;
  int line_ = 1, column_ = 1;

 private:
  void step(size_t n);
  size_t length_of_number() const;

  std::string_view text_;
  size_t at_ = 0;
  int now_line_ = 1, now_column_ = 1, depth_ = 0;
};

}  // namespace lamella::graph
