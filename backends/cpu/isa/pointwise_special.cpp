// The loops of one family of pointwise operators. Note [Instruction sets] is in backends/cpu/isa.h.
#include "backends/cpu/isa/family.h"

namespace lamella::cpu::LAMELLA_ISA {

LAMELLA_LOOPS(special)

}  // namespace lamella::cpu::LAMELLA_ISA
