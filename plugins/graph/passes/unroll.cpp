// Loop unrolling.
//
// Note [Unrolling]  A loop without a condition and with n trips, n constant and at most 8, becomes n copies of its body.
//   Any other loop without a condition becomes two: one of trips // 4 trips with four copies of the body, and one for
//   the trips that are left. The order of the trips stays, and so does each bit of the results.
#include <algorithm>

#include "passes/constants.h"
#include "passes/effects.h"
#include "passes/passes.h"

namespace lamella::graph {
namespace {

constexpr int64_t most_copies = 8, copies = 4;
constexpr int64_t most_unrolled = 4096;  // of a body that is copied

bool is_true(const Value* v) {
  const bool* known = known_bool(v);
  return known && *known;
}

Value* number(Node* before, int64_t i) {
  Node* n = before->block->insert(before, "prim::Constant");
  n->set_attribute("value", {i});
  return n->add_output(Type::of(Kind::integer));
}
Value* compute(Node* before, const char* op, Value* a, Value* b) {
  Node* n = before->block->insert(before, op, "int");
  n->add_input(a);
  n->add_input(b);
  return n->add_output(Type::of(Kind::integer));
}

// Copies the body once before a node; `carried` are the values of the trip, and become those of the next one.
void copy_trip(const Block& body, Node* before, Value* trip, std::vector<Value*>* carried) {
  ValueMap values;
  values[body.parameters()[0].get()] = trip;
  for (size_t i = 0; i < carried->size(); i++) values[body.parameters()[i + 1].get()] = (*carried)[i];
  const std::vector<Value*> results = copy_nodes(body, before, values);
  carried->assign(results.begin() + 1, results.end());
}

// Makes a loop before a node, with the carried values of another one; fill(block, carried) makes its trips.
template <class Fill>
Node* make_loop(Node* before, const Node& like, Value* trips, const std::vector<Value*>& initial, Fill fill) {
  Node* n = before->block->insert(before, "prim::Loop");
  n->source = like.source;
  n->add_input(trips);
  n->add_input(like.inputs[1]);
  for (Value* v : initial) n->add_input(v);
  Block& b = n->add_block();
  const Block& old = *like.blocks[0];
  Value* trip = b.add_parameter(Type::of(Kind::integer), old.parameters()[0]->name);
  std::vector<Value*> carried;
  for (size_t i = 0; i < initial.size(); i++)
    carried.push_back(b.add_parameter(old.parameters()[i + 1]->type, old.parameters()[i + 1]->name));
  fill(b, trip, &carried);
  b.add_result(like.inputs[1]);
  for (Value* v : carried) b.add_result(v);
  for (const auto& v : like.outputs) n->add_output(v->type, v->name);
  return n;
}

std::vector<Value*> outputs_of(const Node& n) {
  std::vector<Value*> all;
  for (const auto& v : n.outputs) all.push_back(v.get());
  return all;
}

void replace(Node* n, const std::vector<Value*>& by) {
  for (size_t i = 0; i < by.size(); i++) n->outputs[i]->replace_uses_with(by[i]);
  n->block->remove(n);
}

bool unroll(Node* n) {
  const Block& body = *n->blocks[0];
  if (!is_true(n->inputs[1]) || !is_true(body.results()[0])) return false;
  int64_t size = 0;
  each_node(body, [&](const Node*) { size++; });
  if (size > most_unrolled) return false;
  std::vector<Value*> carried(n->inputs.begin() + 2, n->inputs.end());
  const int64_t* trips = known_int(n->inputs[0]);
  if (trips && *trips >= 0 && *trips <= most_copies) {
    for (int64_t i = 0; i < *trips; i++) copy_trip(body, n, number(n, i), &carried);
    replace(n, carried);
    return true;
  }
  Value* const four = number(n, copies);
  // A negative number of trips is none: trips // 4 and trips - 4 * (trips // 4) would not both be none.
  Node* most = n->block->insert(n, "aten::max", "int");
  most->add_input(n->inputs[0]);
  most->add_input(number(most, 0));
  Value* const all = most->add_output(Type::of(Kind::integer));
  Value* const rounds = compute(n, "aten::floordiv", all, four);
  Node* main = make_loop(n, *n, rounds, carried, [&](Block& b, Value* round, std::vector<Value*>* values) {
    Value* const first = compute(b.end(), "aten::mul", round, four);
    for (int64_t k = 0; k < copies; k++)
      copy_trip(body, b.end(), k ? compute(b.end(), "aten::add", first, number(b.end(), k)) : first, values);
  });
  Value* const done = compute(n, "aten::mul", rounds, four);
  Value* const left = compute(n, "aten::sub", all, done);
  Node* rest = make_loop(n, *n, left, outputs_of(*main), [&](Block& b, Value* trip, std::vector<Value*>* values) {
    copy_trip(body, b.end(), compute(b.end(), "aten::add", done, trip), values);
  });
  replace(n, outputs_of(*rest));
  return true;
}

}  // namespace

bool unroll_loops(Program&, Graph& g) {
  std::vector<Node*> loops;  // those of the graph as it is, inner ones first
  each_node(g.top(), [&](Node* n) {
    if (n->is("prim::Loop")) loops.push_back(n);
  });
  bool changed = false;
  for (Node* n : loops) changed = unroll(n) || changed;
  return changed;
}

}  // namespace lamella::graph
