// Gradients of pointwise functions, with the loops of the oldest instruction set. Declared in
// <lamella/pointwise/backward.h>.
#include "operators/pointwise_family.h"

namespace lamella::operators {
namespace {

void check_mask(const Tensor&, const Tensor& mask, double, Output) {
  LAMELLA_CHECK(mask.dtype() == kBool, "argument 'mask': expected a bool tensor, got ", mask.dtype());
}

}  // namespace

LAMELLA_FAMILY(backward) {
  std::vector<Declaration> table = declared(lamella::pointwise::backward());
  set_rule(&table, "native_dropout_backward", pointwise_shape<check_mask>);
  return table;
}

}  // namespace lamella::operators
