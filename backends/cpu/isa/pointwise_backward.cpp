// The loops of pointwise gradients. Note [Instruction sets] is in backends/cpu/isa.h.
#include <lattis/pointwise/loops.h>

#include "backends/cpu/loops.h"

namespace lattis::cpu::LATTIS_ISA {

PointwiseEntries pointwise_backward() {
#define LATTIS_ENTRY(Op, names) {names, pointwise::describe<pointwise::Op>(nullptr)},
  static const PointwiseEntry entries[] = {LATTIS_POINTWISE_BACKWARD(LATTIS_ENTRY)};
  return {entries, sizeof entries / sizeof *entries};
}

}  // namespace lattis::cpu::LATTIS_ISA
