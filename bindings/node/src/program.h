// Programs as the addon uses them: all that it calls of <lamella/run.h>.
#pragma once

#include <lamella/extension.h>
#include <lamella/run.h>

#include <string>
#include <vector>

namespace lamella::node {

// A library that cannot be used: there is no table of functions yet that could make an error.
struct StartFault {
  std::string message;
};

// Finds the table of functions, and loads the backend of the host and the plugins, once a process. Raises StartFault or
// Error.
void start();

// The interface "graph".
inline const lamella_graph_table& graph() { return *lamella_run_graph(); }

// A counted program.
class Program {
 public:
  static Program load(const std::string& path);
  static Program load(const void* data, size_t bytes);
  // Returns the program of an address that `release` gave away; it stays with its owner, too.
  static Program of(void* given) {
    Program p(static_cast<lamella_module*>(given));
    lamella_run_retain(p.module_);
    return p;
  }
  Program(Program&& o) noexcept : module_(std::exchange(o.module_, nullptr)) {}
  Program& operator=(Program&&) = delete;
  ~Program() { lamella_run_release(module_); }

  lamella_module* get() const { return module_; }
  lamella_module* release() { return std::exchange(module_, nullptr); }

  std::vector<std::string> methods() const;
  std::vector<std::string> attributes(const char* class_name) const;
  // Calls a method; the result is owned. It may run on any thread, and records no gradients.
  lamella_value call(const std::string& method, const std::vector<lamella_value>& args) const;

 private:
  explicit Program(lamella_module* owned) : module_(owned) {}

  lamella_module* module_;
};

}  // namespace lamella::node
