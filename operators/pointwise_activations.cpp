// Pointwise activation functions, with the loops of the oldest instruction set. Declared in
// <lamella/pointwise/activations.h>.
#include "operators/pointwise_family.h"

namespace lamella::operators {
namespace {

void check_limits(const Tensor&, const Scalar& min_val, const Scalar& max_val, Output) {
  LAMELLA_CHECK_VALUE(!(min_val.toDouble() > max_val.toDouble()), "argument 'min_val': must not exceed max_val, got ",
                      min_val.toDouble(), " and ", max_val.toDouble());
}

void check_lambda(const Tensor&, const Scalar& lambd, Output) {
  LAMELLA_CHECK(lambd.toDouble() >= 0, "argument 'lambd': must not be negative, got ", lambd.toDouble());
}

void check_alpha(const Tensor&, const Scalar& alpha, Output) {
  LAMELLA_CHECK(alpha.toDouble() != 0, "argument 'alpha': elements are divided by it, so it cannot be 0; got ",
                alpha.toDouble());
}

}  // namespace

LAMELLA_FAMILY(activations) {
  std::vector<Declaration> table = declared(lamella::pointwise::activations());
  set_rule(&table, "hardtanh", pointwise_shape<check_limits>);
  set_rule(&table, "softshrink", pointwise_shape<check_lambda>);
  set_rule(&table, "celu", pointwise_shape<check_alpha>);
  return table;
}

}  // namespace lamella::operators
