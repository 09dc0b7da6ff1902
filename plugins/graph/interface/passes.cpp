// The functions of the interface for passes: those of this plugin and those that others register.
#include <algorithm>

#include "interface/program.h"
#include "ir/verify.h"
#include "passes/passes.h"
#include "run/forks.h"
#include "text/text.h"

namespace lamella::graph {
namespace {

// A pass of others. One that came through a library is published as an interface of the library, which is withdrawn with
// it.
struct Registered {
  std::string name;
  lamella_graph_pass run;
  void* context;
  bool of_library;

  std::string interface() const { return "graph.pass." + name; }
  bool is_there() const { return !of_library || api().find_interface(interface().c_str(), 1) == this; }
};
ForkMutex passes_lock;
std::vector<std::unique_ptr<Registered>>& registered() {
  static auto& all = *new std::vector<std::unique_ptr<Registered>>();
  return all;
}

int32_t passes(const char** out, int32_t room) {
  const std::lock_guard<std::mutex> guard(passes_lock);
  std::vector<const char*> names;
  for (const NamedPass& p : own_passes()) names.push_back(p.name);
  for (const auto& r : registered())
    if (r->is_there()) names.push_back(r->name.c_str());
  return write_items(names, out, room, [](const char* s) { return s; });
}

lamella_status run_pass(const char* name, lamella_object* o, int32_t* changed) {
  return guarded([&] {
    ProgramObject& p = program_of(o);
    *changed = 0;
    Pass own = nullptr;
    Registered* given = nullptr;
    {
      const std::lock_guard<std::mutex> guard(passes_lock);
      for (const auto& r : registered())
        if (r->name == name && r->is_there()) given = r.get();
      for (const NamedPass& n : own_passes())
        if (n.name == std::string_view(name)) own = n.run;
    }
    LAMELLA_CHECK_VALUE(own || given, "there is no pass '", name, "'");
    if (own && !p.is_compiled()) verify(p.program);  // the passes rely on it, and compiling has done it
    p.changes++;                                     // also if the pass fails half way
    for (const auto& [graph_name, graph] : p.program.graphs) {
      int32_t one = 0;
      if (given)
        check(given->run(given->context, o, handle_of(graph.get()), &one));
      else
        one = own(p.program, *graph);
      *changed |= one != 0;
    }
    return LAMELLA_OK;
  });
}

lamella_status register_pass(lamella_library* library, const char* name, lamella_graph_pass run, void* context) {
  return guarded([&] {
    const std::lock_guard<std::mutex> guard(passes_lock);
    const bool taken = std::any_of(own_passes().begin(), own_passes().end(),
                                   [&](const auto& p) { return p.name == std::string_view(name); }) ||
                       std::any_of(registered().begin(), registered().end(),
                                   [&](const auto& r) { return r->name == name && r->is_there(); });
    LAMELLA_CHECK_VALUE(!taken, "there is a pass '", name, "' already");
    Registered& made = *registered().emplace_back(new Registered{name, run, context, library != nullptr});
    return library ? api().publish_interface(library, made.interface().c_str(), 1, &made, nullptr) : LAMELLA_OK;
  });
}

lamella_status rewrite_program(lamella_object* o, const char* from, const char* to, int32_t* count) {
  return guarded([&] {
    ProgramObject& p = program_of(o);
    *count = 0;
    std::vector<Rule> rules;
    rules.push_back(rule(from, to));
    for (const Graph* g : {rules[0].from.get(), rules[0].to.get()}) verify_structure(*g);
    p.changes++;
    for (const auto& [name, graph] : p.program.graphs) *count += static_cast<int32_t>(rewrite(*graph, rules, true));
    return LAMELLA_OK;
  });
}

}  // namespace

void add_passes(lamella_graph_table& t) {
  t.passes = passes;
  t.run_pass = run_pass;
  t.register_pass = register_pass;
  t.rewrite = rewrite_program;
}

}  // namespace lamella::graph
