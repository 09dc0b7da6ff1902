// Constants as values.
#pragma once

#include "run/containers.h"
#include "signatures/signature.h"

namespace lamella::graph {

class Constants {
 public:
  // `tensors`: those that constants name by number; they outlive this object.
  explicit Constants(const std::vector<lamella_value>& tensors) : tensors_(tensors) {}

  // Returns the owned value of a `prim::Constant`. flat: a list is one of the C ABI.
  lamella_value value(const Node& constant, bool flat) const;
  lamella_value value(const Literal& x, const Type& type, bool flat) const;

 private:
  lamella_value number_tensor(const Literal& x, const Type& type) const;
  const std::vector<lamella_value>& tensors_;
};

}  // namespace lamella::graph
