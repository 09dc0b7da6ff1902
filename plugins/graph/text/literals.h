// Reads types and literals.
#pragma once

#include "text/lexer.h"

namespace lamella::graph {

class LiteralParser : public Lexer {
 public:
  using Lexer::Lexer;
  TypePtr whole_type() {
    TypePtr t = type();
    if (kind_ != Token::end) fail("expected the end of the type");
    return t;
  }

 protected:
  bool facts_of_tensors_ = true;  // whether "Tensor(" begins the facts of a tensor; in schemas, an alias set
  TypePtr type();
  Literal literal();

 private:
  Dim dim();
  int64_t offset();  // of a size behind a symbol
  void facts(TensorFacts* t);
  TypePtr type_without_suffix();
  TypePtr named_tuple();
  Literal number();
  std::string text();
  double real();
};

}  // namespace lamella::graph
