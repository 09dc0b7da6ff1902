// The changes of graphs, their copies and their comparison.
#include "ir/graph.h"

#include <algorithm>

namespace lamella::graph {
namespace {

void drop_use(Value* v, const Node* user, size_t input) {
  auto& uses = v->uses;
  // The last use is mostly the one: passes that remove many nodes go from the last one to the first.
  const auto found =
      std::find_if(uses.rbegin(), uses.rend(), [&](const Use& u) { return u.user == user && u.input == input; });
  if (found == uses.rend()) return;
  *found = uses.back();
  uses.pop_back();
}

void link(Node* n, Node* before) {
  n->before = before->before;
  n->behind = before;
  n->before->behind = n;
  before->before = n;
}
void unlink(Node* n) {
  n->before->behind = n->behind;
  n->behind->before = n->before;
}

}  // namespace

void Value::replace_uses_with(Value* other) {
  if (other == this) return;
  for (const Use& u : uses) {
    u.user->inputs[u.input] = other;
    other->uses.push_back(u);
  }
  uses.clear();
}

Node::~Node() = default;

void Node::drop() {
  for (size_t i = 0; i < inputs.size(); i++) drop_use(inputs[i], this, i);
  inputs.clear();
  for (const auto& b : blocks) b->drop();
  for (const auto& v : outputs) block->graph().forget_name(v->name);
  block = nullptr;
}

Value* Node::add_output(TypePtr type, std::string name) {
  auto v = std::make_unique<Value>();
  v->name = block->graph().unique_name(std::move(name));
  v->type = std::move(type);
  v->definition = this;
  v->output = outputs.size();
  outputs.push_back(std::move(v));
  return outputs.back().get();
}

void Node::add_input(Value* v) {
  v->uses.push_back({this, inputs.size()});
  inputs.push_back(v);
}

void Node::set_input(size_t at, Value* v) {
  drop_use(inputs[at], this, at);
  inputs[at] = v;
  v->uses.push_back({this, at});
}

void Node::remove_input(size_t at) {
  for (size_t i = at; i < inputs.size(); i++) drop_use(inputs[i], this, i);
  inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(at));
  for (size_t i = at; i < inputs.size(); i++) inputs[i]->uses.push_back({this, i});
}

void Node::remove_output(size_t at) {
  block->graph().forget_name(outputs[at]->name);
  outputs.erase(outputs.begin() + static_cast<std::ptrdiff_t>(at));
  for (size_t i = at; i < outputs.size(); i++) outputs[i]->output = i;
}

Block& Node::add_block() {
  blocks.push_back(std::make_unique<Block>(block->graph(), this));
  return *blocks.back();
}

const Literal* Node::attribute(std::string_view name) const {
  for (const Attribute& a : attributes)
    if (a.name == name) return &a.value;
  return nullptr;
}

void Node::set_attribute(std::string name, Literal value) {
  for (Attribute& a : attributes)
    if (a.name == name) {
      a.value = std::move(value);
      return;
    }
  attributes.push_back({std::move(name), std::move(value)});
}

Block::Block(Graph& graph, Node* owner) : graph_(graph), owner_(owner) {
  first_.op = "prim::Param";
  last_.op = "prim::Return";
  first_.block = last_.block = this;
  first_.behind = &last_;
  last_.before = &first_;
}

Block::~Block() {
  for (Node* n = first_.behind; n != &last_;) {
    Node* behind = n->behind;
    delete n;
    n = behind;
  }
}

void Block::drop() {
  last_.drop();
  for (Node* n = last_.before; n != &first_; n = n->before) n->drop();
  first_.drop();
}

Node* Block::insert(Node* before, std::string op, std::string overload) {
  auto* n = new Node;
  n->op = std::move(op);
  n->overload = std::move(overload);
  n->block = this;
  link(n, before);
  return n;
}

void Block::remove(Node* n) {
  unlink(n);
  n->drop();
  graph_.bury(n);
}

void Block::move(Node* n, Node* before) {
  unlink(n);
  n->block = this;
  link(n, before);
}

