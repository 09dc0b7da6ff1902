// The loops of one family of pointwise operators. Note [Instruction sets] is in backends/cpu/isa.h.
#include "backends/cpu/isa/family.h"

namespace lamella::cpu::LAMELLA_ISA {

Meanings pointwise_choosing() { return meanings(pointwise::choosing()); }

}  // namespace lamella::cpu::LAMELLA_ISA
