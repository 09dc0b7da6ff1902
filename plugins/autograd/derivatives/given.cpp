// prepare() copies a lamella_derivative that another library registered. Copies are never freed, because running calls
// and graphs may need them.
#include "graph/given.h"

#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "derivatives/formula.h"
#include "fork.h"

namespace lamella::autograd {

void* prepare(void*, const lamella_operator* op, const void* payload) try {
  static auto& mutex = new_innermost_mutex();
  static auto& all = *new std::map<std::pair<const lamella_operator*, const void*>, Derivative*>;
  auto d = std::make_unique<Derivative>();
  d->op = op;
  d->wrong = copy_given(*static_cast<const lamella_derivative*>(payload), &d->given);
  const int32_t had = d->given.num_args, has = api().operator_num_args(op);
  if (d->wrong.empty() && (had < 0 || had > has))
    d->wrong = "it was written for " + std::to_string(had) + " arguments, the operator has " + std::to_string(has);
  if (d->wrong.empty() && had && (api().operator_argument(op, has - 1)->flags & LAMELLA_ARGUMENT_OUT))
    d->wrong = "'num_args' must be zero, since the operator's last arguments are outputs";
  if (d->wrong.empty() && !d->given.formulas && !d->given.backward)
    d->wrong = "it has neither formulas nor a function `backward`";
  if (d->given.formulas) {
    d->formulas = d->given.formulas;
    d->given.formulas = d->formulas.c_str();
  }
  const auto says_the_same = [&d](const Derivative& o) {
    const lamella_derivative &a = o.given, &b = d->given;
    return o.wrong == d->wrong && o.formulas == d->formulas && !a.formulas == !b.formulas && a.setup == b.setup &&
           a.backward == b.backward && a.context == b.context && a.num_args == b.num_args;
  };
  std::lock_guard lock(mutex);
  Derivative*& there = all[{op, payload}];
  if (!there || !says_the_same(*there)) there = d.release();
  return there;
} catch (const std::bad_alloc&) {
  return nullptr;
}

}  // namespace lamella::autograd
