// compile(): makes the rule of a derivative at its first use. If the formulas are wrong, the rule holds the error.
#include "derivatives/compiler.h"
#include "fork.h"

namespace lamella::autograd {

const Rule& compile(Derivative& d) {
  static auto& mutex = new_locks<std::recursive_mutex>();
  std::lock_guard lock(mutex);
  if (const Rule* done = d.rule.load(std::memory_order_acquire)) return *done;
  auto r = std::make_unique<Rule>();
  const lamella_operator* functional = api().operator_functional(d.op);
  r->op = functional ? functional : d.op;
  r->name = node_name(r->op);
  if (d.given.num_args < api().operator_num_args(d.op)) r->written_for = d.given.num_args;
  try {
    if (!d.wrong.empty()) throw Bad{d.wrong};
    Compiler(*r, d.given.formulas).run();
    if (!d.given.formulas) r->functions = &d.given;
    for (const Save& s : r->saves) {
      r->saves_tensors |=
          s.what == Save::Result ||
          (s.what == Save::Argument && api().operator_argument(r->op, s.index)->kind == LAMELLA_KIND_TENSOR);
    }
  } catch (const Bad& bad) {
    api().error_clear();
    r->broken = LAMELLA_VALUE_ERROR;
    r->error = operator_text(r->op) + ": its derivative " + (d.wrong.empty() ? "\"" + d.formulas + "\" " : "") +
               "is wrong: " + bad.why;
  }
  d.rule.store(r.get(), std::memory_order_release);
  return *r.release();
}

}  // namespace lamella::autograd
