// Operators that derivatives are written with where one expression is not enough: composites over the catalogue's, in
// the namespace autograd. Their own derivatives follow by decomposition, or stand in the table.
#pragma once

#include "compose.h"

namespace lamella::autograd {

// Defines an operator with its composite.
inline void composite(Library& m, const char* schema, lamella_kernel kernel) {
  m.define(schema, nullptr, nullptr, nullptr, LAMELLA_FORM_PRIVATE);
  m.impl(std::string(schema, std::strchr(schema, '(')).c_str(), "composite", kernel);
}

void define_pointwise_functions(Library& m);
void define_shape_functions(Library& m);
void define_indexing_functions(Library& m);
void define_network_functions(Library& m);

}  // namespace lamella::autograd
