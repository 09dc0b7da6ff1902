// Complex numbers: parts, views, polar form.
#include "dispatcher/operators/compose.h"

namespace lattis::dispatcher {

const std::vector<Declaration>& complex_operators() {
  static const auto* table = new std::vector<Declaration>{};
  return *table;
}

}  // namespace lattis::dispatcher
