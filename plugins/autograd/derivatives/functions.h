// Private operators of the namespace autograd, which formulas call where one expression is not enough. Each is a
// composite over the catalogue's operators; its own derivative follows by decomposition, or has a line in the tables.
#pragma once

#include <lamella/extension.h>

#include <cstring>
#include <string>

namespace lamella::autograd {

inline lamella::Tensor conj_if_complex(const lamella::Tensor& t) { return t.is_complex() ? lamella::conj(t) : t; }

// Defines a private operator by its composite; `impl` compares the function's types with the schema.
template <auto Function>
void composite(Library& m, const char* schema) {
  m.define(schema, nullptr, nullptr, nullptr, LAMELLA_FORM_PRIVATE);
  m.impl(std::string(schema, std::strchr(schema, '(')).c_str(), "composite", detail::Constant<Function>{});
}

void define_pointwise_functions(Library& m);
void define_shape_functions(Library& m);
void define_indexing_functions(Library& m);
void define_network_functions(Library& m);
void define_distance_functions(Library& m);

}  // namespace lamella::autograd
