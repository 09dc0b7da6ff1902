// Sorting and what follows from it: topk, argsort, unique.
#include "dispatcher/operators/compose.h"

namespace lattis::dispatcher {

const std::vector<Declaration>& sort_operators() {
  static const auto* table = new std::vector<Declaration>{};
  return *table;
}

}  // namespace lattis::dispatcher
