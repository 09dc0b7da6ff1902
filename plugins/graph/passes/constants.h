// The values that a graph knows: those of constants.
#pragma once

#include "ir/graph.h"

namespace lamella::graph {

// Returns the literal of a constant, None for one without a value; null for another value.
inline const Literal* constant_of(const Value* v) {
  if (!v->definition->is("prim::Constant")) return nullptr;
  static const Literal absent{Literal::None()};
  const Literal* x = v->definition->attribute("value");
  return x ? x : &absent;
}
inline const bool* known_bool(const Value* v) {
  const Literal* x = constant_of(v);
  return x ? std::get_if<bool>(&x->value) : nullptr;
}
inline const int64_t* known_int(const Value* v) {
  const Literal* x = constant_of(v);
  return x ? std::get_if<int64_t>(&x->value) : nullptr;
}

}  // namespace lamella::graph
