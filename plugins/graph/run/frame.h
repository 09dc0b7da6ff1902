// The registers of one function while it runs.
#pragma once

#include "run/machine.h"

namespace lamella::graph {

struct Machine::Frame {
  Machine& machine;
  const Code& code;
  Frame* const outer;  // the frame that called it, of this thread's latest run
  lamella_value* const registers;
  size_t at = 0;  // the instruction that runs

  Frame(Machine& m, const Code& c);
  ~Frame();
  Frame(const Frame&) = delete;

  static thread_local Frame* innermost;  // of this thread

  const lamella_value& get(uint32_t operand) const { return registers[register_of(operand)]; }
  // Returns an owned value: that of the register if this is its last use, else a copy.
  lamella_value take(uint32_t operand) {
    lamella_value& v = registers[register_of(operand)];
    return operand & last ? std::exchange(v, none()) : copy_of(v);
  }
  void drop(uint32_t operand) {
    if (operand & last) graph::release(registers[register_of(operand)]);
  }
  void set(uint32_t r, lamella_value owned) {
    if (r == nowhere)
      graph::release(owned);
    else
      registers[r] = owned;
  }
  const uint32_t* operands(uint32_t begin) const { return code.operands.data() + begin; }
};

}  // namespace lamella::graph
