// Pointwise choices, with the loops of the oldest instruction set. Declared in <lamella/pointwise/choosing.h>.
#include "operators/pointwise_family.h"

namespace lamella::operators {

LAMELLA_FAMILY(choosing) { return declared(lamella::pointwise::choosing()); }

}  // namespace lamella::operators
