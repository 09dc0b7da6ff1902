// Finds formulas that do not compile. A formula is compiled when a call is first recorded, so a misspelled name could
// stay unnoticed for long; autograd::_broken_formulas() compiles all formulas now, for `lamella plugins` and strict
// mode.
#include <lamella/kernel.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "derivatives/formula.h"
#include "fork.h"

namespace lamella::autograd {
namespace {

struct FormulaRule {
  lamella_handle handle;
  std::string op, owner;
  const void* payload;
};
struct FormulaRules {
  std::mutex& mutex = new_innermost_mutex();
  std::vector<FormulaRule> list;
};
FormulaRules& rules() {
  static auto* a = new FormulaRules;
  return *a;
}

lamella_status note_rule(void*, lamella_handle handle, const lamella_rule* r, int32_t there) {
  return guarded([&]() -> lamella_status {
    std::lock_guard lock(rules().mutex);
    if (there && !r->kind && std::string_view(r->owner) != LAMELLA_PLUGIN_NAME)
      rules().list.push_back({handle, r->op, r->owner, r->payload});
    if (!there) std::erase_if(rules().list, [&](const FormulaRule& k) { return k.handle == handle; });
    return LAMELLA_OK;
  });
}

// Returns the error of a derivative that does not compile, or "". It compiles a copy, because the derivative itself may
// compile later, when the operators that it names are registered.
std::string fault_of(const FormulaRule& k) {
  const size_t point = k.op.find('.');
  const std::string overload = point == std::string::npos ? "" : k.op.substr(point + 1);
  const lamella_operator* op = api().find_operator(k.op.substr(0, point).c_str(), overload.c_str());
  if (!op) return api().error_clear(), "";  // the dispatcher reports derivatives that wait for their operator
  if (api().find_rule(op, "autograd") != k.payload) return "";  // another derivative has replaced it
  const auto* prepared = static_cast<const Derivative*>(prepare(nullptr, op, k.payload));
  if (!prepared || (prepared->given.backward && prepared->wrong.empty())) return "";
  Derivative apart{op, prepared->given, prepared->formulas, prepared->wrong, {}};
  apart.given.formulas = apart.formulas.c_str();
  const std::unique_ptr<const Rule> rule(&compile(apart));
  return rule->broken ? rule->error : "";
}

// Returns three strings for each broken derivative: the operator, the owner of the rule, and the error.
std::vector<std::string> broken_formulas() {
  std::vector<FormulaRule> kept;
  {
    std::lock_guard lock(rules().mutex);
    kept = rules().list;
  }
  std::vector<std::string> found;
  for (const FormulaRule& k : kept)
    if (std::string wrong = fault_of(k); !wrong.empty()) found.insert(found.end(), {k.op, k.owner, wrong});
  return found;
}

}  // namespace

LAMELLA_LIBRARY_FRAGMENT(autograd, m) {
  m.def("_broken_formulas() -> str[]", broken_formulas);
  if (!m.status()) check(api().on_rule(m.handle(), "autograd", note_rule, nullptr, nullptr));
}

}  // namespace lamella::autograd
