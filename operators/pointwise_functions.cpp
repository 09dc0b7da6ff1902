// Pointwise functions, with the loops of the oldest instruction set. Declared in <lamella/pointwise/functions.h>.
#include "operators/pointwise_family.h"

namespace lamella::operators {
namespace {

void check_power(const Tensor& self, const Scalar& exponent, Output) {
  LAMELLA_CHECK(!is_integral(self.dtype()) || !exponent.isIntegral() || exponent.toDouble() >= 0, "argument 'exponent'",
                ": an integer to a negative integer power is not an integer, got ", exponent.toLong(),
                "; convert 'self' with .to(lamella.float32)");
}

}  // namespace

LAMELLA_FAMILY(functions) {
  std::vector<Declaration> table = declared(lamella::pointwise::functions());
  set_rule(&table, "pow.Tensor_Scalar", pointwise_shape<check_power>);
  return table;
}

}  // namespace lamella::operators
