// Makes the table of a family of pointwise operators from its declarations, with the loops of the oldest instruction
// set.
#pragma once

#include <lamella/pointwise/loops.h>

#include <cstring>

#include "operators/pointwise.h"

namespace lamella::operators {

// The descriptor of a declaration, with the loops compiled here, for the oldest instruction set.
template <class Op>
const lamella_pointwise* meaning() {
  static const lamella::pointwise::Expressions texts = lamella::pointwise::expressions<Op>();
  static const lamella_pointwise d = lamella::pointwise::describe<Op>(&texts);
  return &d;
}

template <class Op>
void declare(std::vector<Declaration>* table) {
  // "special_i1" is shown as lamella.special.i1.
  for (const lamella::pointwise::Signature& s : Op::signatures)
    table->push_back({.schema = {s.schema, s.line, s.file},
                      .category = "pointwise",
                      .forms = s.forms,
                      .doc = s.doc,
                      .aliases = s.aliases,
                      .module = std::strncmp(s.schema, "special_", 8) ? nullptr : "special",
                      .pointwise = meaning<Op>()});
}
// Returns the table of a family.
template <class... Ops>
std::vector<Declaration> declared(lamella::pointwise::Family<Ops...>) {
  std::vector<Declaration> table;
  (declare<Ops>(&table), ...);
  return table;
}

}  // namespace lamella::operators
