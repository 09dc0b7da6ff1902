// The table of pointwise operators: the families, and composites of them.
#include "operators/pointwise.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace lamella::operators {

void set_rule(std::vector<Declaration>* table, const char* op, Adapted<lamella_infer> rule) {
  const size_t n = std::strlen(op);
  for (Declaration& d : *table)
    if (std::strncmp(d.schema, op, n) == 0 && d.schema[n] == '(') {
      d.infer = rule;
      return;
    }
  std::fprintf(stderr, "lamella: a shape rule for '%s', which the family does not declare\n", op);
  std::abort();
}

const std::vector<Declaration>& pointwise_operators() {
  static const auto* table = [] {
    auto* all = new std::vector<Declaration>;
    const auto append = [&](const std::vector<Declaration>& family) {
      all->insert(all->end(), family.begin(), family.end());
    };
#define LAMELLA_APPEND(family) append(family##_operators());
    LAMELLA_POINTWISE_FAMILIES(LAMELLA_APPEND)
#undef LAMELLA_APPEND
    append(elementwise_operators());
    return all;
  }();
  return *table;
}

}  // namespace lamella::operators
