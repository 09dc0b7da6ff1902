// Call: a call at the layer of vmap, with the batches of its tensors at the innermost level that one of them has.
#pragma once

#include "rule.h"

namespace lamella::transforms {

// A tensor argument, or an element of a list.
struct Operand {
  int argument;
  int element;  // in its list, or -1
  lamella_tensor* given;
  Tensor tensor;  // the batch, or the tensor itself if it is not batched at this level
  bool batched;
  int ndim;  // of a sample
};

class Call {
 public:
  Call(lamella_frame* f, const lamella_value* args, lamella_value* rets, State& s, const Level& level, const Plan& p);

  const Plan& plan;
  const lamella_frame* frame() const { return f_; }
  int64_t size() const { return level_.size; }
  int64_t level() const { return level_.number; }
  int num_args() const { return f_->num_args; }
  const lamella_value& argument(int i) const { return args_[i]; }
  std::vector<Operand>& operands() { return operands_; }
  // Returns the operand of an argument that is a tensor; null if it is absent.
  Operand* operand(int argument);
  bool is_batched(int argument) const;
  std::string name() const { return title(f_); }

  // Serves the call: makes its results, or raises an error.
  lamella_status run();
  // Serves it by the operator's text of dimensions. Returns false if that does not say how.
  bool by_dims();
  // Runs the operator once for each sample, and stacks the results.
  lamella_status loop();

  // For rules: what the call returns. A batch has the samples along dimension `at`.
  void give(int i, const Tensor& batch, int64_t at = 0);
  void give_list(int i, const std::vector<Tensor>& batches);
  // The in-place form's tensor is the result.
  void give_written();

 private:
  friend class Lowered;
  bool lower();
  bool broadcast();
  bool along(bool reduces);
  bool by_pattern();
  bool by_ellipsis(const DimsPattern& p);
  bool by_longer(const DimsPattern& p, const std::vector<int>& ndims);
  bool by_fold(const DimsPattern& p);
  bool lead();
  bool gather();
  lamella_status random();
  lamella_status compose();
  lamella_status copy_functional();

  lamella_status view();
  void check_written() const;

  lamella_frame* f_;
  const lamella_value* args_;
  lamella_value* rets_;
  State& s_;
  const Level level_;
  std::vector<Operand> operands_;
};

// The end of the error of an operator that draws at a level with randomness 'error'.
inline constexpr char refused_random[] =
    " draws random numbers, and the argument 'randomness' of vmap is 'error': say whether they are 'different' for "
    "each "
    "sample or the 'same' for all, or draw them outside of vmap";

using Sizes = std::vector<int64_t>;
// Returns the place of an argument by its name; -1 if the operator has none of that name.
int argument_named(const lamella_operator* op, std::string_view name);
// Returns the operand's batch, whose samples get `ndim` dimensions: those that are missing, of size 1, are inserted before
// dimension `at` of the sample.
Tensor with_dims(const Operand& o, int ndim, int at = 0);
// Returns the same for an operand that is batched; for another one its elements, repeated for each sample, in front.
Tensor with_batch(const Operand& o, int64_t size, int ndim);

// The functions of the table, in functions.cpp.
bool serve_matmul(Call& c);
bool serve_convolution(Call& c);
bool serve_stack(Call& c);
bool serve_resampled(Call& c);
bool serve_to_other(Call& c);
bool serve_attention(Call& c);
bool serve_fill(Call& c);
bool serve_masked_fill(Call& c);
bool serve_index(Call& c);

// Counts of the calls of operators that ran in a loop over samples.
void count_loop(const lamella_operator* op);
std::vector<std::pair<std::string, int64_t>> loops();
void clear_loops();

}  // namespace lamella::transforms
