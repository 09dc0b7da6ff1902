// Private operators of the namespace autograd, which formulas call where one expression is not enough. Each is a
// composite over the catalogue's operators; its own derivative follows by decomposition, or has a line in the tables.
#pragma once

#include <lamella/extension.h>

#include <cstring>
#include <string>

namespace lamella::autograd {

inline lamella::Tensor conj_if_complex(const lamella::Tensor& t) { return t.is_complex() ? lamella::conj(t) : t; }
inline lamella::Tensor one_for_zero(const lamella::Tensor& t) { return lamella::where(t == 0, 1, t); }

// Defines a private operator by its composite; `impl` compares the function's types with the schema.
template <auto Function>
void composite(Library& m, const char* schema) {
  m.define(schema, nullptr, nullptr, nullptr, LAMELLA_FORM_PRIVATE);
  m.impl(std::string(schema, std::strchr(schema, '(')).c_str(), "composite", detail::Constant<Function>{});
}

}  // namespace lamella::autograd
