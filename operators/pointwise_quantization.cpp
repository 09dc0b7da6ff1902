// Pointwise rounding to the values of integers with a scale, with the loops of the oldest instruction set. Declared in
// <lamella/pointwise/quantization.h>.
#include "operators/pointwise_family.h"

namespace lamella::operators {

LAMELLA_FAMILY(fake_quantization) { return declared(lamella::pointwise::fake_quantization()); }

}  // namespace lamella::operators
