// Arguments: those of a call with other tensors in the place of boxes, and the call of an operator with them. Lowered:
// those with batches.
#pragma once

#include <array>
#include <list>

#include "call.h"

namespace lamella::transforms {

class Arguments {
 public:
  Arguments(lamella_frame* f, const lamella_value* args);
  Arguments(const Arguments&) = delete;
  ~Arguments();

  // Replaces an argument; a tensor may be an element of a list, or undefined.
  void tensor(int argument, int element, const Tensor& t);
  void ints(int argument, const std::vector<int64_t>& list);
  void integer(int argument, int64_t i);
  // Calls an operator with these arguments, or a functional form with as many of them as it takes, as a part of the call.
  void run(const lamella_operator* op) { run(op, f_); }
  // The same, as a part of another call, or with null of none.
  void run(const lamella_operator* op, lamella_frame* parent);
  // Returns result i of `run`; undefined if it is no tensor.
  Tensor result(int i) const;
  std::vector<Tensor> list(int i) const;
  const lamella_value& raw(int i) const { return rets_[static_cast<size_t>(i)]; }
  // Moves the results out.
  void move_to(lamella_value* rets);

 protected:
  lamella_frame* f_;
  std::vector<lamella_value> values_;
  int num_rets_ = 0;

 private:
  std::vector<Tensor> kept_;
  std::list<Sizes> lists_;
  std::list<std::vector<lamella_tensor*>> tensors_;
  std::array<lamella_value, LAMELLA_MAX_RETURNS> rets_;
};

// Returns a copy of a tensor. As a part of a call with boxes it is one for each sample of an outer level.
Tensor copy_of(const Tensor& t, lamella_frame* call = nullptr);
// Raises an error unless a result's dtype may be cast to that of the tensor that is written.
void check_castable(const lamella_frame* f, const Tensor& result, const Tensor& to);

class Lowered : public Arguments {
 public:
  explicit Lowered(Call& c);

  using Arguments::tensor;
  // Replaces the tensor of an operand.
  void tensor(const Operand& o, const Tensor& t) { tensor(o.argument, o.element, t); }
  // Gives the call results that all samples share.
  void give_shared() { move_to(c_.rets_); }
  // Gives the results to the call, with the batch along dimension `at`.
  void give(int64_t at = 0);

 private:
  Call& c_;
};

}  // namespace lamella::transforms
