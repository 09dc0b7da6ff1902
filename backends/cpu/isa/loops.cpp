// The table Loops of one instruction set. Note [Instruction sets] is in backends/cpu/isa.h.
#include "backends/cpu/loops.h"

namespace lamella::cpu::LAMELLA_ISA {

void fill_loops(Loops& l) {
  l.isa = LAMELLA_ISA_NAME;
  fill_casts(l);
  fill_tiles(l);
#ifndef LAMELLA_BASELINE  // operators bring loops for the baseline themselves
  Meanings* next = l.pointwise;
#define LAMELLA_FILL(family) *next++ = pointwise_##family();
  LAMELLA_POINTWISE_FAMILIES(LAMELLA_FILL)
#undef LAMELLA_FILL
#endif
}

}  // namespace lamella::cpu::LAMELLA_ISA
