// The functions of the interface for graphs, blocks, nodes and values, and their changes.
#include "interface/program.h"
#include "text/text.h"

namespace lamella::graph {
namespace {

lamella_value as_value(const Literal& x) {
  struct Make {
    lamella_value operator()(const Literal::None&) const { return none(); }
    lamella_value operator()(bool b) const { return lamella::value(b); }
    lamella_value operator()(int64_t i) const { return lamella::value(i); }
    lamella_value operator()(double d) const { return lamella::value(d); }
    lamella_value operator()(const std::complex<double>& c) const { return new_complex(c.real(), c.imag()); }
    lamella_value operator()(const std::string& s) const { return new_string(s); }
    lamella_value operator()(const Literal::Word& w) const { return new_string(w.text); }
    lamella_value operator()(const Literal::Tensor& t) const { return lamella::value(t.number); }
    lamella_value operator()(const Literal::List& l) const {
      std::vector<lamella_value> items;
      for (const Literal& e : l) items.push_back(as_value(e));
      return new_list(std::move(items));
    }
  };
  return std::visit(Make(), x.value);
}

Literal as_literal(const lamella_value& v) {
  switch (v.tag) {
    case LAMELLA_NONE:
      return {Literal::None()};
    case LAMELLA_BOOLEAN:
      return {v.as.i != 0};
    case LAMELLA_INT:
      return {v.as.i};
    case LAMELLA_FLOAT:
      return {v.as.d};
    case LAMELLA_COMPLEX:
      return {std::complex<double>(v.as.doubles[0], v.as.doubles[1])};
    case LAMELLA_STRING:
      return {std::string(text_of(v))};
    case LAMELLA_DTYPE:
      return {Literal::Word{Kind::dtype, api().dtype_info(static_cast<int32_t>(v.as.i))->name}};
    default: {
      lamella_value list = unflattened(copy_of(v));
      LAMELLA_CHECK_TYPE(is_object(list, list_type), "an attribute is a number, a text or a list of these");
      Literal::List all;
      for (const lamella_value& e : list_of(list).items) all.push_back(as_literal(e));
      release(list);
      return {std::move(all)};
    }
  }
}

lamella_status graph_text(lamella_graph* g, lamella_value* out) {
  return guarded([&] { return *out = new_string(graph_of(g).text()), LAMELLA_OK; });
}
lamella_graph_block* top(lamella_graph* g) { return handle_of(&graph_of(g).top()); }

int32_t parameters(lamella_graph_block* b, lamella_graph_value** out, int32_t room) {
  return write_items(block_of(b).parameters(), out, room, [](const auto& v) { return handle_of(v.get()); });
}
int32_t results(lamella_graph_block* b, lamella_graph_value** out, int32_t room) {
  return write_items(block_of(b).results(), out, room, [](Value* v) { return handle_of(v); });
}
lamella_graph_node* real_or_null(Node* n) { return !n->block || n == n->block->end() ? nullptr : handle_of(n); }
lamella_graph_node* first(lamella_graph_block* b) { return real_or_null(block_of(b).first()); }
lamella_graph_node* next(lamella_graph_node* n) { return node_of(n).block ? real_or_null(node_of(n).behind) : nullptr; }
lamella_graph_node* owner(lamella_graph_block* b) { return handle_of(block_of(b).owner()); }
lamella_graph_block* node_block(lamella_graph_node* n) { return handle_of(node_of(n).block); }
const char* node_op(lamella_graph_node* n) { return node_of(n).op.c_str(); }
const char* node_overload(lamella_graph_node* n) { return node_of(n).overload.c_str(); }
int32_t inputs(lamella_graph_node* n, lamella_graph_value** out, int32_t room) {
  return write_items(node_of(n).inputs, out, room, [](Value* v) { return handle_of(v); });
}
int32_t outputs(lamella_graph_node* n, lamella_graph_value** out, int32_t room) {
  return write_items(node_of(n).outputs, out, room, [](const auto& v) { return handle_of(v.get()); });
}
int32_t blocks(lamella_graph_node* n, lamella_graph_block** out, int32_t room) {
  return write_items(node_of(n).blocks, out, room, [](const auto& b) { return handle_of(b.get()); });
}
int32_t attribute_names(lamella_graph_node* n, const char** out, int32_t room) {
  return write_items(node_of(n).attributes, out, room, [](const Attribute& a) { return a.name.c_str(); });
}
lamella_status attribute(lamella_graph_node* n, const char* name, lamella_value* out) {
  return guarded([&] {
    const Literal* x = node_of(n).attribute(name);
    *out = x ? as_value(*x) : none();
    return LAMELLA_OK;
  });
}
const char* source(lamella_graph_node* n, int32_t* line, int32_t* column) {
  const Source& s = node_of(n).source;
  *line = s.line;
  *column = s.column;
  return s.file ? s.file->c_str() : nullptr;
}
const char* value_name(lamella_graph_value* v) { return value_of(v).name.c_str(); }
lamella_status value_type(lamella_graph_value* v, lamella_value* out) {
  return guarded([&] { return *out = new_string(value_of(v).type->text()), LAMELLA_OK; });
}
lamella_graph_node* definition(lamella_graph_value* v) {
  Node* n = value_of(v).definition;
  return n->block && n == n->block->begin_node() ? nullptr : handle_of(n);
}
int32_t uses(lamella_graph_value* v, lamella_graph_node** users, int32_t* at, int32_t room) {
  int32_t i = 0;
  for (const Use& u : value_of(v).uses) {
    if (i < room) {
      users[i] = real_or_null(u.user);
      at[i] = static_cast<int32_t>(u.input);
    }
    i++;
  }
  return i;
}

// ---- changes ----

// The functions that follow return a part of a graph that is about to change, and count the change, so that the next call
// compiles the program.
Block& changing(lamella_graph_block* b) {
  LAMELLA_CHECK_VALUE(b && block_of(b).end()->block, "the block was removed from its graph, with the node that has it");
  if (std::atomic<uint64_t>* changes = block_of(b).graph().changes) ++*changes;
  return block_of(b);
}
Node& changing(lamella_graph_node* n) {
  LAMELLA_CHECK_VALUE(node_of(n).block, node_of(n).op, ": the node was removed from its graph");
  changing(handle_of(node_of(n).block));
  return node_of(n);
}
Value& changing(lamella_graph_value* v) {
  changing(handle_of(value_of(v).definition));
  return value_of(v);
}

// Returns a value that a node or a block of the graph may use.
Value* usable(lamella_graph_value* v, const Graph& in) {
  const Node& from = *value_of(v).definition;
  LAMELLA_CHECK_VALUE(from.block, "%", value_of(v).name,
                      ": the node that computes the value was removed from its graph");
  LAMELLA_CHECK_VALUE(&from.block->graph() == &in, "%", value_of(v).name, ": the value is of another graph");
  return &value_of(v);
}

lamella_status set_node_attribute(lamella_graph_node* n, const char* name, const lamella_value* v) {
  return guarded([&] { return changing(n).set_attribute(name, as_literal(*v)), LAMELLA_OK; });
}
lamella_status set_value_type(lamella_graph_value* v, const char* type) {
  return guarded([&] { return changing(v).type = parse_type(type), LAMELLA_OK; });
}
lamella_status insert(lamella_graph_block* b, lamella_graph_node* before, const char* op, const char* overload,
                      lamella_graph_node** out) {
  return guarded([&] {
    Block& block = changing(b);
    LAMELLA_CHECK_VALUE(!before || node_of(before).block == &block, op,
                        ": the node to stand before is in another block");
    *out = handle_of(block.insert(before ? &node_of(before) : block.end(), op, overload));
    return LAMELLA_OK;
  });
}
lamella_status add_input(lamella_graph_node* n, lamella_graph_value* v) {
  return guarded([&] {
    Node& node = changing(n);
    return node.add_input(usable(v, node.block->graph())), LAMELLA_OK;
  });
}
lamella_status set_input(lamella_graph_node* n, int32_t at, lamella_graph_value* v) {
  return guarded([&] {
    Node& node = changing(n);
    LAMELLA_CHECK_INDEX(at >= 0 && static_cast<size_t>(at) < node.inputs.size(), node.op, ": has ", node.inputs.size(),
                        " inputs, and no input ", at);
    node.set_input(static_cast<size_t>(at), usable(v, node.block->graph()));
    return LAMELLA_OK;
  });
}
lamella_status add_output(lamella_graph_node* n, const char* type, lamella_graph_value** out) {
  return guarded([&] { return *out = handle_of(changing(n).add_output(parse_type(type))), LAMELLA_OK; });
}
lamella_status add_parameter(lamella_graph_block* b, const char* type, const char* name, lamella_graph_value** out) {
  return guarded([&] { return *out = handle_of(changing(b).add_parameter(parse_type(type), name)), LAMELLA_OK; });
}
lamella_status add_result(lamella_graph_block* b, lamella_graph_value* v) {
  return guarded([&] {
    Block& block = changing(b);
    return block.add_result(usable(v, block.graph())), LAMELLA_OK;
  });
}
lamella_status replace_uses(lamella_graph_value* from, lamella_graph_value* to) {
  return guarded([&] {
    return changing(from).replace_uses_with(usable(to, value_of(from).definition->block->graph())), LAMELLA_OK;
  });
}
lamella_status remove(lamella_graph_node* n) {
  return guarded([&] {
    Node& node = changing(n);
    for (const auto& v : node.outputs)
      LAMELLA_CHECK_VALUE(v->uses.empty(), node.op, ": cannot be removed, since %", v->name, " is used");
    node.block->remove(&node);
    return LAMELLA_OK;
  });
}

}  // namespace

void add_nodes(lamella_graph_table& t) {
  t.graph_text = graph_text;
  t.top = top;
  t.parameters = parameters;
  t.results = results;
  t.first = first;
  t.next = next;
  t.owner = owner;
  t.node_block = node_block;
  t.node_op = node_op;
  t.node_overload = node_overload;
  t.inputs = inputs;
  t.outputs = outputs;
  t.blocks = blocks;
  t.attribute_names = attribute_names;
  t.attribute = attribute;
  t.set_node_attribute = set_node_attribute;
  t.source = source;
  t.value_name = value_name;
  t.value_type = value_type;
  t.set_value_type = set_value_type;
  t.definition = definition;
  t.uses = uses;
  t.insert = insert;
  t.add_input = add_input;
  t.set_input = set_input;
  t.add_output = add_output;
  t.add_parameter = add_parameter;
  t.add_result = add_result;
  t.replace_uses = replace_uses;
  t.remove = remove;
}

}  // namespace lamella::graph
