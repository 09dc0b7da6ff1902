// Note [Instruction sets]  Every file in backends/cpu/isa/ is compiled once per instruction set (x86-64, x86-64-v3,
//   x86-64-v4; the files pointwise_*.cpp not for x86-64, since liblamella has these loops), each time with LAMELLA_ISA
//   naming a namespace of its own for what it exports. All else in such a file is in an anonymous namespace, and no
//   object may hold a weak symbol: the linker keeps one definition of such a symbol for all objects, which could be an
//   illegal instruction on an older machine. So no std:: templates there that are not inlined for certain, no inline
//   functions with external linkage, no function-local statics of templates. A test reads the objects' symbols. The
//   rest of the plugin is compiled for any x86-64 and calls through by_isa.
#pragma once

namespace lamella::cpu {

enum class Isa { baseline, v3, v4 };

// Returns the best instruction set that this machine runs, and at most the one that LAMELLA_CPU_ISA names ("x86-64",
// "x86-64-v3", "x86-64-v4").
Isa isa();
const char* isa_name();
// Returns whether instructions outside of these levels (avx512_bf16, avx512_vnni, AMX) may be used where the processor
// has them: only beside x86-64-v4, and not if LAMELLA_CPU_ISA is set.
bool beside_levels();

// Returns the one of three pointers, to a function compiled for the three instruction sets, that is for isa().
template <class F>
F by_isa(F baseline, F v3, F v4) {
  return isa() == Isa::v4 ? v4 : isa() == Isa::v3 ? v3 : baseline;
}

}  // namespace lamella::cpu

// Declares `ret name args` in the namespace of each instruction set.
#define LAMELLA_DECLARE_ISA(ret, name, args) \
  namespace lamella::cpu::baseline {         \
  ret name args;                             \
  }                                          \
  namespace lamella::cpu::v3 {               \
  ret name args;                             \
  }                                          \
  namespace lamella::cpu::v4 {               \
  ret name args;                             \
  }
#ifdef LAMELLA_ONE_ISA  // builds with sanitizers have one set of loops, for this machine
#define LAMELLA_BY_ISA(name) (&::lamella::cpu::baseline::name)
#else
#define LAMELLA_BY_ISA(name) ::lamella::cpu::by_isa(&baseline::name, &v3::name, &v4::name)
#endif
