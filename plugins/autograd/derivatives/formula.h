// Formula: a derivative written as text, compiled into a short program of operator calls. The grammar is in
// <lamella/autograd.h>.
#pragma once

#include <atomic>
#include <deque>
#include <string>
#include <vector>

#include "graph/engine.h"

namespace lamella::autograd {

// One value that formulas name and that a node therefore saves: an argument, a result, or a property of a tensor (or of
// a list of tensors), such as its shape.
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

// The source of an operand of a step. Grad is the gradient of result `index`; LastGrad counts from the last result, for
// results that follow a list; Grads is the list of all gradients.
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
  std::vector<uint8_t> kinds;  // the kinds of the operator's parameters: enum lamella_kind, plus list_of for a list
};
constexpr uint8_t list_of = 64;
constexpr uint64_t all_grads = uint64_t{1} << 63;

struct Formula {
  std::vector<uint8_t> targets;  // the rule's inputs whose gradients the formula computes
  uint64_t saves = 0;            // bits: the rule's saves that the formula needs
  uint64_t grads = 0;            // bits: the results whose gradients the formula needs, or all_grads
  uint64_t optional_grads = 0;   // bits: the results whose gradient the formula takes as none if backward has none
  std::vector<Step> steps;
  Operand result;  // the gradient for the first target; those for further targets are the temporaries behind it
  uint8_t temporaries = 0;
};

// The derivative of one operator, compiled when first used.
struct Rule {
  struct Input {
    uint8_t arg;
    bool list;
    int8_t formula = -1;  // -1: there is no formula, and a request for this gradient is an error
  };
  const lamella_operator* op;
  std::string name;  // "MulBackward0"
  std::vector<Input> inputs;
  int list = -1;  // the input that is a list, or -1
  std::vector<Formula> formulas;
  std::vector<Save> saves;
  std::deque<lamella_value> constants;
  std::deque<std::string> strings;  // storage of the string constants
  bool saves_tensors = false;       // false: no saved value is a tensor, and all stay in the node after backward
  int num_args, num_returns;
  int list_return = -1;  // the return value that is a list, or -1; each tensor of the list is one result of the node
  int written = -1;      // the argument that the operator writes in place, or -1
  int written_for = 0;   // lamella_derivative::num_args, where the operator has more arguments now; else 0
  const lamella_derivative* functions = nullptr;  // instead of formulas
  lamella_status broken = LAMELLA_OK;             // LAMELLA_OK, or the error's kind if the formulas do not compile
  std::string error;

  // Returns which of the operator's return values holds result `result` of a node with `num_results` results.
  int return_of(int result, int num_results) const {
    if (list_return < 0 || result < list_return) return result;
    return std::max(list_return, result - (num_results - num_returns));
  }
};

// Limits of a formula; compile() refuses a formula that exceeds one. A formula has at most one target for each result
// of an operator.
constexpr int most_saves = 24, most_temporaries = 96, most_operands = 32, most_ints = 64, most_constants = 256;
constexpr int most_targets = LAMELLA_MAX_RETURNS;

// The layer's copy of a lamella_derivative for one operator. It is the context of that operator's kernel, and is never
// freed, because running calls and graphs may still use its rule.
struct Derivative {
  const lamella_operator* op;
  lamella_derivative given;
  std::string formulas;  // given.formulas points at this
  std::string wrong;     // why the lamella_derivative could not be read; empty if it could
  std::atomic<const Rule*> rule{nullptr};
};

// The layer's callback `prepare`, in given.cpp. It returns the same Derivative until the payload's content changes.
void* prepare(void*, const lamella_operator* op, const void* payload);
// Compiles the formulas of `d` into its rule, at the first call.
const Rule& compile(Derivative& d);

// Evaluates one formula. Writes one owned value for each target into `results`.
lamella_status evaluate(const Rule& r, const Formula& f, const lamella_value* saved, lamella_tensor* const* grads,
                        int num_grads, const uint8_t* mask, lamella_value* results);

}  // namespace lamella::autograd
