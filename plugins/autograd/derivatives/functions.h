// Operators that derivatives are written with where one expression is not enough: composites over the catalogue's, in
// the namespace autograd. Their own derivatives follow by decomposition, or stand in the table.
#pragma once

#include <lamella/extension.h>

#include <cstring>
#include <string>

namespace lamella::autograd {

inline lamella::Tensor conj_if_complex(const lamella::Tensor& t) { return t.is_complex() ? lamella::conj(t) : t; }

// Defines a private operator with its composite, whose types are compared with the schema.
template <auto Function>
void composite(Library& m, const char* schema) {
  m.define(schema, nullptr, nullptr, nullptr, LAMELLA_FORM_PRIVATE);
  m.impl(std::string(schema, std::strchr(schema, '(')).c_str(), "composite", detail::Constant<Function>{});
}

}  // namespace lamella::autograd
