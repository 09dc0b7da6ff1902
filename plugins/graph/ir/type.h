// Types of the values of a graph. A tensor's type holds the dtype, the sizes and so on as far as they are known before
// the graph runs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lamella::graph {

enum class Kind : uint8_t {
  tensor,
  integer,
  floating,
  complex,
  boolean,
  string,
  none,
  number,  // an int, a float, a complex or a bool
  device,
  dtype,
  layout,
  memory_format,
  generator,
  any,
  list,
  dict,
  tuple,
  optional,
  future,
  function,
  object,  // of a class
};

class Type;
using TypePtr = std::shared_ptr<const Type>;

// A size: a number, unknown, or a * symbol + b.
struct Dim {
  int64_t number = 0;  // the size, or b
  int64_t factor = 0;  // a; 0: no symbol
  std::string symbol;  // "*" for a size that is unknown

  static Dim unknown() { return {0, 1, "*"}; }
  bool is_known() const { return symbol.empty(); }
  bool operator==(const Dim&) const = default;
};

// The properties of a tensor that are known.
struct TensorFacts {
  std::string dtype;  // as in "float32"; empty: unknown
  std::optional<std::vector<Dim>> sizes;
  std::optional<std::vector<Dim>> strides;
  std::string device;  // empty: unknown
  std::optional<bool> requires_grad;

  bool operator==(const TensorFacts&) const = default;
};

class Type {
 public:
  const Kind kind;
  const TensorFacts tensor;          // of a tensor
  const std::vector<TypePtr> inner;  // elements of a list, an optional or a future; key and value; parts of a tuple
  const std::string name;            // of a class, or of a named tuple
  const std::vector<std::string> fields;  // of a named tuple
  const int32_t depth = 1;                // of the nesting of types; the parser bounds it, since types are recursive

  explicit Type(Kind kind) : kind(kind) {}
  explicit Type(TensorFacts facts) : kind(Kind::tensor), tensor(std::move(facts)) {}
  Type(Kind kind, std::vector<TypePtr> parts, std::string name = {}, std::vector<std::string> fields = {})
      : kind(kind),
        inner(std::move(parts)),
        name(std::move(name)),
        fields(std::move(fields)),
        depth(depth_over(inner)) {}

  // Returns the type as the text of graphs has it: "Float(2, 3)", "int[]", "Dict(str, Tensor)".
  std::string text() const;

  static const TypePtr& of(Kind kind);  // of a kind without parts; a tensor of which nothing is known
  static TypePtr list(TypePtr element) { return made(Kind::list, {std::move(element)}); }
  static TypePtr optional(TypePtr inside) { return made(Kind::optional, {std::move(inside)}); }
  static TypePtr future(TypePtr inside) { return made(Kind::future, {std::move(inside)}); }
  static TypePtr dict(TypePtr key, TypePtr value) { return made(Kind::dict, {std::move(key), std::move(value)}); }
  static TypePtr tuple(std::vector<TypePtr> parts, std::string name = {}, std::vector<std::string> fields = {}) {
    return std::make_shared<const Type>(Kind::tuple, std::move(parts), std::move(name), std::move(fields));
  }
  static TypePtr object(std::string name) {
    return std::make_shared<const Type>(Kind::object, std::vector<TypePtr>(), std::move(name));
  }

 private:
  static int32_t depth_over(const std::vector<TypePtr>& parts) {
    int32_t most = 0;
    for (const TypePtr& t : parts) most = t->depth > most ? t->depth : most;
    return most + 1;
  }
  static TypePtr made(Kind kind, std::vector<TypePtr> inner) {
    return std::make_shared<const Type>(kind, std::move(inner));
  }
};

bool operator==(const Type& a, const Type& b);
inline bool same(const TypePtr& a, const TypePtr& b) { return a == b || *a == *b; }

// Returns whether every value of type `from` is one of type `to`, with the facts of tensors.
bool is_subtype(const Type& from, const Type& to);
// Returns whether a value of type `from` may stand where `to` is expected. Facts of tensors are not compared: they
// describe a run, and restrict no other.
bool admits(const Type& from, const Type& to);

// Returns the name of a tensor type with a dtype, such as "Float" for "float32", or the dtype for a name. Empty: none.
std::string_view word_of_dtype(std::string_view dtype);
std::string_view dtype_of_word(std::string_view word);
// Returns the kind without parts that a word names, as "int" or "Device".
std::optional<Kind> kind_of_word(std::string_view word);

// The kinds whose literals are words: dtypes, devices, layouts and memory formats.
inline constexpr Kind word_kinds[] = {Kind::device, Kind::dtype, Kind::layout, Kind::memory_format};

}  // namespace lamella::graph
