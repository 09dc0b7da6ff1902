// Evaluates a compiled formula: copies each step's operands (16 bytes each) from their sources, then calls the step's
// operator.
#include "derivatives/formula.h"

#include <array>
#include <bitset>

namespace lamella::autograd {
namespace {

struct Number {
  double re, im;
  bool complex, whole;
  int64_t i;
};

Number number(const lamella_value& v) {
  if (v.tag == LAMELLA_COMPLEX) return {v.as.doubles[0], v.as.doubles[1], true, false, 0};
  if (v.tag == LAMELLA_FLOAT || v.tag == LAMELLA_UINT) return {as_double(v), 0, false, false, 0};
  return {static_cast<double>(v.as.i), 0, false, true, v.as.i};
}

struct Evaluation {
  const Rule& rule;
  const lamella_value* saved;
  lamella_tensor* const* grads;
  int num_grads;
  const uint8_t* mask;
  int wanted;
  lamella_value temporaries[most_temporaries];
  double complexes[most_temporaries][2];
  int64_t ints[most_ints];
  int used_ints = 0;
  std::bitset<most_temporaries> owned;  // temporaries to release

  Evaluation(const Rule& r, const lamella_value* s, lamella_tensor* const* g, int n, const uint8_t* m, int w)
      : rule(r), saved(s), grads(g), num_grads(n), mask(m), wanted(w) {}

  lamella_value read(Operand o) const {
    switch (o.from) {
      case Operand::Constant:
        return rule.constants[o.index];
      case Operand::Saved:
        return saved[o.index];
      case Operand::Grad:
        return grads[o.index] ? value(grads[o.index]) : none();
      case Operand::Temporary:
        return temporaries[o.index];
      default:
        return read_list(o);
    }
  }

  // Reads the rare operands: the mask, the list of all gradients, and a gradient counted from the last result.
  __attribute__((noinline)) lamella_value read_list(Operand o) const {
    if (o.from == Operand::LastGrad) {
      lamella_tensor* g = grads[num_grads - o.index];
      return g ? value(g) : none();
    }
    lamella_value v{LAMELLA_BOOL_LIST, static_cast<uint32_t>(wanted), {0}};
    if (o.from == Operand::Grads) {
      v = {LAMELLA_TENSOR_LIST, static_cast<uint32_t>(num_grads), {0}};
      v.as.tensors = grads;
    } else {
      v.as.bools = mask;
    }
    return v;
  }

  lamella_value make(const Number& n, int at) {
    if (n.complex) {
      complexes[at][0] = n.re;
      complexes[at][1] = n.im;
      lamella_value v{LAMELLA_COMPLEX, 0, {0}};
      v.as.doubles = complexes[at];
      return v;
    }
    return n.whole ? value(n.i) : value(n.re);
  }

  static Number calculate(Step::What what, Number a, Number b) {
    Number r{0, 0, a.complex || b.complex, a.whole && b.whole && what != Step::Div, 0};
    switch (what) {
      case Step::Add:
        return {a.re + b.re, a.im + b.im, r.complex, r.whole, a.i + b.i};
      case Step::Sub:
        return {a.re - b.re, a.im - b.im, r.complex, r.whole, a.i - b.i};
      case Step::Mul:
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re, r.complex, r.whole, a.i * b.i};
      default: {
        if (!r.complex) return {a.re / b.re, 0, false, false, 0};
        const double d = b.re * b.re + b.im * b.im;
        return {(a.re * b.re + a.im * b.im) / d, (a.im * b.re - a.re * b.im) / d, true, false, 0};
      }
    }
  }

  // Converts an integer for a parameter that is a float or a list of integers.
  void coerce(uint8_t kind, lamella_value& v) {
    if (kind == LAMELLA_KIND_FLOAT && v.tag == LAMELLA_INT) v = value(static_cast<double>(v.as.i));
    if (kind == (LAMELLA_KIND_INT | list_of) && v.tag == LAMELLA_INT) {
      ints[used_ints] = v.as.i;
      v = {LAMELLA_INT_LIST, 1, {0}};
      v.as.ints = ints + used_ints++;
    }
  }

