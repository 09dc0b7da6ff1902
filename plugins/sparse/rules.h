// The functions of the plugin that register operators and rules, and those that the rules share.
//
// Note [Boundary]  A rule of the layer stands outside of autograd. It takes a sparse tensor apart by values_of(), whose
//   derivative puts a gradient into a sparse tensor of the same places, computes with plain tensors, and makes a sparse
//   result by with_values(), coo_of() or compressed_of(). So autograd records these operators and those on plain
//   tensors, and derivatives of every order follow. A rule passes sparse tensors to no other operators: the layer is
//   off within.
#pragma once

#include "state.h"

namespace lamella::sparse {

// ---- boundary.cpp: operators that autograd records ------------------------------------------------------------------

Tensor values_of(const Tensor& sparse);
Tensor with_values(const Tensor& like, const Tensor& values);  // the sparse tensor `like` with other values
Tensor coo_of(const Tensor& indices, const Tensor& values, IntArrayRef size, bool coalesced);
Tensor compressed_of(const Tensor& outer, const Tensor& inner, const Tensor& values, IntArrayRef size, Kind kind);
Tensor values_at(const Tensor& self, const Tensor& like);  // the values of `self` at the places of `like`
void register_boundary(Library& m);

// ---- sorting.cpp, products.cpp: operators on plain parts ----------------------------------------------------------

void check_entries(const Tensor& indices, const Tensor& values, IntArrayRef size);
void register_sorting(Library& m);
Tensor rows_from(const Tensor& crow, int64_t entries);  // the row of each entry
void register_products(Library& m);

// ---- convert.cpp --------------------------------------------------------------------------------------------------

// The plain parts of a sparse tensor as a COO tensor has them, with values that autograd follows.
struct Entries {
  Tensor indices, values;
  bool coalesced;
};
Entries entries_of(const Tensor& sparse);
Entries coalesced_entries(const Entries& e, IntArrayRef size);
Entries coalesced_entries(const Tensor& sparse);
// The number of each entry's place, counted row by row over the first dimensions of `size`.
Tensor places_of(const Tensor& indices, IntArrayRef size);
Tensor dense_of(const Tensor& sparse);
Tensor to_layout(const Tensor& sparse, Kind kind);
Tensor from_entries(const Entries& e, IntArrayRef size, Kind kind);  // a tensor of any layout
void register_conversions(Library& m);

// ---- rules of operators -------------------------------------------------------------------------------------------

void register_pointwise(Library& m);
void register_matmuls(Library& m);
void register_moves(Library& m);
void register_reductions(Library& m);
void register_tables(Library& m);

// Registers an operator of this library that is made of others, and calls them with autograd on.
template <class F>
void define_composite(Library& m, const char* schema, F function, const char* doc = nullptr) {
  m.define(schema, nullptr, nullptr, doc);
  m.impl(std::string(schema, std::strchr(schema, '(')).c_str(), "composite", function);
}

inline lamella_value owned(const Tensor& t) {
  const lamella_value v = value(t);
  lamella_value kept;
  check(api().value_retain(&v, &kept));
  return kept;
}

inline int64_t wrapped(int64_t dim, int64_t dims, const char* argument = "dim") {
  LAMELLA_CHECK_INDEX(dim >= -dims && dim < dims, "argument '", argument, "': ", dim,
                      " is out of range for a tensor of ", dims, " dimensions");
  return dim < 0 ? dim + dims : dim;
}

}  // namespace lamella::sparse
