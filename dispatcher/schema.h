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
  const char* object = nullptr;    // of a Generator and of an Object the name of its type; lives as long as the process
  std::string text;                // as it was written, without alias annotation
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
  bool is_out = false;     // keyword-only and written: the outputs of an out= form
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

  // What the C ABI tells of arguments and results, made by `describe` once the schema stays where it is.
  std::vector<lamella_argument> described_args, described_rets;
  void describe();
};

// Raises a ValueError that shows the column. `ns` is used where the text names none.
lamella_status parse_schema(const std::string& text, const std::string& ns, Schema* out);
// "ns::name.overload" out of the beginning of a schema, without parsing the rest.
lamella_status parse_name(const std::string& text, const std::string& default_ns, std::string* ns, std::string* name,
                          std::string* overload);

}  // namespace lamella::dispatcher
