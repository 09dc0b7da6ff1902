// One instruction set's table. Note [Instruction sets] is in backends/cpu/isa.h.
#include "backends/cpu/loops.h"

namespace lamella::cpu::LAMELLA_ISA {

void fill_loops(Loops& l) {
  l.isa = LAMELLA_ISA_NAME;
  fill_casts(l);
  fill_tiles(l);
#ifndef LAMELLA_BASELINE  // operators bring loops for the baseline themselves
  l.pointwise[0] = pointwise_arithmetic();
  l.pointwise[1] = pointwise_functions();
  l.pointwise[2] = pointwise_choosing();
  l.pointwise[3] = pointwise_activations();
  l.pointwise[4] = pointwise_backward();
#endif
}

}  // namespace lamella::cpu::LAMELLA_ISA
