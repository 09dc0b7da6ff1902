// The loops of pointwise arithmetic. Note [Instruction sets] is in backends/cpu/isa.h.
#include <lamella/pointwise/loops.h>

#include "backends/cpu/loops.h"

namespace lamella::cpu::LAMELLA_ISA {

PointwiseEntries pointwise_arithmetic() {
#define LAMELLA_ENTRY(Op, names) {names, pointwise::describe<pointwise::Op>(nullptr)},
  static const PointwiseEntry entries[] = {LAMELLA_POINTWISE_ARITHMETIC(LAMELLA_ENTRY)};
  return {entries, sizeof entries / sizeof *entries};
}

}  // namespace lamella::cpu::LAMELLA_ISA
