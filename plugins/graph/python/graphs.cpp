// `Graph`, `Block`, `Node` and `Value`: handles of a program's parts, which keep the program.
#include <set>
#include <string_view>

#include "handles.h"

namespace lamella::graph::face {
namespace {

template <class Handle, class Call>
std::vector<Handle> all(Call call) {
  const int32_t n = call(nullptr, 0);
  check(n < 0 ? LAMELLA_RUNTIME_ERROR : LAMELLA_OK);
  std::vector<Handle> list(static_cast<size_t>(n));
  call(list.data(), static_cast<int32_t>(list.size()));
  return list;
}
template <class Handle, class Wrapper, class Call>
std::vector<Wrapper> wrapped(const ProgramRef& p, Call call) {
  std::vector<Wrapper> list;
  for (Handle h : all<Handle>(call)) list.push_back(Wrapper{p, h});
  return list;
}
std::vector<Value> values(const ProgramRef& p, lamella_graph_block* b, decltype(lamella_graph_table::parameters) f) {
  return wrapped<lamella_graph_value*, Value>(p, [&](auto out, int32_t room) { return f(b, out, room); });
}
std::vector<Value> values(const ProgramRef& p, lamella_graph_node* n, decltype(lamella_graph_table::inputs) f) {
  return wrapped<lamella_graph_value*, Value>(p, [&](auto out, int32_t room) { return f(n, out, room); });
}
std::vector<Node> nodes(const ProgramRef& p, lamella_graph_block* b) {
  std::vector<Node> list;
  for (lamella_graph_node* n = graphs->first(b); n; n = graphs->next(n)) list.push_back(Node{p, n});
  return list;
}
std::optional<Node> node_or_none(const ProgramRef& p, lamella_graph_node* n) {
  return n ? std::optional<Node>(Node{p, n}) : std::nullopt;
}
Node insert(const ProgramRef& p, lamella_graph_block* b, const std::string& op, const std::vector<Value>& inputs,
            const std::vector<std::string>& types, const std::optional<Node>& before) {
  const size_t dot = op.find('.', op.find("::"));
  lamella_graph_node* n = nullptr;
  check(graphs->insert(b, before ? before->node : nullptr, op.substr(0, dot).c_str(),
                       dot == std::string::npos ? "" : op.substr(dot + 1).c_str(), &n));
  for (const Value& v : inputs) check(graphs->add_input(n, v.value));
  for (const std::string& type : types) {
    lamella_graph_value* out = nullptr;
    check(graphs->add_output(n, type.c_str(), &out));
  }
  return Node{p, n};
}
template <class T, class Get>
void add_identity(py::class_<T>& c, Get get) {
  c.def("__eq__", [get](const T& a, py::handle b) {
     return py::isinstance<T>(b) && get(a) == get(b.cast<const T&>());
   }).def("__hash__", [get](const T& a) { return reinterpret_cast<Py_ssize_t>(get(a)) >> 4; });
}

// A pass that is a function of Python.
lamella_status run_python(void* context, lamella_object* program, lamella_graph* graph, int32_t* changed) {
  const python::Gil gil;
  try {
    api().retain(program);
    const py::object result = py::handle(static_cast<PyObject*>(context))(Graph{ProgramRef(program), graph, {}});
    const int truth = PyObject_IsTrue(result.ptr());
    if (truth < 0) throw py::error_already_set();
    *changed = truth;
    return LAMELLA_OK;
  } catch (py::error_already_set& e) {
    e.restore();
    return python::face().capture_exception();
  }
}

}  // namespace

void add_graphs(py::module_& m) {
  m.def("register_pass", [](const char* name, const py::function& f) {
    check(graphs->register_pass(nullptr, name, run_python, f.ptr()));
    f.inc_ref();  // a pass stays
  });
  py::class_<Graph> graph(m, "Graph", "A graph of a program: its parameters, nodes and results.");
  py::class_<Block> block(m, "Block", "The nodes that an `if` or a loop runs, with parameters and results.");
  py::class_<Node> node(m, "Node", "An operator that computes values from values.");
  py::class_<Value> value(m, "Value", "What a node computes, or a parameter of a block.");
  add_identity(graph, [](const Graph& g) { return g.graph; });
  add_identity(block, [](const Block& b) { return b.block; });
  add_identity(node, [](const Node& n) { return n.node; });
  add_identity(value, [](const Value& v) { return v.value; });

  py::reinterpret_borrow<py::class_<Program>>(m.attr("Program"))
      .def(
          "graph",
          [](const Program& p, const char* name) {
            lamella_graph* g = graphs->graph(p.ref.get(), name);
            if (!g) throw py::key_error("the program has no graph '" + std::string(name) + "'");
            return Graph{p.ref, g, name};
          },
          py::arg("name") = "", "Returns a graph by its name; KeyError if there is none.");

  const auto top = [](const Graph& g) { return graphs->top(g.graph); };
  graph
      .def_property_readonly(
          "program", [](const Graph& g) { return Program{g.program}; }, "The program that the graph is of.")
      .def_property_readonly(
          "name", [](const Graph& g) { return g.name; },
          "The name of the graph in its program; the main one has an empty name.")
      .def("__call__",
           [](const Graph& g, const py::args& args) { return run(Program{g.program}, g.name.c_str(), args); })
      .def(
          "run_pass",
          [](const Graph& g, const char* name) {
            int32_t changed = 0;
            check(graphs->run_pass(name, g.program.get(), &changed));
            return changed != 0;
          },
          "Runs a pass over the program; returns whether it changed something.")
      .def("__str__",
           [](const Graph& g) {
             Owned text;
             check(graphs->graph_text(g.graph, &text.v));
             return text.line();
           })
      .def(
          "nodes", [top](const Graph& g) { return nodes(g.program, top(g)); },
          "Returns the nodes, in the order in which they run.")
      .def(
          "operators",
          [top](const Graph& g) {
            std::set<std::string_view> names;
            for (lamella_graph_node* n = graphs->first(top(g)); n; n = graphs->next(n))
              names.insert(graphs->node_op(n));
            py::set all;
            for (const std::string_view name : names) all.add(py::str(name.data(), name.size()));
            return all;
          },
          "Returns the names of the operators, each once; those of nodes in blocks are left out.")
      .def(
          "inputs", [top](const Graph& g) { return values(g.program, top(g), graphs->parameters); },
          "Returns the values that come in, in their order.")
      .def(
          "outputs", [top](const Graph& g) { return values(g.program, top(g), graphs->results); },
          "Returns the values that go out, in their order.")
      .def(
          "block",
          [top](const Graph& g) {
            return Block{g.program, top(g)};
          },
          "Returns the block of the graph.")
      .def(
          "insert",
          [top](const Graph& g, const std::string& op, const std::vector<Value>& inputs,
                const std::vector<std::string>& types, const std::optional<Node>& before) {
            return insert(g.program, before ? graphs->node_block(before->node) : top(g), op, inputs, types, before);
          },
          py::arg("op"), py::arg("inputs"), py::arg("types"), py::kw_only(), py::arg("before") = std::nullopt,
          "Makes a node of an operator, with inputs and the types of its results, before another node or at the end.");

  graph.def(
      "add_input",
      [top](const Graph& g, const std::string& type, const std::string& name) {
        lamella_graph_value* v = nullptr;
        check(graphs->add_parameter(top(g), type.c_str(), name.c_str(), &v));
        return Value{g.program, v};
      },
      py::arg("type"), py::arg("name") = "", "Adds a parameter of a type, with a name; returns its value.");
  graph.def(
      "add_output", [top](const Graph& g, const Value& v) { check(graphs->add_result(top(g), v.value)); },
      "Makes a value a result of the graph.");

  block
      .def(
          "nodes", [](const Block& b) { return nodes(b.program, b.block); },
          "Returns the nodes, in the order in which they run.")
      .def(
          "inputs", [](const Block& b) { return values(b.program, b.block, graphs->parameters); },
          "Returns the values that come in, in their order.")
      .def(
          "outputs", [](const Block& b) { return values(b.program, b.block, graphs->results); },
          "Returns the values that go out, in their order.")
      .def(
          "owner", [](const Block& b) { return node_or_none(b.program, graphs->owner(b.block)); },
          "Returns the node that the block is of; None for the block of a graph.");

  node.def_property_readonly(
          "op", [](const Node& n) { return graphs->node_op(n.node); }, "The operator, as `aten::add`.")
      .def_property_readonly(
          "overload", [](const Node& n) { return graphs->node_overload(n.node); },
          "The overload, as `Tensor`; empty if the operator has one.")
      .def(
          "kind", [](const Node& n) { return graphs->node_op(n.node); }, "Returns the operator: torch's name for `op`.")
      .def(
          "inputs", [](const Node& n) { return values(n.program, n.node, graphs->inputs); },
          "Returns the values that come in, in their order.")
      .def(
          "outputs", [](const Node& n) { return values(n.program, n.node, graphs->outputs); },
          "Returns the values that go out, in their order.")
      .def(
          "blocks",
          [](const Node& n) {
            return wrapped<lamella_graph_block*, Block>(
                n.program, [&](auto out, int32_t room) { return graphs->blocks(n.node, out, room); });
          },
          "Returns the blocks of a branch or a loop.")
      .def_property_readonly(
          "attributes",
          [](const Node& n) {
            py::dict d;
            for (const char* name :
                 all<const char*>([&](auto out, int32_t room) { return graphs->attribute_names(n.node, out, room); })) {
              Owned v;
              check(graphs->attribute(n.node, name, &v.v));
              PyObject* o = to_python(v.v);
              if (!o) throw py::error_already_set();
              d[name] = py::reinterpret_steal<py::object>(o);
            }
            return d;
          },
          "The attributes, by their names; a change of the dictionary changes nothing.")
      .def(
          "set_attribute",
          [](const Node& n, const char* name, py::handle o) {
            Owned v;
            if (to_value(o.ptr(), &v.v) < 0) throw py::error_already_set();
            check(graphs->set_node_attribute(n.node, name, &v.v));
          },
          "Sets an attribute: a number, a text, a dtype, or a list of these.")
      .def_property_readonly(
          "source",
          [](const Node& n) -> py::object {
            int32_t line = 0, column = 0;
            const char* file = graphs->source(n.node, &line, &column);
            if (!file) return py::none();
            return py::make_tuple(file, line, column);
          },
          "The file, the line and the column of the source; None if they are not known.")
      .def_property_readonly(
          "removed", [](const Node& n) { return graphs->node_block(n.node) == nullptr; },
          "Whether the node was removed from its graph.")
      .def(
          "replace_input",
          [](const Node& n, int32_t at, const Value& v) { check(graphs->set_input(n.node, at, v.value)); },
          "Puts another value in the place of an input, by its number.")
      .def(
          "remove", [](const Node& n) { check(graphs->remove(n.node)); },
          "Removes the node; a ValueError if a result of it is used.")
      .def("__repr__", [](const Node& n) { return "<node " + std::string(graphs->node_op(n.node)) + ">"; });

  value
      .def_property_readonly(
          "name", [](const Value& v) { return graphs->value_name(v.value); },
          "The name, which no other value of the graph has.")
      .def(
          "debugName", [](const Value& v) { return graphs->value_name(v.value); },
          "Returns the name: torch's name for `name`.")
      .def_property(
          "type",
          [](const Value& v) {
            Owned text;
            check(graphs->value_type(v.value, &text.v));
            return text.text();
          },
          [](const Value& v, const char* type) { check(graphs->set_value_type(v.value, type)); },
          "The type, as a text.")
      .def(
          "node", [](const Value& v) { return node_or_none(v.program, graphs->definition(v.value)); },
          "Returns the node that computes the value; None for a parameter.")
      .def(
          "uses",
          [](const Value& v) {
            std::vector<lamella_graph_node*> users(static_cast<size_t>(graphs->uses(v.value, nullptr, nullptr, 0)));
            std::vector<int32_t> at(users.size());
            graphs->uses(v.value, users.data(), at.data(), static_cast<int32_t>(users.size()));
            std::vector<std::pair<std::optional<Node>, int32_t>> list;
            for (size_t i = 0; i < users.size(); i++) list.emplace_back(node_or_none(v.program, users[i]), at[i]);
            return list;
          },
          "Returns the nodes that use the value, with the number of the input; None in the place of a node for a "
          "result of a block.")
      .def(
          "replace_uses", [](const Value& v, const Value& by) { check(graphs->replace_uses(v.value, by.value)); },
          "Puts another value in the place of this one wherever it is used.")
      .def("__repr__", [](const Value& v) { return "%" + std::string(graphs->value_name(v.value)); });
}

}  // namespace lamella::graph::face
