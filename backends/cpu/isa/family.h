// The meanings of a family of pointwise operators, with the loops of the instruction set that the file is compiled for.
#pragma once

#include <lamella/pointwise/loops.h>

#include "backends/cpu/meanings.h"

namespace lamella::cpu::LAMELLA_ISA {
namespace {

template <class Op, size_t... I>
Meaning meaning(std::index_sequence<I...>) {
  static constexpr const char* schemas[] = {std::begin(Op::signatures)[I].schema..., nullptr};
  return {declaration_name<Op>(), schemas, pointwise::describe<Op>(nullptr)};
}
template <class Family>
struct Members;
template <class... Ops>
struct Members<pointwise::Family<Ops...>> {
  static constexpr size_t count = sizeof...(Ops);
  static const Meaning* meanings() {
    static const Meaning all[] = {meaning<Ops>(std::make_index_sequence<std::size(Ops::signatures)>())...};
    return all;
  }
};

}  // namespace
}  // namespace lamella::cpu::LAMELLA_ISA

#define LAMELLA_LOOPS(family)                                                                              \
  static const FamilyLoops family##_loops = {Isa::LAMELLA_ISA, Members<pointwise::family>::count,          \
                                             Members<pointwise::family>::meanings};                        \
  __attribute__((used, retain, section("lamella_loops"))) static const FamilyLoops* const family##_entry = \
      &family##_loops;
