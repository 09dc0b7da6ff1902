// The signatures of operators: those of the registry, and builtins on numbers, texts, lists and dictionaries, which only
// graphs have.
#pragma once

#include <lamella/values.h>

#include "ir/graph.h"

namespace lamella::graph {

// Computes a builtin: gets borrowed arguments, and returns an owned result. Raises lamella::Error.
using BuiltinFunction = lamella_value (*)(const lamella_value* args);

struct Signature {
  struct Argument {
    std::string name;
    TypePtr type;
    bool keyword_only = false;
    bool has_default = false;
    bool written = false;  // "(a!)"
    std::string alias;     // the name of its alias set, or empty
    Literal default_value;
  };
  struct Result {
    TypePtr type;
    std::string alias;  // as of an argument: the result may share that argument's memory
  };
  std::string name, overload;
  std::vector<Argument> arguments;
  std::vector<Result> results;
  bool variadic = false;                 // "...": a builtin gets the further arguments as one list, its last argument
  bool has_state = false;                // its result depends on state that no argument shows, as random numbers do
  const lamella_operator* op = nullptr;  // of the registry, or
  BuiltinFunction function = nullptr;    // a builtin
  std::vector<uint32_t> kinds;           // of the registry's arguments: enum lamella_kind
  std::vector<uint32_t> flags;           // enum lamella_argument_flags

  bool writes() const;
  std::string text() const;  // "aten::add.int(int a, int b) -> int"
};

// Types that stand for the letters t and u of a builtin's schema.
using TypeVariables = std::map<std::string, TypePtr>;

// Returns all signatures with a name, builtins first. They live as long as the process.
std::vector<const Signature*> signatures_of(const std::string& name);

// Returns the signature that a node names; for a node without an overload, the first one that its inputs fit. Null:
// there is none.
const Signature* signature_of(const Node& n);

// Returns the signature of an operator of the registry; it lives as long as the process.
const Signature* signature_of_operator(const lamella_operator* op);

// Returns whether a value of type `from` may be an argument of type `to`; sets the type variables that it meets.
bool fits_argument(const Type& from, const Type& to, TypeVariables* variables);
// The same for a value: a constant list without elements fits a list of any type.
bool fits_argument(const Value& v, const Type& to, TypeVariables* variables);
// Returns a type with its variables replaced.
TypePtr with_variables(const TypePtr& type, const TypeVariables& variables);

// Reads "aten::append.t(t[](a!) self, t el) -> t[](a!)".
Signature parse_schema(std::string_view text);

}  // namespace lamella::graph
