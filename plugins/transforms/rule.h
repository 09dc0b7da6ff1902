// The rules of operators on batches: the text of dimensions, or a rule of the table if that text does not serve.
#pragma once

#include <lamella/dims.h>

#include <atomic>
#include <string>
#include <vector>

#include "level.h"
#include "tangent.h"

namespace lamella::transforms {

// The ways in which a call on a batch is made of a call on samples.
enum class How : uint8_t {
  dims,     // by the operator's text of dimensions, else by its composite, else by the loop
  compose,  // by its composite
  lead,     // the first tensor may have a further dimension in front; others must not be batched
  gather,   // all tensors have the batch in front, and dimensions are counted behind it
  custom,   // by a function
  loop,     // once for each sample
  host,     // an error: its result is a number of the program
  dynamic,  // an error: the shape of its result depends on values
};

class Call;

// A rule of the table in rules.cpp.
struct Rule {
  How how = How::dims;
  bool (*function)(Call&) = nullptr;  // returns false for a call that it does not serve
};

// All that the layer needs of one form of an operator. Made when the operator is first called at the layer.
struct Plan {
  const lamella_operator* op;
  const lamella_operator* functional;  // of an in-place or out= form, if it has one
  int32_t form;
  bool is_view, is_random, is_product, has_rule, has_composite, has_derivative;
  bool may_draw;             // it draws in training alone, and its composite decides
  int written = -1;          // the argument that an in-place form writes
  std::vector<int> tensors;  // the arguments that are tensors or lists of them, without outputs
  std::vector<int> dim_arguments;
  Dims dims;
  Rule rule;        // of vmap
  Tangent tangent;  // of forward mode
};

// An operator at the layer: the context of its calls, which lives as long as the process.
struct Served {
  enum Kind : uint8_t { computes, draws, makes };  // `makes`: tensors of sizes alone, or like another one
  const lamella_operator* op;
  Kind kind;
  std::atomic<const Plan*> plan{nullptr};  // made when a call needs it

  const Plan& get();
};
// Returns whether a call makes a tensor within an operator that has a box among its arguments.
inline bool is_made(const lamella_frame* f, const Served& op) {
  constexpr uint64_t opaque_bit = 1;  // the dispatcher's own bit in the keys of a frame: an argument is opaque
  return op.kind == Served::makes && f->parent && f->parent->keys & opaque_bit;
}
// Returns the object of an operator; null if there is no memory.
Served* served(const lamella_operator* op);

// Returns the address of the kernel that runs for a device, by its name, or of the "composite"; null if there is none.
const void* kernel_of(const lamella_operator* op, const char* key);

// Returns the text of an operator's rule: a line of the table, or how its dimensions say it. For `lamella ops show`.
std::string describe_rule(const lamella_operator* op);

// Returns an operator's name with its overload, as "aten::add.Tensor".
std::string full_name(const lamella_operator* op);

// Returns how an operator's tangents come: a line of the table in tangents.cpp, or a way that needs none.
std::string describe_tangent(const lamella_operator* op);

struct RuleText {
  const char* op;
  const char* text;
};
// The table in rules.cpp.
extern const RuleText rule_table[];
extern const int rule_table_size;

}  // namespace lamella::transforms
