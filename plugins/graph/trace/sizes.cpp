// The comparison of graphs that were recorded for several sizes: Note [Sizes].
#include "trace/sizes.h"

#include <algorithm>
#include <optional>
#include <set>

namespace lamella::graph {
namespace {

// The first node at or behind a node that is neither a constant nor a part of the way to an attribute.
Node* operator_at(Node* n) {
  while (n->is("prim::Constant") || n->is("prim::GetAttr")) n = n->behind;
  return n;
}
Node* first_operator(const Graph& g) { return operator_at(g.top().first()); }
Node* next_operator(const Node* n) { return operator_at(n->behind); }

// The literal of a constant; null for None, for a device, which is another one in recordings by shape, and for a value
// that another node computes.
const Literal* constant_of(const Value& v) {
  const bool is_constant = v.definition->is("prim::Constant") && v.type->kind != Kind::device;
  return is_constant ? v.definition->attribute("value") : nullptr;
}
const Literal::List* list_of(const Literal* x) { return x ? std::get_if<Literal::List>(&x->value) : nullptr; }
bool same(const Literal* a, const Literal* b) { return a && b ? *a == *b : a == b; }

// Returns whether a value is the attribute at the end of a way; with an empty one, whether it is none.
bool is_attribute(const Value* v, std::string_view way) {
  while (v->definition->is("prim::GetAttr")) {
    const auto& name = std::get<std::string>(v->definition->attribute("name")->value);
    if (!way.ends_with(name)) return false;
    way.remove_suffix(name.size());
    if (way.ends_with('.')) way.remove_suffix(1);
    v = v->definition->inputs[0];
  }
  return way.empty();
}

// Returns whether two nodes call the same operator, for the same attributes.
bool alike(const Node& a, const Node& b) {
  return a.op == b.op && a.overload == b.overload &&
         std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(), b.inputs.end(),
                    [](const Value* x, const Value* y) { return is_attribute(x, y->name); });
}

std::string place(const Node& n) {
  return n.source.file ? " at " + *n.source.file + ":" + std::to_string(n.source.line) : "";
}

// A number as factor * size + rest.
struct Line {
  int64_t factor, rest;
};

// Returns the line through the numbers at once, twice and three times a size; nullopt if there is none.
std::optional<Line> line_through(const Literal* a, const Literal* b, const Literal* c, int64_t size) {
  const auto whole = [](const Literal* x) { return x ? std::get_if<int64_t>(&x->value) : nullptr; };
  const int64_t *x = whole(a), *y = whole(b), *z = whole(c);
  int64_t step, next, rest;
  if (!x || !y || !z || __builtin_sub_overflow(*y, *x, &step) || __builtin_sub_overflow(*z, *y, &next) ||
      step != next || step % size || __builtin_sub_overflow(*x, step, &rest))
    return std::nullopt;
  return Line{step / size, rest};
}

// A number of the graph, or an element of a list in it, that differs for other sizes.
struct Number {
  Node* node;
  size_t input;
  int64_t element;                                                            // -1: the number is in no list
  std::vector<std::pair<const OtherSizes*, std::optional<Line>>> depends_on;  // without a line: in another way
};

struct NewList {
  Node* node;
  size_t input;
  std::vector<Value*> values;
};

class Comparison {
 public:
  Comparison(Graph& g, const std::vector<SizedInput>& inputs) : graph_(g), inputs_(inputs) {}

  void compare(const OtherSizes& o) {
    if (differ(o, *o.twice) || differ(o, *o.thrice)) return;
    Node *a = first_operator(graph_), *b = first_operator(*o.twice), *c = first_operator(*o.thrice);
    for (; a != graph_.top().end(); a = next_operator(a), b = next_operator(b), c = next_operator(c))
      for (size_t i = 0; i < a->inputs.size(); i++)
        compare(o, a, i, constant_of(*b->inputs[i]), constant_of(*c->inputs[i]));
  }

  // Puts expressions in the place of numbers that are a multiple of one size plus a constant.
  void replace() {
    for (const Number& n : numbers_) {
      if (n.depends_on.size() > 1 || !n.depends_on[0].second) {
        std::string sizes;
        for (const auto& [o, line] : n.depends_on) sizes += (sizes.empty() ? "" : " and ") + name(*o);
        report("trace: a number of " + n.node->op + place(*n.node) + " depends on " + sizes + ", and is kept as it is");
        continue;
      }
      Value* made = expression(n.node, *n.depends_on[0].first, *n.depends_on[0].second);
      if (n.element < 0)
        n.node->set_input(n.input, made);
      else
        list_with(n)[static_cast<size_t>(n.element)] = made;
    }
    for (const auto& [node, input, values] : lists_) replace_list(node, input, values);
  }

  std::vector<std::string> reports;

