// The descriptors of a family of pointwise operators, with the loops of the instruction set that the file is compiled
// for.
#pragma once

#include <lamella/pointwise/loops.h>

#include "backends/cpu/loops.h"

namespace lamella::cpu::LAMELLA_ISA {

template <class... Ops>
Meanings meanings(pointwise::Family<Ops...>) {
  static const lamella_pointwise all[] = {pointwise::describe<Ops>(nullptr)...};
  return all;
}

}  // namespace lamella::cpu::LAMELLA_ISA
