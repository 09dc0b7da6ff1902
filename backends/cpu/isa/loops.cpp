// The table Loops of one instruction set. Note [Instruction sets] is in backends/cpu/isa.h.
#include "backends/cpu/loops.h"

namespace lamella::cpu::LAMELLA_ISA {

void fill_loops(Loops& l) {
  l.isa = LAMELLA_ISA_NAME;
  fill_casts(l);
  fill_tiles(l);
}

}  // namespace lamella::cpu::LAMELLA_ISA
