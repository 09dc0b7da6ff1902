// Pointwise activation functions, with the loops of the oldest instruction set. Declared in
// <lamella/pointwise/activations.h>.
#include "operators/pointwise_family.h"

namespace lamella::operators {

LAMELLA_FAMILY(activations) { return declared(lamella::pointwise::activations()); }

}  // namespace lamella::operators
