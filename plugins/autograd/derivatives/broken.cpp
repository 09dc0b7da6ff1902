// Formulas that do not compile: they are compiled when a call is first recorded, which may be late to hear of a
// misspelled name. autograd::_broken_formulas() tries those of all packages now, for `lamella plugins` and strict mode.
#include <lamella/kernel.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "derivatives/formula.h"

namespace lamella::autograd {
namespace {

struct Kept {
  lamella_handle handle;
  std::string op, owner;
  const void* payload;
};
struct All {
  std::mutex mutex;
  std::vector<Kept> kept;
};
All& all() {
  static auto* a = new All;
  return *a;
}

lamella_status told(void*, lamella_handle handle, const lamella_rule* r, int32_t there) {
  return guarded([&]() -> lamella_status {
    std::lock_guard lock(all().mutex);
    if (there && !r->kind && std::string_view(r->owner) != LAMELLA_PLUGIN_NAME)
      all().kept.push_back({handle, r->op, r->owner, r->payload});
    if (!there) std::erase_if(all().kept, [&](const Kept& k) { return k.handle == handle; });
    return LAMELLA_OK;
  });
}

// What is wrong with a derivative, or nothing. It is compiled apart: what it names may still come.
std::string fault_of(const Kept& k) {
  const size_t point = k.op.find('.');
  const std::string overload = point == std::string::npos ? "" : k.op.substr(point + 1);
  const lamella_operator* op = api().find_operator(k.op.substr(0, point).c_str(), overload.c_str());
  if (!op) return api().error_clear(), "";                      // the dispatcher says that it waits for the operator
  if (api().find_rule(op, "autograd") != k.payload) return "";  // another one has taken its place since
  const auto* prepared = static_cast<const Derivative*>(prepare(nullptr, op, k.payload));
  if (!prepared || (prepared->given.backward && prepared->wrong.empty())) return "";
  Derivative apart{op, prepared->given, prepared->formulas, prepared->wrong, {}};
  apart.given.formulas = apart.formulas.c_str();
  const std::unique_ptr<const Rule> rule(&compile(apart));
  return rule->broken ? rule->error : "";
}

// Three texts for each: the operator, who registered it, what is wrong.
std::vector<std::string> broken_formulas() {
  std::vector<Kept> kept;
  {
    std::lock_guard lock(all().mutex);
    kept = all().kept;
  }
  std::vector<std::string> found;
  for (const Kept& k : kept)
    if (std::string wrong = fault_of(k); !wrong.empty()) found.insert(found.end(), {k.op, k.owner, wrong});
  return found;
}

}  // namespace

LAMELLA_LIBRARY_FRAGMENT(autograd, m) {
  m.def("_broken_formulas() -> str[]", broken_formulas);
  if (!m.status()) check(api().on_rule(m.handle(), "autograd", told, nullptr, nullptr));
}

}  // namespace lamella::autograd
