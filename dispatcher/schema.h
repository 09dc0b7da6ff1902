// Schema: an operator's signature in PyTorch's grammar, parsed once, on first use.
#pragma once

#include <lamella/c_api.h>

#include <string>
#include <vector>

#include "core/value.h"

namespace lamella::dispatcher {

enum class Kind : uint8_t {  // enum lamella_kind
  Tensor = LAMELLA_KIND_TENSOR,
  Scalar,
  Int,
  Float,
  Bool,
  Complex,
  Str,
  Dtype,
  Layout,
  Device,
  MemoryFormat,
  Generator,
  Object,
  Any = LAMELLA_KIND_ANY,
  Dict = LAMELLA_KIND_DICT
};

struct Type {
  Kind kind = Kind::Any;
  bool optional = false;           // T?
  bool list = false;               // T[] or T[n]
  bool optional_elements = false;  // T?[]
  int32_t list_size = -1;          // n of T[n]
  Kind of_values = Kind::Any;      // T of Dict(str, T)
  const char* object = nullptr;    // the type name of a Generator or an Object; lives as long as the process
  std::string text;                // the source text, without alias annotation
};

struct Alias {  // (a), (a!), (a -> *), (a|b! -> c)
  std::string before, after;
  bool write = false;
  bool present() const { return !before.empty(); }
};

struct Argument {
  std::string name;
  Type type;
  Alias alias;
  bool keyword_only = false;
  bool has_default = false;
  bool is_out = false;     // keyword-only and written: an output of an out= form
  bool dim = false;        // names dimensions by their numbers: LAMELLA_ARGUMENT_DIM
  core::OwnedValue value;  // the default
  std::string default_text;
};

struct Return {
  std::string name;
  Type type;
  Alias alias;
};

struct Schema {
  std::string ns, name, overload;
  std::vector<Argument> args;
  std::vector<Return> rets;
  bool variadic_args = false, variadic_rets = false;

  std::string text() const;
  std::string signature() const;  // "(self, other, *, alpha=1)", as Python shows it

  // The descriptions of arguments and results for the C ABI. describe() makes them once the schema does not move any
  // more.
  std::vector<lamella_argument> described_args, described_rets;
  void describe();
};

// Raises a ValueError that shows the column if the text does not parse, and one if there are more than
// LAMELLA_MAX_RETURNS results. `ns` is the namespace if the text names none.
lamella_status parse_schema(const std::string& text, const std::string& ns, Schema* out);
// Reads "ns::name.overload" at the beginning of a schema, without parsing the rest.
lamella_status parse_name(const std::string& text, const std::string& default_ns, std::string* ns, std::string* name,
                          std::string* overload);

}  // namespace lamella::dispatcher
