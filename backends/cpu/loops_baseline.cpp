// Casts for any x86-64. The pointwise loops for it are the catalogue's own, which every operator carries.
#include "backends/cpu/loops_isa.h"

namespace lattis::cpu {

const Loops& baseline_loops() {
  static const Loops l = [] {
    Loops x{};
    x.isa = "x86-64";
    fill_casts(x);
    return x;
  }();
  return l;
}

}  // namespace lattis::cpu
