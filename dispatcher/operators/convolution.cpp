// Convolutions.
#include "dispatcher/operators/compose.h"

namespace lattis::dispatcher {

const std::vector<Declaration>& convolution_operators() {
  static const auto* table = new std::vector<Declaration>{};
  return *table;
}

}  // namespace lattis::dispatcher
