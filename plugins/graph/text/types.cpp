// Reads types: "Float(2, n, strides=[n, 1])", "int[]", "Dict(str, Tensor)", "(int, float)?".
#include "text/literals.h"

namespace lamella::graph {
namespace {

// Returns whether a name in a text is a type that is no class.
bool is_word_of_types(std::string_view name) {
  for (const std::string_view word : {"Tensor", "Dict", "Future", "NamedTuple", "Optional", "Tuple", "List", "Union"})
    if (name == word) return true;
  return kind_of_word(name) || !dtype_of_word(name).empty();
}

}  // namespace

int64_t LiteralParser::offset() {
  if (take("+")) return integer();
  return kind_ == Token::number && token_[0] == '-' ? integer() : 0;
}

Dim LiteralParser::dim() {
  if (take("*")) return Dim::unknown();
  if (kind_ == Token::number) {
    const int64_t n = integer();
    take("!");
    if (!take("*")) return {n, 0, {}};
    std::string symbol = name();
    return {offset(), n, std::move(symbol)};
  }
  std::string symbol = name();
  if (symbol == "SS" && take("(")) {  // torch's symbols of a profile
    integer();
    expect(")");
    return Dim::unknown();
  }
  return {offset(), 1, std::move(symbol)};
}

void LiteralParser::facts(TensorFacts* t) {
  t->sizes.emplace();
  list(")", [&] {
    if (take("...")) {
      t->sizes.reset();
      return;
    }
    if (kind_ != Token::name || !peek_after_blanks('=')) {
      if (!t->sizes) fail("a size after '...'");
      t->sizes->push_back(dim());
      return;
    }
    const std::string key = name();
    expect("=");
    if (key == "strides") {
      t->strides.emplace();
      expect("[");
      list("]", [&] { t->strides->push_back(dim()); });
    } else if (key == "requires_grad") {
      t->requires_grad = take_name("True") || (!take_name("False") && integer() != 0);
    } else if (key == "device") {
      t->device = name();
      if (take(":")) t->device += ":" + part();
    } else if (key == "dtype") {
      t->dtype = name();
    } else {
      fail("a tensor has no property '" + key + "'");
    }
  });
}

TypePtr LiteralParser::type() {
  const Deeper deeper(*this);
  TypePtr t = type_without_suffix();
  while (true) {
    if (t->depth > most_nested) fail_as_too_deep();
    if (is("[") && peek_after_blanks(']')) {
      advance();
      expect("]");
      t = Type::list(std::move(t));
    } else if (take("?")) {
      t = Type::optional(std::move(t));
    } else {
      return t;
    }
  }
}

TypePtr LiteralParser::named_tuple() {
  std::string own;
  if (take("[")) {
    own = qualified();
    expect("]");
  }
  std::vector<TypePtr> parts;
  std::vector<std::string> fields;
  expect("(");
  list(")", [&] {
    fields.push_back(name());
    expect(":");
    parts.push_back(type());
  });
  return Type::tuple(std::move(parts), std::move(own), std::move(fields));
}

TypePtr LiteralParser::type_without_suffix() {
  if (take("(")) {
    std::vector<TypePtr> parts;
    list(")", [&] { parts.push_back(type()); });
    return Type::tuple(std::move(parts));
  }
  const std::string word = qualified();
  if (word == "Optional" || word == "Tuple" || word == "List") {  // torch's
    expect("[");
    std::vector<TypePtr> parts;
    list("]", [&] { parts.push_back(type()); });
    if (word != "Tuple" && parts.size() != 1) fail("expected one type in " + word + "[...]");
    return word == "Tuple"  ? Type::tuple(std::move(parts))
           : word == "List" ? Type::list(parts[0])
                            : Type::optional(parts[0]);
  }
  if (const auto kind = kind_of_word(word)) return Type::of(*kind);
  const std::string_view dtype = dtype_of_word(word);
  if (word == "Tensor" || !dtype.empty()) {
    TensorFacts t;
    t.dtype = dtype;
    if (facts_of_tensors_ && take("(")) facts(&t);
    return t == TensorFacts() ? Type::of(Kind::tensor) : std::make_shared<const Type>(std::move(t));
  }
  if (word == "Union") {  // torch's; the value is one of several types
    const bool round = take("(");
    if (!round) expect("[");
    list(round ? ")" : "]", [&] { type(); });
    return Type::of(Kind::any);
  }
  if ((word == "Enum" || word == "InterfaceType") && take("<")) {  // torch's
    const std::string own = qualified();
    if (is_word_of_types(own)) fail("'" + own + "' is the name of another type");
    expect(">");
    return Type::object(own);
  }
  if (word == "Dict") {
    expect("(");
    TypePtr key = type();
    expect(",");
    TypePtr value = type();
    expect(")");
    return Type::dict(std::move(key), std::move(value));
  }
  if (word == "Future") {
    const bool round = take("(");
    if (!round) expect("[");  // torch's
    TypePtr inside = type();
    expect(round ? ")" : "]");
    return Type::future(std::move(inside));
  }
  if (word == "NamedTuple") return named_tuple();
  return Type::object(word);
}

}  // namespace lamella::graph
