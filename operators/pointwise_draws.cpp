// Draws from seeds and their gradients, with the loops of the oldest instruction set. Declared in
// <lamella/pointwise/draws.h>.
#include "operators/pointwise_family.h"

namespace lamella::operators {

LAMELLA_FAMILY(draws) { return declared(lamella::pointwise::draws()); }

}  // namespace lamella::operators
