// Casts and every declared pointwise operator for x86-64-v3.
#include "backends/cpu/loops_isa.h"

namespace lattis::cpu {

const Loops& v3_loops() {
#define LATTIS_ENTRY(Op, name) {name, pointwise::describe<pointwise::Op>(nullptr)},
  static const PointwiseEntry entries[] = {LATTIS_POINTWISE_DECLARATIONS(LATTIS_ENTRY)};
  static const Loops l = [] {
    Loops x{};
    x.isa = "x86-64-v3";
    fill_casts(x);
    x.pointwise = entries;
    x.num_pointwise = sizeof entries / sizeof *entries;
    return x;
  }();
  return l;
}

}  // namespace lattis::cpu
