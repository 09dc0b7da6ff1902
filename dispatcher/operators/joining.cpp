// Joining and rearranging: cat, stack, repeat, roll, flip.
#include "dispatcher/operators/compose.h"

namespace lattis::dispatcher {

const std::vector<Declaration>& joining_operators() {
  static const auto* table = new std::vector<Declaration>{};
  return *table;
}

}  // namespace lattis::dispatcher
