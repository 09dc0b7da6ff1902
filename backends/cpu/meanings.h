// Pointwise operators with the loops of one instruction set. Each file isa/pointwise_*.cpp leaves a pointer to its
// family's FamilyLoops in the section lamella_loops of this library, where pointwise.cpp finds it. The operators
// themselves have loops for the baseline.
#pragma once

#include <lamella/c_api.h>

#include "backends/cpu/isa.h"

namespace lamella::cpu {

struct Meaning {
  const char* declaration;     // as declaration_name<Op>() gives it
  const char* const* schemas;  // the schemas of the operators with this meaning; the last entry is null
  lamella_pointwise pointwise;
};
struct FamilyLoops {
  Isa isa;
  size_t count;
  const Meaning* (*meanings)();
};

// Returns a name for a declaration of <lamella/pointwise/declarations.h> that is the same in all files, although the
// declaration's type differs from file to file.
template <class Op>
constexpr const char* declaration_name() {
  return __PRETTY_FUNCTION__;
}

}  // namespace lamella::cpu
