// Lowered: the arguments of a call with batches in the place of samples, and the call of an operator with them.
#pragma once

#include <array>
#include <list>

#include "call.h"

namespace lamella::transforms {

class Lowered {
 public:
  explicit Lowered(Call& c);
  Lowered(const Lowered&) = delete;
  ~Lowered();

  // Replaces the tensor of an operand.
  void tensor(const Operand& o, const Tensor& t);
  void ints(int argument, const std::vector<int64_t>& list);
  void integer(int argument, int64_t i);
  // Calls an operator with these arguments. parent: null is the call's own frame.
  void run(const lamella_operator* op, lamella_frame* parent = nullptr);
  // Returns result i of `run`; undefined if it is no tensor.
  Tensor result(int i) const;
  std::vector<Tensor> list(int i) const;
  const lamella_value& raw(int i) const { return rets_[static_cast<size_t>(i)]; }
  // Gives the call results that all samples share.
  void give_shared();
  // Gives the results to the call, with the batch along dimension `at`.
  void give(int64_t at = 0);

 private:
  Call& c_;
  std::vector<lamella_value> values_;
  std::vector<Tensor> kept_;
  std::list<Sizes> lists_;
  std::list<std::vector<lamella_tensor*>> tensors_;
  std::array<lamella_value, LAMELLA_MAX_RETURNS> rets_;
  int num_rets_ = 0;
};

}  // namespace lamella::transforms
