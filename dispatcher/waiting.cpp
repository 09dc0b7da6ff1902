#include "dispatcher/waiting.h"

#include <algorithm>

#include "dispatcher/kernels.h"
#include "dispatcher/layer.h"
#include "dispatcher/operators.h"
#include "dispatcher/registry_lock.h"
#include "dispatcher/rules.h"

namespace lamella::dispatcher {

std::vector<Waiting> all_waiting() {
  RegistryLock lock;
  std::vector<Waiting> all;
  for (const Operator* op : known_operators())
    for (const Registration& r : op->kernels)
      if (!is_key(r.key)) all.push_back({r.owner, "a kernel of " + op->full_name(), "key", r.key});
  each_category_kernel([&all](const std::string& category, const Registration& r) {
    if (!is_key(r.key)) all.push_back({r.owner, "a kernel of category '" + category + "'", "key", r.key});
  });
  each_rule_of_all([&all](const Rule& r) {
    const std::string what = "a rule of layer '" + r.layer + "' for " + r.op;
    if (!find_operator(r.op)) all.push_back({r.owner, what, "operator", r.op});
    if (layer_bit(r.layer) < 0) all.push_back({r.owner, what, "layer", r.layer});
  });
  std::stable_sort(all.begin(), all.end(), [](const Waiting& a, const Waiting& b) { return a.what < b.what; });
  return all;
}

}  // namespace lamella::dispatcher
