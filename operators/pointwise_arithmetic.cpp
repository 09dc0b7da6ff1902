// Pointwise arithmetic, with the loops of the oldest instruction set. Declared in <lamella/pointwise/arithmetic.h>.
#include "operators/pointwise_family.h"

namespace lamella::operators {
namespace {

// The square of a bool is an integer.
void square_bools(const Tensor& self, Output out) {
  if (self.dtype() == kBool) out.set_dtype(kLong);
}

}  // namespace

LAMELLA_FAMILY(arithmetic) {
  std::vector<Declaration> table = declared(lamella::pointwise::arithmetic());
  set_rule(&table, "square", pointwise_shape<nullptr, square_bools>);
  return table;
}

}  // namespace lamella::operators
