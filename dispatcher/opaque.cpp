#include "dispatcher/opaque.h"

#include "core/error.h"
#include "dispatcher/explain.h"
#include "dispatcher/fill.h"
#include "dispatcher/forms.h"
#include "dispatcher/layer.h"
#include "dispatcher/placement.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {
namespace {

// The position of the first opaque argument, or -1: a layer may have replaced it.
int first_opaque(const CallInfo& info, const Value* args) {
  int found = -1;
  each_tensor(info, args, [&found](int at, const core::Tensor* t) {
    if (found < 0 && t->opaque()) found = at;
  });
  return found;
}

const core::Tensor* opaque_in(const Value& v) {
  if (v.tag == LAMELLA_TENSOR) return core::full(v.as.tensor);
  for (uint32_t i = 0; i < v.length; i++)
    if (v.as.tensors[i] && core::full(v.as.tensors[i])->opaque()) return core::full(v.as.tensors[i]);
  return nullptr;
}

}  // namespace

std::string layers_of(const core::Tensor* t) {
  std::string names;
  RegistryLock lock;
  for (uint64_t keys = (t->keys | t->storage->sticky) & ~core::opaque_key; keys; keys &= keys - 1)
    if (const Layer* l = layer(__builtin_ctzll(keys)); l && l->live)
      names += (names.empty() ? "'" : ", '") + l->name + "' (" + l->owner + ")";
  return names;
}

lamella_status refuse_opaque(const Frame& f, const Value* args) {
  const int at = first_opaque(*static_cast<const Table*>(f.table)->info, args);
  const std::string layers = at < 0 ? "" : layers_of(opaque_in(args[at]));
  return core::raise(LAMELLA_NOT_IMPLEMENTED,
                     (at < 0 ? operator_title(f.op) + ": an argument" : where(&f, at)) +
                         " is opaque: it has a shape and a dtype, but no memory that a kernel could read. " +
                         (layers.empty() ? "It asks for no layer that knows its values"
                                         : "Its layers have no kernel for " + operator_title(f.op) + ": " + layers));
}

lamella_status run_opaque(Frame* frame, const Value* args, Value* rets) {
  auto& f = *static_cast<CallFrame*>(frame);
  f.given = args;  // looked at here, even if these are a checked build's copies: redispatch does not come back
  const auto* t = static_cast<const Table*>(f.table);
  if (first_opaque(*t->info, args) < 0) return redispatch(frame, args, rets);
  if (lamella_status st = resolve_device(f, *t->info, args)) return st;
  if (f.device.backend >= t->num_backends && !(f.table = t = filled_table(f.op))) return core::pending_error().kind;
  const Entry& e = t->backends[f.device.backend];
  const bool crossing = t->info->between_devices && crosses(args);
  if (!crossing && (e.flags & (takes_opaque | composite | no_kernel))) return redispatch(frame, args, rets);
  f.layer = -1;  // the composite is the operator's own, not a kernel of a layer's
  return t->fallback ? run_composite(f, *t->fallback, args, rets, args) : refuse_opaque(f, args);
}

}  // namespace lamella::dispatcher
