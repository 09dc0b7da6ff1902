// Formulas: derivatives as text, compiled into short programs over operators. The grammar is in <lamella/autograd.h>.
#pragma once

#include <atomic>
#include <deque>
#include <string>
#include <vector>

#include "graph/engine.h"

namespace lamella::autograd {

// Something that a formula names and that therefore is saved.
struct Save {
  enum What : uint8_t {
    Argument,
    Result,
    ArgumentShape,
    ResultShape,
    ArgumentStrides,
    ArgumentOffset,
    ArgumentDtype,
    ArgumentNumel,
    ArgumentShapes
  };
  What what;
  uint8_t index;
  bool operator==(const Save& o) const { return what == o.what && index == o.index; }
};

// Where an operand of a step comes from: a gradient is that of one result, counted from the last where they come after
// a list, or the list of all.
struct Operand {
  enum From : uint8_t { Constant, Saved, Grad, Temporary, Mask, LastGrad, Grads };
  From from;
  uint8_t index;
};

struct Step {
  enum What : uint8_t { Call, Scale, Conj, Add, Sub, Mul, Div, Neg, List, Element };
  What what;
  uint8_t to, returns = 1;  // `returns` temporaries from `to` on
  const lamella_operator* op = nullptr;
  std::vector<Operand> operands;
  std::vector<uint8_t> kinds;  // the operator's parameters there: enum lamella_kind, with list_of added for lists
};
constexpr uint8_t list_of = 64;
constexpr uint64_t all_grads = uint64_t{1} << 63;

struct Formula {
  std::vector<uint8_t> targets;  // inputs of the rule whose gradients it gives
  uint64_t saves = 0;            // which of the rule's saved things it needs
  uint64_t grads = 0;            // which results' gradients, a bit for each, or all_grads
  uint64_t optional_grads = 0;   // and which of them only if they came
  std::vector<Step> steps;
  Operand result;  // or, for several targets, that many from here on
  uint8_t temporaries = 0;
};

// The derivative of one operator, compiled when first used.
struct Rule {
  struct Input {
    uint8_t arg;
    bool list;
    int8_t formula = -1;  // none: asking for its gradient is an error
  };
  const lamella_operator* op;
  std::string name;  // "MulBackward0"
  std::vector<Input> inputs;
  int list = -1;  // the input that is a list
  std::vector<Formula> formulas;
  std::vector<Save> saves;
  std::deque<lamella_value> constants;
  std::deque<std::string> strings;  // of constants
  bool saves_tensors = false;       // if not, saved values cost nothing, and stay after backward
  int num_args, num_returns;
  int list_return = -1;  // the return value that is a list: its tensors are results of the node one by one
  int written = -1;      // the argument that the operator itself writes
  int written_for = 0;   // the number of arguments, where the operator has more now
  const lamella_derivative* functions = nullptr;  // instead of formulas
  lamella_status broken = LAMELLA_OK;             // the formulas do not compile
  std::string error;

  // The operator's return value that has this one of the node's `num_results` results.
  int return_of(int result, int num_results) const {
    if (list_return < 0 || result < list_return) return result;
    return std::max(list_return, result - (num_results - num_returns));
  }
};

// Limits of formulas: compile() refuses those that need more. Several targets take an operator's several results.
constexpr int most_saves = 24, most_temporaries = 40, most_operands = 32, most_ints = 64, most_constants = 256;
constexpr int most_targets = LAMELLA_MAX_RETURNS;

// The layer's copy of a lamella_derivative for one operator, which is the context of its kernel. Never freed: calls may
// be on their way, and graphs hold the rule.
struct Derivative {
  const lamella_operator* op;
  lamella_derivative given;
  std::string formulas;  // given.formulas points at this
  std::string wrong;     // why the caller's struct could not be read
  std::atomic<const Rule*> rule{nullptr};
};

// The layer's `prepare`, in given.cpp: the same Derivative as long as the payload says the same.
void* prepare(void*, const lamella_operator* op, const void* payload);
// Makes its rule, once.
const Rule& compile(Derivative& d);

// Evaluates one formula; results are owned, one a target.
lamella_status evaluate(const Rule& r, const Formula& f, const lamella_value* saved, lamella_tensor* const* grads,
                        int num_grads, const uint8_t* mask, lamella_value* results);

}  // namespace lamella::autograd
