// Special functions, with the loops of the oldest instruction set. Declared in <lamella/pointwise/special.h>.
#include "operators/pointwise_family.h"

namespace lamella::operators {
namespace {

void check_order(int64_t n, const Tensor&, Output) {
  LAMELLA_CHECK(n >= 0, "argument 'n': expected an order of at least 0, got ", n);
}

}  // namespace

LAMELLA_FAMILY(special) {
  std::vector<Declaration> table = declared(lamella::pointwise::special());
  set_rule(&table, "polygamma", pointwise_shape<check_order>);
  return table;
}

}  // namespace lamella::operators
