// Pointwise signs, rounding and bits, with the loops of the oldest instruction set. Declared in
// <lamella/pointwise/signs.h>.
#include "operators/pointwise_family.h"

namespace lamella::operators {

std::vector<Declaration> signs_operators() { return declared(lamella::pointwise::signs()); }

}  // namespace lamella::operators