std::string Graph::unique_name(std::string wish) {
  if (!named_) return {};
  if (wish.empty()) {
    do wish = std::to_string(next_++);
    while (!names_.try_emplace(wish, 0).second);
    return wish;
  }
  const auto [at, fresh] = names_.try_emplace(wish, 0);
  if (fresh) return wish;
  const size_t dot = wish.rfind('.');
  const bool numbered = dot != std::string::npos && dot + 1 < wish.size() &&
                        wish.find_first_not_of("0123456789", dot + 1) == std::string::npos;
  const std::string stem = numbered ? wish.substr(0, dot) : wish;
  int64_t& tried = names_.try_emplace(stem, 0).first->second;
  std::string name;
  do name = stem + "." + std::to_string(++tried);
  while (!names_.try_emplace(name, 0).second);
  return name;
}

namespace {

using Values = std::unordered_map<const Value*, Value*>;

void copy_block(const Block& from, Block& to, Values& values) {
  for (const auto& p : from.parameters()) values[p.get()] = to.add_parameter(p->type, p->name);
  for (Node* n = from.first(); n != from.end(); n = n->behind) {
    Node* made = to.append(n->op, n->overload);
    made->attributes = n->attributes;
    made->source = n->source;
    for (Value* v : n->inputs) made->add_input(values.at(v));
    for (const auto& b : n->blocks) copy_block(*b, made->add_block(), values);
    for (const auto& v : n->outputs) values[v.get()] = made->add_output(v->type, v->name);
  }
  for (Value* v : from.results()) to.add_result(values.at(v));
}

using Pairs = std::unordered_map<const Value*, const Value*>;

bool same_values(const std::vector<Value*>& a, const std::vector<Value*>& b, const Pairs& pairs) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](Value* x, Value* y) {
    const auto found = pairs.find(x);
    return found != pairs.end() && found->second == y;
  });
}
bool pair_up(const std::vector<std::unique_ptr<Value>>& a, const std::vector<std::unique_ptr<Value>>& b, Pairs& pairs) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); i++) {
    if (!same(a[i]->type, b[i]->type)) return false;
    pairs[a[i].get()] = b[i].get();
  }
  return true;
}
bool same_blocks(const Block& a, const Block& b, Pairs& pairs) {
  if (!pair_up(a.parameters(), b.parameters(), pairs)) return false;
  Node *x = a.first(), *y = b.first();
  for (; x != a.end() && y != b.end(); x = x->behind, y = y->behind) {
    const bool alike = x->op == y->op && x->overload == y->overload && x->attributes == y->attributes &&
                       x->blocks.size() == y->blocks.size() && same_values(x->inputs, y->inputs, pairs);
    if (!alike) return false;
    for (size_t i = 0; i < x->blocks.size(); i++)
      if (!same_blocks(*x->blocks[i], *y->blocks[i], pairs)) return false;
    if (!pair_up(x->outputs, y->outputs, pairs)) return false;
  }
  return x == a.end() && y == b.end() && same_values(a.results(), b.results(), pairs);
}

}  // namespace

std::unique_ptr<Graph> Graph::copy() const {
  auto made = std::make_unique<Graph>(named_);
  Values values;
  copy_block(top_, made->top_, values);
  return made;
}

int64_t Class::find(std::string_view attribute) const {
  for (size_t i = 0; i < attributes.size(); i++)
    if (attributes[i].first == attribute) return static_cast<int64_t>(i);
  return -1;
}

bool Class::operator==(const Class& other) const {
  return name == other.name &&
         std::equal(attributes.begin(), attributes.end(), other.attributes.begin(), other.attributes.end(),
                    [](const auto& a, const auto& b) { return a.first == b.first && same(a.second, b.second); });
}

Graph* Program::find(const std::string& name) const {
  const auto at = graphs.find(name);
  return at == graphs.end() ? nullptr : at->second.get();
}

Program Program::copy() const {
  Program made;
  made.classes = classes;
  for (const auto& [name, graph] : graphs) made.graphs[name] = graph->copy();
  return made;
}

bool operator==(const Graph& a, const Graph& b) {
  Pairs pairs;
  return same_blocks(a.top(), b.top(), pairs);
}

bool operator==(const Program& a, const Program& b) {
  return std::equal(a.classes.begin(), a.classes.end(), b.classes.begin(), b.classes.end(),
                    [](const auto& x, const auto& y) { return *x.second == *y.second; }) &&
         std::equal(a.graphs.begin(), a.graphs.end(), b.graphs.begin(), b.graphs.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first && *x.second == *y.second; });
}

}  // namespace lamella::graph
