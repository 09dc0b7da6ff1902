// Pointwise signs, rounding and bits, with the loops of the oldest instruction set. Declared in
// <lamella/pointwise/signs.h>.
#include "operators/pointwise_family.h"

namespace lamella::operators {

LAMELLA_FAMILY(signs) { return declared(lamella::pointwise::signs()); }

}  // namespace lamella::operators