  lamella_status call(const Step& s) {
    lamella_value args[most_operands];
    for (size_t i = 0; i < s.operands.size(); i++) {
      args[i] = read(s.operands[i]);
      if (s.kinds[i] != LAMELLA_KIND_TENSOR) coerce(s.kinds[i], args[i]);
    }
    for (int i = 0; i < s.returns; i++) temporaries[s.to + i] = none();
    if (lamella_status st =
            api().call(nullptr, s.op, args, static_cast<int32_t>(s.operands.size()), temporaries + s.to, s.returns))
      return st;
    for (int i = 0; i < s.returns; i++) owned.set(static_cast<size_t>(s.to + i));
    return LAMELLA_OK;
  }

  lamella_status conj(const Step& s) {
    static const lamella_operator* const op = api().find_operator("aten::conj", "");
    const lamella_value v = read(s.operands[0]);
    if (v.tag == LAMELLA_COMPLEX) {
      Number n = number(v);
      n.im = -n.im;
      temporaries[s.to] = make(n, s.to);
    } else if (v.tag == LAMELLA_TENSOR && v.as.tensor && is_complex(v.as.tensor)) {
      temporaries[s.to] = none();
      if (lamella_status st = api().call(nullptr, op, &v, 1, &temporaries[s.to], 1)) return st;
      owned.set(static_cast<size_t>(s.to));
    } else {
      temporaries[s.to] = v;
    }
    return LAMELLA_OK;
  }

  lamella_status run(const Step& s) {
    switch (s.what) {
      case Step::Call:
        return call(s);
      case Step::Scale: {  // scaling by 1, the usual alpha, costs nothing
        const lamella_value by = read(s.operands[1]);
        if (!(by.tag == LAMELLA_INT && by.as.i == 1) && !(by.tag == LAMELLA_FLOAT && by.as.d == 1)) return call(s);
        temporaries[s.to] = read(s.operands[0]);
        return LAMELLA_OK;
      }
      case Step::Conj:
        return conj(s);
      case Step::List: {
        lamella_value v{LAMELLA_INT_LIST, static_cast<uint32_t>(s.operands.size()), {0}};
        v.as.ints = ints + used_ints;
        for (Operand o : s.operands) ints[used_ints++] = as_int(read(o));
        temporaries[s.to] = v;
        return LAMELLA_OK;
      }
      case Step::Element: {
        const lamella_value list = read(s.operands[0]);
        int64_t i = as_int(read(s.operands[1]));
        if (list.tag == LAMELLA_INT_LIST && i < 0) i += list.length;
        if (list.tag != LAMELLA_INT_LIST || i < 0 || i >= list.length)
          return fail(LAMELLA_INDEX_ERROR, rule.name + ": its formula names an element that a shape does not have");
        temporaries[s.to] = value(list.as.ints[i]);
        return LAMELLA_OK;
      }
      case Step::Neg:
        temporaries[s.to] = make(calculate(Step::Sub, {0, 0, false, true, 0}, number(read(s.operands[0]))), s.to);
        return LAMELLA_OK;
      default:
        temporaries[s.to] = make(calculate(s.what, number(read(s.operands[0])), number(read(s.operands[1]))), s.to);
        return LAMELLA_OK;
    }
  }
};

}  // namespace

lamella_status evaluate(const Rule& r, const Formula& f, const lamella_value* saved, lamella_tensor* const* grads,
                        int num_grads, const uint8_t* mask, lamella_value* results) {
  Evaluation e(r, saved, grads, num_grads, mask, static_cast<int>(f.targets.size()));
  lamella_status st = LAMELLA_OK;
  for (size_t i = 0; i < f.steps.size() && !st; i++) st = e.run(f.steps[i]);
  const int n = static_cast<int>(f.targets.size());
  for (int i = 0; i < n; i++) {
    results[i] = none();
    if (st) continue;
    const Operand from{f.result.from, static_cast<uint8_t>(f.result.index + i)};
    if (from.from == Operand::Temporary && e.owned[static_cast<size_t>(from.index)]) {
      results[i] = e.temporaries[from.index];
      e.owned.reset(static_cast<size_t>(from.index));
    } else {
      st = api().value_retain(std::array<lamella_value, 1>{e.read(from)}.data(), &results[i]);
    }
  }
  for (int i = 0; i < f.temporaries; i++)
    if (e.owned[static_cast<size_t>(i)]) api().value_release(&e.temporaries[i]);
  for (int i = 0; i < n && st; i++) api().value_release(&results[i]);
  return st;
}

}  // namespace lamella::autograd
