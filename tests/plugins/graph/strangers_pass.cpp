// Two passes of another package, by <lamella/graph.h> alone: one counts nodes by their operators, in all blocks; one
// puts x * 2 for x + x, which has the same bits.
#include <lamella/graph.h>
#include <lamella/library.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {

const lamella_graph_table* graphs = nullptr;

// Returns all that a function of the table writes: it returns how many there are, whatever the room.
template <class T, class Part>
std::vector<T*> all(int32_t (*list)(Part*, T**, int32_t), Part* part) {
  std::vector<T*> out(static_cast<size_t>(list(part, nullptr, 0)));
  list(part, out.data(), static_cast<int32_t>(out.size()));
  return out;
}

// Calls visit for each node of a block and of the blocks within it; visit may remove the node.
template <class Visit>
void each(lamella_graph_block* block, Visit visit) {
  for (lamella_graph_node* n = graphs->first(block); n;) {
    lamella_graph_node* behind = graphs->next(n);
    for (lamella_graph_block* b : all<lamella_graph_block>(graphs->blocks, n)) each(b, visit);
    visit(n);
    n = behind;
  }
}

std::map<std::string, int64_t> counts;

lamella_status count(void*, lamella_object*, lamella_graph* g, int32_t* changed) {
  *changed = 0;
  each(graphs->top(g), [](lamella_graph_node* n) { counts[graphs->node_op(n)]++; });
  return LAMELLA_OK;
}

// Replaces aten::add(x, x, alpha) with the constant alpha 1, or without alpha.
lamella_status replace_sum(lamella_graph_node* n, int32_t* changed) {
  const std::vector<lamella_graph_value*> inputs = all<lamella_graph_value>(graphs->inputs, n);
  const std::vector<lamella_graph_value*> outputs = all<lamella_graph_value>(graphs->outputs, n);
  if (std::strcmp(graphs->node_op(n), "aten::add") || inputs.size() < 2 || inputs[0] != inputs[1]) return LAMELLA_OK;
  lamella_value type;
  if (lamella_status st = graphs->value_type(inputs[0], &type)) return st;
  const bool is_tensor = !std::strncmp(type.as.string, "Tensor", 6);
  lamella::api().value_release(&type);
  if (!is_tensor) return LAMELLA_OK;
  if (inputs.size() == 3) {
    lamella_graph_node* alpha = graphs->definition(inputs[2]);
    if (!alpha) return LAMELLA_OK;
    lamella_value one;
    if (lamella_status st = graphs->attribute(alpha, "value", &one)) return st;
    const bool is_one = one.tag == LAMELLA_INT && one.as.i == 1;
    lamella::api().value_release(&one);
    if (!is_one) return LAMELLA_OK;
  }
  lamella_graph_block* block = graphs->node_block(n);
  lamella_graph_node *two, *product;
  lamella_graph_value *two_value, *result;
  const lamella_value number = lamella::value(int64_t{2});
  if (lamella_status st = graphs->insert(block, n, "prim::Constant", "", &two)) return st;
  if (lamella_status st = graphs->set_node_attribute(two, "value", &number)) return st;
  if (lamella_status st = graphs->add_output(two, "int", &two_value)) return st;
  if (lamella_status st = graphs->insert(block, n, "aten::mul", "Scalar", &product)) return st;
  if (lamella_status st = graphs->add_input(product, inputs[0])) return st;
  if (lamella_status st = graphs->add_input(product, two_value)) return st;
  if (lamella_status st = graphs->add_output(product, "Tensor", &result)) return st;
  if (lamella_status st = graphs->replace_uses(outputs[0], result)) return st;
  *changed = 1;
  return graphs->remove(n);
}

lamella_status doubles(void*, lamella_object*, lamella_graph* g, int32_t* changed) {
  lamella_status status = LAMELLA_OK;
  *changed = 0;
  each(graphs->top(g), [&](lamella_graph_node* n) { status = status ? status : replace_sum(n, changed); });
  return status;
}

lamella_status failing(void*, lamella_object*, lamella_graph*, int32_t*) {
  return lamella::fail(LAMELLA_VALUE_ERROR, "this pass never works");
}

// counted(op) gives how many nodes `strangers_count` has seen.
lamella_status counted(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  rets[0] = lamella::value(counts[std::string(args[0].as.string, args[0].length)]);
  return LAMELLA_OK;
}

// hooked(on) lets this library take part in every save, or no longer.
lamella_status hooked(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  static uint64_t handle = 0;
  rets[0] = args[0];
  if (!args[0].as.i) return graphs->remove_export_hook(handle);
  const auto hook = [](void*, lamella_object* program, const lamella_graph_files* files) {
    int32_t changed = 0;
    if (lamella_status st = graphs->run_pass("strangers_doubles", program, &changed)) return st;
    return files->add(files->context, "stranger", "was here", 8);
  };
  return graphs->add_export_hook(hook, nullptr, nullptr, &handle);
}

}  // namespace

LAMELLA_LIBRARY(graph_stranger, m) {
  graphs = static_cast<const lamella_graph_table*>(lamella::api().find_interface("graph", 1));
  if (!graphs) throw lamella::Error(LAMELLA_RUNTIME_ERROR, "the plugin of graphs is not loaded");
  lamella::check(graphs->register_pass(m.handle(), "strangers_count", count, nullptr));
  lamella::check(graphs->register_pass(m.handle(), "strangers_doubles", doubles, nullptr));
  lamella::check(graphs->register_pass(m.handle(), "strangers_failing", failing, nullptr));
  m.define("counted(str op) -> int");
  m.impl("counted", "composite", counted);
  m.define("hooked(bool on) -> bool");
  m.impl("hooked", "composite", hooked);
}
