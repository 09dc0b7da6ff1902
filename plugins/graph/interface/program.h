// Programs as counted objects of the interface "graph".
#pragma once

#include <lamella/graph.h>

#include <atomic>
#include <mutex>

#include "run/machine.h"
#include "signatures/builtins.h"

namespace lamella::graph {

extern const lamella_object_type program_type;

struct ProgramObject {
  lamella_object object{1, &program_type};
  Program program;
  std::vector<lamella_value> constants;  // tensors, owned
  std::vector<std::pair<std::string, HostFunction*>> host_functions;
  std::atomic<uint64_t> changes{0};

  std::unique_ptr<ProgramObject> copy() const;
  // Makes handles of the graphs count their changes.
  void watch() {
    for (const auto& [name, graph] : program.graphs) graph->changes = &changes;
  }
  // Returns what calls run: compiled when a call comes and the program has changed. It is valid as long as the program.
  const Executable& executable();
  // Returns whether the program is compiled as it is now.
  bool is_compiled() const {
    const Version* now = now_.load(std::memory_order_acquire);
    return now && now->changes == changes.load(std::memory_order_relaxed);
  }
  ~ProgramObject();

 private:
  struct Version {
    uint64_t changes;
    std::shared_ptr<const Executable> exe;
  };
  std::vector<std::unique_ptr<const Version>> versions_;  // calls may be under way in any of them
  std::atomic<const Version*> now_{nullptr};
};

ProgramObject& program_of(lamella_object* o);                                               // raises for another object
const std::shared_ptr<const Class>& class_named(const ProgramObject& p, const char* name);  // raises if there is none
inline Graph& graph_of(lamella_graph* g) { return *reinterpret_cast<Graph*>(g); }
inline lamella_graph* handle_of(Graph* g) { return reinterpret_cast<lamella_graph*>(g); }
inline Block& block_of(lamella_graph_block* b) { return *reinterpret_cast<Block*>(b); }
inline lamella_graph_block* handle_of(Block* b) { return reinterpret_cast<lamella_graph_block*>(b); }
inline Node& node_of(lamella_graph_node* n) { return *reinterpret_cast<Node*>(n); }
inline lamella_graph_node* handle_of(Node* n) { return reinterpret_cast<lamella_graph_node*>(n); }
inline Value& value_of(lamella_graph_value* v) { return *reinterpret_cast<Value*>(v); }
inline lamella_graph_value* handle_of(Value* v) { return reinterpret_cast<lamella_graph_value*>(v); }

// Returns what a function returns, or `otherwise` with a pending error if it throws: for functions without a status.
template <class R, class F>
R guarded_or(R otherwise, F f) {
  R result = otherwise;
  guarded([&] { return result = f(), LAMELLA_OK; });
  return result;
}

// Writes as many items as there is room for; returns how many there are.
template <class List, class Out, class Get>
int32_t write_items(const List& list, Out* out, int32_t room, Get get) {
  int32_t i = 0;
  for (const auto& x : list) {
    if (i < room) out[i] = get(x);
    i++;
  }
  return i;
}

void add_programs(lamella_graph_table& table);
void add_nodes(lamella_graph_table& table);
void add_values(lamella_graph_table& table);
void add_passes(lamella_graph_table& table);
void add_tracing(lamella_graph_table& table);
void add_files(lamella_graph_table& table);

}  // namespace lamella::graph
