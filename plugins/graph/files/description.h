// The parts of the index beside the graphs of a program: methods with parameters, and classes of modules.
#pragma once

#include "files/values.h"

namespace lamella::graph::files {

struct FunctionEntry {
  struct Parameter {
    std::string name, type;
    bool keyword_only = false, has_default = false;
    const Json* written = nullptr;  // the default in the index
    std::string of_enum;            // the name of the enum that the type is, or empty
    Held value;                     // the default
  };
  std::vector<Parameter> parameters;  // without `self`
  std::string result;
  bool is_static = false;
};

struct ModuleEntry {
  std::string original;  // the name of the class in Python
  std::vector<std::string> parameters, buffers, modules, transient;
};

struct Description {
  std::string main, written_by;
  std::map<std::string, FunctionEntry> functions;
  std::map<std::string, ModuleEntry> modules;
};

// Returns the classes of the index as the text of a program has them, which was checked to be nothing else.
std::string text_of_classes(const Json& index);
// Reads the description, without the values of defaults. Raises Damage.
Description description_of(const Json& index, Tensors& tensors);
// Sets the values of defaults, as the graphs of a program take them. Raises Damage.
void set_defaults(const Json& index, const Program& program, Values& values, Description* description);
// Raises Damage unless parameters and buffers are tensors, and submodules are objects of classes of modules.
void check_modules(const lamella_value& root, const Description& description);

bool is_graph_name(std::string_view name);  // "name.name": letters, digits and underscores

}  // namespace lamella::graph::files
