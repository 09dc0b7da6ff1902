// The loop over instructions.
#include <algorithm>

#include "builtins/numbers.h"
#include "run/frame.h"
#include "run/shared_state.h"

namespace lamella::graph {

thread_local Machine::Frame* Machine::Frame::innermost = nullptr;

Machine::Frame::Frame(Machine& m, const Code& c)
    : machine(m), code(c), outer(innermost), registers(m.reserve(c.registers)) {
  const size_t n = c.constants.size();
  std::copy_n(c.constants.data(), n, registers);
  std::fill(registers + n, registers + c.registers, none());
  if (++m.depth_ <= m.limits_.most_depth) {
    innermost = this;
    return;
  }
  m.depth_--;
  m.release(c.registers);
  throw Error(LAMELLA_RUNTIME_ERROR, c.name + ": the program calls itself more than " +
                                         std::to_string(m.limits_.most_depth) + " times within each other");
}

Machine::Frame::~Frame() {
  innermost = outer;
  for (size_t i = code.constants.size(); i < code.registers; i++) graph::release(registers[i]);
  machine.depth_--;
  machine.release(code.registers);
}

lamella_value* Machine::reserve(uint32_t n) {
  if (pieces_.empty() && used_ + n <= own_size) {
    used_ += n;
    return own_ + used_ - n;
  }
  if (pieces_.empty() || pieces_.back().used + n > pieces_.back().size) {
    const uint32_t size = std::max(n, uint32_t{4096});
    pieces_.push_back({std::make_unique_for_overwrite<lamella_value[]>(size), size, 0});
  }
  Piece& p = pieces_.back();
  p.used += n;
  return p.values.get() + p.used - n;
}

void Machine::release(uint32_t n) {
  if (pieces_.empty()) {
    used_ -= n;
    return;
  }
  pieces_.back().used -= n;
  if (!pieces_.back().used) pieces_.pop_back();
}

void Machine::step() {
  if (--steps_left_ < 0)
    throw Error(LAMELLA_RUNTIME_ERROR, "the program took more than " + std::to_string(limits_.most_steps) + " steps");
  if ((steps_left_ & 1023) != 0) return;
  const Outside outside;
  check(api().check_interrupt());
}

void Machine::run(const Code& code, lamella_value* args, lamella_value* rets) {
  const size_t n = code.parameters.size();
  struct Owned {  // the arguments, until the frame has them
    lamella_value* args;
    size_t n;
    ~Owned() {
      for (size_t i = 0; i < n; i++) graph::release(args[i]);
    }
  } owned{args, n};
  Frame f(*this, code);
  std::copy_n(args, n, f.registers + code.constants.size());
  owned.n = 0;
  try {
    execute(f, rets);
  } catch (...) {
    const Source& s = code.places[f.at];
    std::string line = "  in " + (code.name.empty() ? std::string("graph") : code.name);
    if (s.file) line += ", " + *s.file + ":" + std::to_string(s.line);
    if (trace_.size() < 100) trace_.push_back(std::move(line));
    throw;
  }
}

void Machine::execute(Frame& f, lamella_value* rets) {
  const Instruction* const first = f.code.instructions.data();
  const Instruction* now = first;
  lamella_value* const r = f.registers;
  const auto flag = [](bool b) { return lamella_value{LAMELLA_BOOLEAN, 0, {b}}; };
  while (true) {
    const Instruction i = *now;
    switch (i.op) {
      case Op::move:
        r[i.a] = f.take(i.b);
        break;
      case Op::moves: {
        const uint32_t* pairs = f.operands(i.a);
        std::vector<lamella_value> values(i.n);
        for (uint32_t k = 0; k < i.n; k++) values[k] = f.take(pairs[2 * k + 1]);
        for (uint32_t k = 0; k < i.n; k++) r[pairs[2 * k]] = values[k];
        break;
      }
      case Op::release:
        for (uint32_t k = 0; k < i.n; k++) graph::release(r[f.operands(i.a)[k]]);
        break;
      case Op::clear:
        r[i.a] = none();
        break;
      case Op::jump:
        now = first + i.c;
        continue;
      case Op::jump_if_false:
        if (r[i.a].as.i) break;
        now = first + i.c;
        continue;
      case Op::loop_begin:
        r[i.a] = value(int64_t{0});
        if (r[i.b].as.i > 0) break;
        now = first + i.c;
        continue;
      case Op::loop_next: {
        const int64_t trip = ++r[i.a].as.i;
        if (trip >= r[i.b].as.i) break;
        f.at = static_cast<size_t>(now - first);
        step();
        now = first + i.c;
        continue;
      }
      case Op::give_back:
        for (uint32_t k = 0; k < i.n; k++) rets[k] = f.take(f.operands(i.a)[k]);
        return;
      case Op::call:
        f.at = static_cast<size_t>(now - first);
        call(f, f.code.sites[i.a]);
        break;
      case Op::builtin:
        f.at = static_cast<size_t>(now - first);
        builtin(f, f.code.sites[i.a]);
        break;
      case Op::add_int: {
        int64_t x;
        if (__builtin_add_overflow(r[i.b].as.i, r[i.c].as.i, &x)) goto too_large;
        r[i.a] = value(x);
        break;
      }
      case Op::sub_int: {
        int64_t x;
        if (__builtin_sub_overflow(r[i.b].as.i, r[i.c].as.i, &x)) goto too_large;
        r[i.a] = value(x);
        break;
      }
      case Op::mul_int: {
        int64_t x;
        if (__builtin_mul_overflow(r[i.b].as.i, r[i.c].as.i, &x)) goto too_large;
        r[i.a] = value(x);
        break;
      }
      case Op::neg_int: {
        int64_t x;
        if (__builtin_sub_overflow(int64_t{0}, r[i.b].as.i, &x)) goto too_large;
        r[i.a] = value(x);
        break;
      }
      case Op::floordiv_int:
      case Op::mod_int: {
        f.at = static_cast<size_t>(now - first);
        const int64_t x = r[i.b].as.i, y = r[i.c].as.i;
        r[i.a] = value(i.op == Op::mod_int ? floor_remainder(x, y, "integer modulo by zero")
                                           : floor_quotient(x, y, "integer division or modulo by zero"));
        break;
      }
      case Op::eq_int:
        r[i.a] = flag(r[i.b].as.i == r[i.c].as.i);
        break;
      case Op::ne_int:
        r[i.a] = flag(r[i.b].as.i != r[i.c].as.i);
        break;
      case Op::lt_int:
        r[i.a] = flag(r[i.b].as.i < r[i.c].as.i);
        break;
      case Op::le_int:
        r[i.a] = flag(r[i.b].as.i <= r[i.c].as.i);
        break;
      case Op::gt_int:
        r[i.a] = flag(r[i.b].as.i > r[i.c].as.i);
        break;
      case Op::ge_int:
        r[i.a] = flag(r[i.b].as.i >= r[i.c].as.i);
        break;
      case Op::add_float:
        r[i.a] = value(r[i.b].as.d + r[i.c].as.d);
        break;
      case Op::sub_float:
        r[i.a] = value(r[i.b].as.d - r[i.c].as.d);
        break;
      case Op::mul_float:
        r[i.a] = value(r[i.b].as.d * r[i.c].as.d);
        break;
      case Op::div_float:
        f.at = static_cast<size_t>(now - first);
        if (r[i.c].as.d == 0) graph::raise(LAMELLA_ZERO_DIVISION, "float division by zero");
        r[i.a] = value(r[i.b].as.d / r[i.c].as.d);
        break;
      case Op::neg_float:
        r[i.a] = value(-r[i.b].as.d);
        break;
      case Op::eq_float:
        r[i.a] = flag(r[i.b].as.d == r[i.c].as.d);
        break;
      case Op::ne_float:
        r[i.a] = flag(r[i.b].as.d != r[i.c].as.d);
        break;
      case Op::lt_float:
        r[i.a] = flag(r[i.b].as.d < r[i.c].as.d);
        break;
      case Op::le_float:
        r[i.a] = flag(r[i.b].as.d <= r[i.c].as.d);
        break;
      case Op::gt_float:
        r[i.a] = flag(r[i.b].as.d > r[i.c].as.d);
        break;
      case Op::ge_float:
        r[i.a] = flag(r[i.b].as.d >= r[i.c].as.d);
        break;
      case Op::and_bool:
        r[i.a] = flag(r[i.b].as.i && r[i.c].as.i);
        break;
      case Op::or_bool:
        r[i.a] = flag(r[i.b].as.i || r[i.c].as.i);
        break;
      case Op::not_bool:
        r[i.a] = flag(!r[i.b].as.i);
        break;
      default:
        f.at = static_cast<size_t>(now - first);
        container(f, i);
    }
    now++;
    continue;
  too_large:
    f.at = static_cast<size_t>(now - first);
    raise_too_large();
  }
}

}  // namespace lamella::graph
