// What the families of pointwise operators share: how their tables are written.
#pragma once

#include <lamella/pointwise/loops.h>

#include <vector>

#include "dispatcher/operators/compose.h"
#include "dispatcher/pointwise.h"

namespace lamella::dispatcher {

// One table a family; pointwise.cpp joins them.
std::vector<Declaration> arithmetic_operators();
std::vector<Declaration> function_operators();
std::vector<Declaration> choosing_operators();
std::vector<Declaration> activation_operators();
std::vector<Declaration> backward_operators();

// The descriptor of a declaration, with the loops compiled here, for the oldest instruction set.
template <class Op>
const lamella_pointwise* meaning() {
  static const std::string text = lamella::pointwise::expression<Op>();
  static const lamella_pointwise d = lamella::pointwise::describe<Op>(text.c_str());
  return &d;
}

// The shape rule of a declaration's operator, for one that has more to check.
template <class Op>
lamella_status infer_as(lamella_frame* f, const Value* a, Meta* m) {
  f->context = const_cast<lamella_pointwise*>(meaning<Op>());
  return infer_pointwise(f, a, m);
}

}  // namespace lamella::dispatcher

#define BINARY(name, Op, doc)                                                                               \
  {name ".Tensor(Tensor self, Tensor other) -> Tensor",                                                     \
   "pointwise",                                                                                             \
   all_forms,                                                                                               \
   nullptr,                                                                                                 \
   nullptr,                                                                                                 \
   doc,                                                                                                     \
   meaning<p::Op>()},                                                                                       \
  {                                                                                                         \
    name ".Scalar(Tensor self, Scalar other) -> Tensor", "pointwise", all_forms, nullptr, nullptr, nullptr, \
        meaning<p::Op>()                                                                                    \
  }
#define UNARY(name, Op, doc) \
  { name "(Tensor self) -> Tensor", "pointwise", all_forms, nullptr, nullptr, doc, meaning<p::Op>() }
#define SCALED(name, Op, doc)                                                                                      \
  {name ".Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",                                         \
   "pointwise",                                                                                                    \
   all_forms,                                                                                                      \
   nullptr,                                                                                                        \
   nullptr,                                                                                                        \
   doc,                                                                                                            \
   meaning<p::Op>()},                                                                                              \
  {                                                                                                                \
    name ".Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", "pointwise", all_forms, nullptr, nullptr, \
        nullptr, meaning<p::Op>()                                                                                  \
  }
#define COMPARE(name, Op, sign, result)                                                    \
  BINARY(name, Op,                                                                         \
         "Where self " sign                                                                \
         " other, element by element; the result is a bool tensor.\n\nBoth broadcast.\n\n" \
         ">>> lamella." name "(lamella.tensor([1, 2, 3]), 2)\ntensor([" result "])\n")
