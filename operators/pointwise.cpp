// Shape rules with something of an operator's own, in the tables of pointwise operators.
#include "operators/pointwise.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace lamella::operators {

void set_rule(std::vector<Declaration>* table, const char* op, Adapted<lamella_infer> rule) {
  const size_t n = std::strlen(op);
  for (Declaration& d : *table)
    if (std::strncmp(d.schema.text, op, n) == 0 && d.schema.text[n] == '(') {
      d.infer = rule;
      return;
    }
  std::fprintf(stderr, "lamella: a shape rule for '%s', which the family does not declare\n", op);
  std::abort();
}

}  // namespace lamella::operators
