// Constant propagation: nodes on constants alone, and branches and loops whose condition is known.
#include <algorithm>
#include <cmath>

#include "passes/constants.h"
#include "passes/effects.h"
#include "passes/passes.h"
#include "run/constants.h"
#include "signatures/signature.h"

namespace lamella::graph {
namespace {

// Returns whether no program can write the values of a type. One constant may then stand for the result of every run.
bool is_immutable(const Type& t) {
  switch (t.kind) {
    case Kind::integer:
    case Kind::floating:
    case Kind::complex:
    case Kind::boolean:
    case Kind::string:
    case Kind::none:
    case Kind::number:
    case Kind::device:
    case Kind::dtype:
      return true;
    case Kind::optional:
      return is_immutable(*t.inner[0]);
    default:
      return false;
  }
}

bool as_literal(const lamella_value& v, Literal* out) {
  switch (v.tag) {
    case LAMELLA_NONE:
      return *out = {Literal::None()}, true;
    case LAMELLA_BOOLEAN:
      return *out = {v.as.i != 0}, true;
    case LAMELLA_INT:
      return *out = {v.as.i}, true;
    case LAMELLA_FLOAT:
      return *out = {v.as.d}, true;
    case LAMELLA_COMPLEX:
      return *out = {std::complex<double>(v.as.doubles[0], v.as.doubles[1])}, true;
    case LAMELLA_STRING:
      return *out = {std::string(text_of(v))}, true;
    case LAMELLA_DTYPE:
      return *out = {Literal::Word{Kind::dtype, api().dtype_info(static_cast<int32_t>(v.as.i))->name}}, true;
    default:
      return false;
  }
}

// Returns whether a text that is computed from the inputs may be longer than a graph should hold: as `"ab" * n` may.
bool may_be_long(const Node& n) {
  constexpr double most = 65536;
  double length = 1;
  for (const Value* v : n.inputs) {
    const Literal* x = constant_of(v);
    if (const auto* i = std::get_if<int64_t>(&x->value)) length *= 1 + std::abs(static_cast<double>(*i));
    if (const auto* s = std::get_if<std::string>(&x->value)) {
      length *= 1 + static_cast<double>(s->size());
      size_t digits = 0;  // of a width: "{:99999}"
      for (const char c : *s) {
        digits = c >= '0' && c <= '9' ? digits + 1 : 0;
        if (digits == 5) length = most + 1;
      }
    }
  }
  return n.outputs[0]->type->kind == Kind::string && length > most;
}

// Computes a builtin whose arguments are constants that nobody can write; returns false if it cannot, or if it raises
// an error, which the program raises when it runs.
bool compute(const Node& n, Literal* result) {
  if (n.outputs.size() != 1 || !n.blocks.empty() || has_effect(n) || !is_immutable(*n.outputs[0]->type)) return false;
  const Signature* s = is_primitive(n) ? nullptr : signature_of(n);
  if (!s || !s->function || s->has_state) return false;
  const bool known = std::all_of(n.inputs.begin(), n.inputs.end(),
                                 [](const Value* v) { return constant_of(v) && is_immutable(*v->type); });
  if (!known || n.inputs.empty() || s->variadic || may_be_long(n)) return false;
  const std::vector<lamella_value> no_tensors;
  const Constants constants(no_tensors);
  std::vector<lamella_value> args;
  bool good = false;
  try {
    for (size_t i = 0; i < s->arguments.size(); i++)
      args.push_back(i < n.inputs.size()
                         ? constants.value(*constant_of(n.inputs[i]), *n.inputs[i]->type, false)
                         : constants.value(s->arguments[i].default_value, *s->arguments[i].type, false));
    lamella_value out = s->function(args.data());
    good = as_literal(out, result) && result->is_of(*n.outputs[0]->type);
    release(out);
  } catch (const Error&) {
    api().error_clear();
  }
  for (lamella_value& v : args) release(v);
  return good;
}

// Replaces a branching node by the nodes of one of its branches.
void replace_by(Node* n, Block& branch) {
  while (branch.first() != branch.end()) n->block->move(branch.first(), n);
  for (size_t i = 0; i < n->outputs.size(); i++) n->outputs[i]->replace_uses_with(branch.results()[i]);
  n->block->remove(n);
}

bool simplify(Node* n) {
  if (n->is("prim::Constant")) return false;
  if (n->is("prim::If")) {
    const bool* condition = known_bool(n->inputs[0]);
    if (!condition) return false;
    replace_by(n, *n->blocks[*condition ? 0 : 1]);
    return true;
  }
  if (n->is("prim::Loop")) {
    const int64_t* trips = known_int(n->inputs[0]);
    const bool* condition = known_bool(n->inputs[1]);
    if (!(trips && *trips <= 0) && !(condition && !*condition)) return false;
    for (size_t i = 0; i < n->outputs.size(); i++) n->outputs[i]->replace_uses_with(n->inputs[i + 2]);
    n->block->remove(n);
    return true;
  }
  Literal result;
  if (is_unused(*n) || !compute(*n, &result)) return false;
  Node* made = n->block->insert(n, "prim::Constant");
  made->source = n->source;
  if (!std::holds_alternative<Literal::None>(result.value)) made->set_attribute("value", std::move(result));
  Value* v = made->add_output(n->outputs[0]->type, n->outputs[0]->name);
  n->outputs[0]->replace_uses_with(v);
  n->block->remove(n);
  return true;
}

bool propagate_in(Block& b) {
  bool changed = false;
  for (Node* n = b.first(); n != b.end();) {
    for (const auto& inner : n->blocks) changed = propagate_in(*inner) || changed;
    Node* const before = n->before;
    if (simplify(n)) {
      changed = true;
      n = before->behind;  // what was put in its place
    } else {
      n = n->behind;
    }
  }
  return changed;
}

}  // namespace

bool propagate_constants(Program&, Graph& g) { return propagate_in(g.top()); }

}  // namespace lamella::graph
