// Reads literals: numbers, texts in quotes, lists, dtypes and other words, and constants of the program by number.
#include "text/literals.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace lamella::graph {

Literal LiteralParser::number() {
  if (token_.find_first_of(".eEi") == std::string_view::npos) return {integer()};
  double x = 0;
  if (token_ == "-inf") {
    x = -INFINITY;
  } else {
    const char* end = token_.data() + token_.size();
    const auto [stop, error] = std::from_chars(token_.data(), end, x);
    if ((error != std::errc() && error != std::errc::result_out_of_range) || stop != end) fail("expected a number");
    if (error != std::errc()) x = std::strtod(std::string(token_).c_str(), nullptr);  // infinity or zero
  }
  advance();
  return {x};
}

std::string LiteralParser::text() {
  if (kind_ != Token::text) fail("expected a text in quotes");
  std::string out;
  const std::string_view inside = token_.substr(1, token_.size() - 2);
  for (size_t i = 0; i < inside.size(); i++) {
    if (inside[i] != '\\') {
      out += inside[i];
      continue;
    }
    const char c = ++i < inside.size() ? inside[i] : '\0';
    if (c == 'n') {
      out += '\n';
    } else if (c == 't') {
      out += '\t';
    } else if (c == 'r') {
      out += '\r';
    } else if (c == 'x' && i + 2 < inside.size()) {
      int byte = 0;
      const char* from = inside.data() + i + 1;
      if (std::from_chars(from, from + 2, byte, 16).ptr != from + 2) fail("a text with a wrong \\x");
      out += static_cast<char>(byte);
      i += 2;
    } else if (c == '"' || c == '\\' || c == '\'') {
      out += c;
    } else {
      fail("a text with an unknown escape");
    }
  }
  advance();
  return out;
}

double LiteralParser::real() {
  const Literal x = literal();
  if (const auto* d = std::get_if<double>(&x.value)) return *d;
  if (const auto* i = std::get_if<int64_t>(&x.value)) return static_cast<double>(*i);
  fail("expected a number");
}

Literal LiteralParser::literal() {
  const Deeper deeper(*this);
  if (kind_ == Token::number) return number();
  if (kind_ == Token::text) return {text()};
  if (take("[")) {
    Literal::List elements;
    list("]", [&] { elements.push_back(literal()); });
    return {std::move(elements)};
  }
  if (take("(")) {  // a tuple
    Literal::List elements;
    list(")", [&] { elements.push_back(literal()); });
    return {std::move(elements)};
  }
  if (take("{")) {  // torch's tensors of one element
    Literal inside = literal();
    expect("}");
    return inside;
  }
  if (take("<")) {
    if (!take_name("data")) fail("expected <data/number>; a tensor that is printed otherwise has no exact values");
    expect("/");
    const int64_t n = integer();
    expect(">");
    return {Literal::Tensor{n}};
  }
  const std::string word = name();
  if (word == "True" || word == "False") return {word == "True"};
  if (word == "None") return {Literal::None()};
  if (word == "inf") return {INFINITY};
  if (word == "nan") return {std::nan("")};
  if (word == "contiguous_format" || word == "preserve_format" || word == "channels_last")
    return {Literal::Word{Kind::memory_format, word}};
  if (word == "complex") {
    expect("(");
    const double re = real();
    expect(",");
    const double im = real();
    expect(")");
    return {std::complex<double>(re, im)};
  }
  if (word == "annotate") {  // torch's "annotate(List[int], [])"
    expect("(");
    for (int open = 0; kind_ != Token::end && !(open == 0 && is(",")); advance()) open += is("[") - is("]");
    expect(",");
    Literal inside = literal();
    expect(")");
    return inside;
  }
  for (const Kind k : word_kinds)
    if (word == Type::of(k)->text()) {
      expect("(");
      std::string inside = text();
      expect(")");
      return {Literal::Word{k, std::move(inside)}};
    }
  if (is(".")) {  // torch's member of an enum, "__torch__.Color.RED"
    std::string full = word;
    while (take(".")) full += "." + part();
    return {std::move(full)};
  }
  fail("'" + word + "' is no literal");
}

}  // namespace lamella::graph
