// Orthogonal polynomials, with the loops of the oldest instruction set. Declared in <lamella/pointwise/orthogonal.h>.
#include "operators/pointwise_family.h"

namespace lamella::operators {

LAMELLA_FAMILY(orthogonal) { return declared(lamella::pointwise::orthogonal()); }

}  // namespace lamella::operators
