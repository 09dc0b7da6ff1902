// Graphs: nodes that compute values from values, in blocks, in the order in which they run.
//
// Note [Blocks]  A block begins with a node whose outputs are its parameters, and ends with one whose inputs are its
//   results; between them nodes are linked in their order. So a parameter has a definition and a result is a use, as any
//   other value's. A node sees the values of its block that are defined before it, and those that the block's owner
//   sees.
// Note [Removed nodes]  A block owns its nodes, a node owns its blocks and its outputs. A node that is removed drops its
//   uses and its names, and stays in memory, without a block, until its graph is destroyed: a handle of it that a pass
//   or a Python object keeps can be refused instead of read.
#pragma once

#include <atomic>
#include <complex>
#include <map>
#include <unordered_map>
#include <variant>

#include "ir/type.h"

namespace lamella::graph {

class Block;
class Graph;
struct Node;

// A number, a text, a list and so on that is written in a graph.
struct Literal {
  struct None {
    bool operator==(const None&) const = default;
  };
  struct Word {  // a dtype, a device, a layout or a memory format, by its name
    Kind kind;
    std::string text;
    bool operator==(const Word&) const = default;
  };
  struct Tensor {  // a constant of the program, by its number
    int64_t number;
    bool operator==(const Tensor&) const = default;
  };
  using List = std::vector<Literal>;
  std::variant<None, bool, int64_t, double, std::complex<double>, std::string, Word, Tensor, List> value;

  bool operator==(
      const Literal& other) const;  // floats by their bits: two zeros differ, and a nan is the same as itself
  std::string text() const;
  TypePtr type() const;  // of a list, by its first element
  bool is_of(const Type& type) const;
};

struct Attribute {
  std::string name;
  Literal value;
  bool operator==(const Attribute&) const = default;
};

// A place in the program that a graph was made from. Files are named by paths that are relative to it.
struct Source {
  std::shared_ptr<const std::string> file;
  int32_t line = 0, column = 0;
};

inline constexpr int most_depth = 150;  // of blocks within each other

struct Use {
  Node* user;
  size_t input;
};

struct Value {
  std::string name;
  TypePtr type;
  Node* definition = nullptr;
  size_t output = 0;  // its number among the definition's outputs
  std::vector<Use> uses;

  void replace_uses_with(Value* other);
};

struct Node {
  std::string op;        // "aten::add", "prim::If"
  std::string overload;  // "Tensor", or empty
  Block* block = nullptr;
  Node *before = nullptr, *behind = nullptr;
  std::vector<Value*> inputs;
  std::vector<std::unique_ptr<Value>> outputs;
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<Attribute> attributes;
  Source source;

  ~Node();
  // Drops the uses of the node's inputs, and of the nodes in its blocks, and gives the names of its outputs back.
  void drop();
  Value* add_output(TypePtr type, std::string name = {});
  void add_input(Value* v);
  void set_input(size_t at, Value* v);
  void remove_input(size_t at);
  void remove_output(size_t at);  // one without uses
  Block& add_block();
  const Literal* attribute(std::string_view name) const;
  void set_attribute(std::string name, Literal value);
  bool is(std::string_view name) const { return op == name; }
};

class Block {
 public:
  Block(Graph& graph, Node* owner);
  ~Block();
  Block(const Block&) = delete;

  Graph& graph() const { return graph_; }
  Node* owner() const { return owner_; }  // null for a graph's top block
  const std::vector<std::unique_ptr<Value>>& parameters() const { return first_.outputs; }
  const std::vector<Value*>& results() const { return last_.inputs; }
  Value* add_parameter(TypePtr type, std::string name = {}) {
    return first_.add_output(std::move(type), std::move(name));
  }
  void add_result(Value* v) { last_.add_input(v); }

  // The nodes, from first() to the one before end().
  Node* first() const { return first_.behind; }
  Node* end() const { return const_cast<Node*>(&last_); }
  Node* begin_node() const { return const_cast<Node*>(&first_); }

  // Makes a node before another one of the block; before end() it becomes the last one.
  Node* insert(Node* before, std::string op, std::string overload = {});
  Node* append(std::string op, std::string overload = {}) { return insert(end(), std::move(op), std::move(overload)); }
  // Removes a node, none of whose outputs is used: Note [Removed nodes].
  void remove(Node* n);
  void drop();  // drops the uses and the names of all nodes
  // Moves a node of this graph before a node of this block.
  void move(Node* n, Node* before);

 private:
  Graph& graph_;
  Node* owner_;
  Node first_, last_;
};

class Graph {
 public:
  // named: whether values have names. Those of a graph that is only compared need none.
  explicit Graph(bool named = true) : top_(*this, nullptr), named_(named) {}
  Graph(const Graph&) = delete;

  Block& top() { return top_; }
  const Block& top() const { return top_; }
  std::string text() const;
  std::unique_ptr<Graph> copy() const;

  // Returns a name that no other value of the graph has: the wish, or the wish and a number. In a graph without names it
  // is empty.
  std::string unique_name(std::string wish);
  void forget_name(const std::string& name) { names_.erase(name); }
  void bury(Node* n) { removed_.emplace_back(n); }

  std::atomic<uint64_t>* changes = nullptr;  // of the program, if it counts the changes that handles make

 private:
  std::unordered_map<std::string, int64_t> names_;  // the names in use, with the number tried last
  int64_t next_ = 0;
  std::vector<std::unique_ptr<Node>> removed_;
  Block top_;
  const bool named_;
};

// A class: its attributes in their order. Its methods are graphs of the program with names "Class.method".
struct Class {
  std::string name;
  std::vector<std::pair<std::string, TypePtr>> attributes;

  // Returns the number of an attribute, or -1.
  int64_t find(std::string_view attribute) const;
  bool operator==(const Class& other) const;
};

// Graphs by name, the classes that they use, and the tensors that constants name by number. The graph with the empty
// name is the main one, and may be missing.
struct Program {
  std::map<std::string, std::unique_ptr<Graph>> graphs;
  std::map<std::string, std::shared_ptr<const Class>> classes;  // shared with copies, and with instances

  Graph* find(const std::string& name) const;
  Graph* main() const { return find({}); }
  std::string text() const;
  Program copy() const;
};

bool operator==(const Graph& a, const Graph& b);  // up to the names of values and to places in the program
bool operator==(const Program& a, const Program& b);

}  // namespace lamella::graph
