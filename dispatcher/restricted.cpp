#include "dispatcher/restricted.h"

#include "core/device.h"
#include "core/dtype.h"
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
  for (uint64_t keys = (t->keys | t->storage->sticky) & ~core::restricted_key; keys; keys &= keys - 1)
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

namespace {

// The position of the first argument whose dtype is not plain, or -1; *dtype is the dtype.
int first_other_dtype(const CallInfo& info, const Value* args, core::DType* dtype) {
  int found = -1;
  each_tensor(info, args, [&](int at, const core::Tensor* t) {
    if (found >= 0 || core::is_plain(t->dtype)) return;
    found = at;
    *dtype = t->dtype;
  });
  return found;
}

// The kernel whose key is the dtype: for tensors in host memory.
const Entry* kernel_of(const Frame& f, const Table& t, core::DType dtype) {
  if (core::is_host(f.device.backend))
    for (int i = 0; i < t.num_dtypes; i++)
      if (t.dtypes[i].dtype == dtype) return &t.dtypes[i].entry;
  return nullptr;
}

lamella_status refuse_dtype(const Frame& f, const std::string& what, core::DType dtype, const char* instead) {
  return core::raise(LAMELLA_NOT_IMPLEMENTED,
                     core::format("%s has dtype %s, for which '%s' has no kernel of %s; %s", what.c_str(),
                                  core::dtype_info(dtype).name, core::backend_name(f.device.backend),
                                  operator_title(f.op).c_str(), instead));
}

}  // namespace

lamella_status run_restricted(Frame* frame, const Value* args, Value* rets) {
  Frame& f = *frame;
  const auto* t = static_cast<const Table*>(f.table);
  core::DType dtype = LAMELLA_NO_DTYPE;
  const int opaque = first_opaque(*t->info, args), other = first_other_dtype(*t->info, args, &dtype);
  if (opaque < 0 && other < 0) return run_backend(f, args, rets);  // a layer has put plain ones in their places
  f.layer = -1;  // what runs is the operator's own, not a kernel of a layer's
  if (lamella_status st = resolve_device(f, *t->info, args)) return st;
  if (f.device.backend >= t->num_backends && !(f.table = t = filled_table(f.op))) return core::pending_error().kind;
  const Entry* e = &t->backends[f.device.backend];
  const bool crossing = t->info->between_devices && crosses(args);
  Entry casting;
  if (other >= 0 && opaque < 0 && f.op->pointwise && t->infer) {  // what it computes in decides, as for plain ones
    lamella_meta m;
    if (lamella_status st = infer(f, *t, args, &m, 1)) return st;
    dtype = static_cast<core::DType>(f.compute_dtype);
    if (core::is_plain(dtype)) {
      casting = *e;
      casting.flags = (e->flags | any_dtype) & ~mixed_dtypes;  // its operands are converted before
      e = &casting;
    }
  }
  if (other >= 0 && !crossing)
    if (const Entry* own = kernel_of(f, *t, dtype)) e = own;
  const uint32_t reads_nothing = composite | no_kernel;
  const bool shows_opaque = opaque < 0 || (!crossing && e->flags & (takes_opaque | reads_nothing));
  const bool shows_dtype = other < 0 || crossing || e->flags & (any_dtype | reads_nothing);
  if (shows_opaque && shows_dtype) return run_entry(f, *e, args, rets);
  if (t->fallback) return run_composite(f, *t->fallback, args, rets, args);
  return shows_opaque ? refuse_dtype(f, where(&f, other), dtype, "convert it, as with .to(lamella.float32)")
                      : refuse_opaque(f, args);
}

bool serves_otherwise(const Frame& f, const Entry& e, core::DType dtype) {
  if (e.flags & (of_dtype | no_kernel)) return false;
  return !(e.flags & any_dtype) || kernel_of(f, *static_cast<const Table*>(f.table), dtype);
}

lamella_status run_for_dtype(Frame& f, core::DType dtype, const Value* args, Value* rets) {
  const auto* t = static_cast<const Table*>(f.table);
  if (const Entry* own = kernel_of(f, *t, dtype)) return run_entry(f, *own, args, rets);
  if (t->fallback) return run_composite(f, *t->fallback, args, rets, args);
  return refuse_dtype(f, operator_title(f.op) + ": its result", dtype, "ask for a plain one, as lamella.float32");
}

}  // namespace lamella::dispatcher