 private:
  // Reports the first operator that another one takes the place of for other sizes.
  bool differ(const OtherSizes& o, const Graph& other) {
    const Node *a = first_operator(graph_), *b = first_operator(other);
    for (size_t k = 0; a != graph_.top().end() && b != other.top().end(); k++) {
      if (!alike(*a, *b)) {
        report("trace: the operators depend on " + name(o) + ": they differ from operator " + std::to_string(k) +
               " on (" + a->op + place(*a) + "; " + b->op + " for another size)");
        return true;
      }
      a = next_operator(a);
      b = next_operator(b);
    }
    const bool more = a != graph_.top().end() || b != other.top().end();
    if (more) report("trace: the number of operators depends on " + name(o));
    return more;
  }

  void compare(const OtherSizes& o, Node* n, size_t input, const Literal* b, const Literal* c) {
    const Literal* a = constant_of(*n->inputs[input]);
    if (same(a, b) && same(a, c)) return;
    const Literal::List *x = list_of(a), *y = list_of(b), *z = list_of(c);
    if (!x || !y || !z || x->size() != y->size() || x->size() != z->size()) {
      note(o, n, input, x ? 0 : -1, x ? std::nullopt : line_through(a, b, c, o.length));
      return;
    }
    const bool whole =
        std::all_of(x->begin(), x->end(), [](const Literal& e) { return std::holds_alternative<int64_t>(e.value); });
    for (size_t e = 0; e < x->size(); e++) {
      const Literal *p = &(*x)[e], *q = &(*y)[e], *r = &(*z)[e];
      if (same(p, q) && same(p, r)) continue;
      note(o, n, input, static_cast<int64_t>(e), whole ? line_through(p, q, r, o.length) : std::nullopt);
    }
  }

  void note(const OtherSizes& o, Node* n, size_t input, int64_t element, std::optional<Line> line) {
    const auto [at, fresh] = known_.try_emplace({n, input, element}, numbers_.size());
    if (fresh) numbers_.push_back({n, input, element, {}});
    numbers_[at->second].depends_on.emplace_back(&o, line);
  }

  // Returns the new elements of the list that a number is in; null: the element stays.
  std::vector<Value*>& list_with(const Number& n) {
    const auto [at, fresh] = known_lists_.try_emplace({n.node, n.input}, lists_.size());
    const size_t size = list_of(constant_of(*n.node->inputs[n.input]))->size();
    if (fresh) lists_.push_back({n.node, n.input, std::vector<Value*>(size)});
    return lists_[at->second].values;
  }

  void replace_list(Node* node, size_t input, std::vector<Value*> values) {
    const Literal::List& numbers = *list_of(constant_of(*node->inputs[input]));
    for (size_t e = 0; e < values.size(); e++)
      if (!values[e]) values[e] = constant(node, std::get<int64_t>(numbers[e].value));
    node->set_input(input, insert(node, "prim::ListConstruct", "", values, Type::list(Type::of(Kind::integer))));
  }

  Value* expression(Node* before, const OtherSizes& o, const Line& line) {
    Value* v = number(before, "aten::size", inputs_[o.input].value, o.dim);
    if (line.factor != 1) v = number(before, "aten::mul", v, line.factor);
    return line.rest ? number(before, "aten::add", v, line.rest) : v;
  }
  Value* number(Node* before, const char* op, Value* v, int64_t x) {
    return insert(before, op, "int", {v, constant(before, x)}, Type::of(Kind::integer));
  }
  Value* constant(Node* before, int64_t x) {
    Value* v = insert(before, "prim::Constant", "", {}, Type::of(Kind::integer));
    v->definition->set_attribute("value", {x});
    return v;
  }
  // Makes a node before another one, and counts the change of the graph.
  Value* insert(Node* before, const char* op, const char* overload, const std::vector<Value*>& inputs, TypePtr type) {
    if (graph_.changes) ++*graph_.changes;
    Node* n = before->block->insert(before, op, overload);
    for (Value* v : inputs) n->add_input(v);
    return n->add_output(std::move(type));
  }

  std::string name(const OtherSizes& o) const {
    return "size " + std::to_string(o.dim) + " of input '" + inputs_[o.input].name + "'";
  }
  void report(std::string text) {
    if (known_reports_.insert(text).second) reports.push_back(std::move(text));
  }

  Graph& graph_;
  const std::vector<SizedInput>& inputs_;
  std::vector<Number> numbers_;
  std::map<std::tuple<Node*, size_t, int64_t>, size_t> known_;  // the place in numbers_ by node, input and element
  std::vector<NewList> lists_;
  std::map<std::pair<Node*, size_t>, size_t> known_lists_;
  std::set<std::string> known_reports_;
};

}  // namespace

std::vector<std::string> replace_sizes(Graph& g, const std::vector<SizedInput>& inputs,
                                       const std::vector<OtherSizes>& others) {
  Comparison c(g, inputs);
  for (const OtherSizes& o : others) c.compare(o);
  c.replace();
  return std::move(c.reports);
}

}  // namespace lamella::graph
