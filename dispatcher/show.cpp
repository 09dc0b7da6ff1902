#include "dispatcher/show.h"

#include "core/device.h"
#include "core/error.h"
#include "dispatcher/fill.h"
#include "dispatcher/layer.h"
#include "dispatcher/operators.h"
#include "dispatcher/prepare.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {

std::string show(const std::string& name) {
  RegistryLock lock;
  std::string base, overload, s;
  split_name(with_namespace(name), &base, &overload);
  for (Operator* op : overloads_of(base)) {
    if (name.find('.') != std::string::npos && op->overload != overload) continue;
    if (prepare(op)) continue;
    s += op->schema_text + "\n  category " + (op->category.empty() ? "none" : op->category) + ", defined by " +
         op->owner;
    if (!op->file.empty()) s += " (" + op->file + ":" + std::to_string(op->line) + ")";
    if (!op->dims.empty()) s += ", dimensions \"" + op->dims + "\"";
    if (op->effects) s += ", has effects on state";
    if (op->since > 1) s += ", since version " + std::to_string(op->since) + " of its namespace";
    if (!op->module.empty()) s += ", shown in the module " + op->module;
    s += "\n";
    std::string who;
    Entry e;
    for (int32_t bit = LAMELLA_MAX_LAYERS - 1; bit >= 0; bit--) {
      const Layer* l = dispatcher::layer(bit);
      if (!l || !l->live) continue;
      bool there = layer_entry(op, bit, &e, &who);
      s += core::format("  layer   %2d %-16s %s\n", bit, l->name.c_str(), there ? who.c_str() : "falls through");
    }
    for (int32_t id = 0; id < core::backend_count(); id++) {
      if (!core::backend(id)) continue;
      backend_entry(op, id, &who);
      s += core::format("  device     %-16s %s\n", core::backend_name(id), who.c_str());
    }
    Operator* meaning = op->functional ? op->functional : op;
    for (Operator* o : {op, meaning}) {
      for (const Registration& r : o->kernels)
        s += core::format("  kernel     %-16s %s%s%s\n", r.key.c_str(), r.owner.c_str(), r.file.empty() ? "" : " ",
                          r.file.empty() ? "" : (r.file + ":" + std::to_string(r.line)).c_str());
      if (op == meaning) break;
    }
  }
  return s;
}

}  // namespace lamella::dispatcher
