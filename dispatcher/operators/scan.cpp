// Scans: cumsum.
#include "dispatcher/operators/compose.h"

namespace lattis::dispatcher {

const std::vector<Declaration>& scan_operators() {
  static const auto* table = new std::vector<Declaration>{};
  return *table;
}

}  // namespace lattis::dispatcher
