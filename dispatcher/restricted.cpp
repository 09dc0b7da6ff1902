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

// Returns the position of the first opaque argument; -1 if there is none, as a layer may have replaced it.
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
                         (layers.empty() ? "It has the key of no layer that could compute with it"
                                         : "Its layers have no kernel for " + operator_title(f.op) + ": " + layers));
}

namespace {

// The first argument whose dtype is not plain, and whether another argument has a different such dtype.
struct OtherDtype {
  int at = -1;
  core::DType dtype = LAMELLA_NO_DTYPE;
  bool several = false;
};
OtherDtype other_dtype(const CallInfo& info, const Value* args) {
  OtherDtype found;
  each_tensor(info, args, [&found](int at, const core::Tensor* t) {
    if (core::is_plain(t->dtype)) return;
    found.several |= found.at >= 0 && found.dtype != t->dtype;
    if (found.at < 0) found = {at, static_cast<core::DType>(t->dtype), false};
  });
  return found;
}

// Returns the kernel whose key is the dtype. Such kernels serve host memory: null on other devices, or if there is
// none.
const Entry* kernel_of(const Frame& f, const Table& t, core::DType dtype) {
  if (core::is_host(f.device.backend))
    for (int i = 0; i < t.num_dtypes; i++)
      if (t.dtypes[i].dtype() == dtype) return &t.dtypes[i];
  return nullptr;
}

// Returns whether an entry reads no elements itself: a composite, or a shape rule that needs no kernel.
bool reads_nothing(const Entry& e) { return (e.flags & no_kernel) || (e.flags & (composite | stores)) == composite; }

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
  const int opaque = first_opaque(*t->info, args);
  const OtherDtype other = other_dtype(*t->info, args);
  f.layer = -1;  // the entry belongs to the operator, not to a layer
  if (lamella_status st = resolve_device(f, *t->info, args)) return st;
  if (f.device.backend >= t->num_backends && !(f.table = t = filled_table(f.op))) return core::pending_error().kind;
  const Entry* e = &t->backends[f.device.backend];
  // A layer has replaced the restricted tensors by plain ones.
  if (opaque < 0 && other.at < 0) return run_entry(f, *e, args, rets);
  const bool crossing = t->info->between_devices && crosses(args);
  Entry casting;
  core::DType dtype = other.dtype;
  bool one_dtype = !other.several;
  if (other.at >= 0 && opaque < 0 && f.op->pointwise && t->infer && t->info->nrets == 1) {
    lamella_meta m;  // the dtype of the computation decides, and operands are converted to it
    if (lamella_status st = infer(f, *t, args, &m, 1)) return st;
    if (f.compute_dtype != LAMELLA_NO_DTYPE) {
      dtype = static_cast<core::DType>(f.compute_dtype);
      one_dtype = true;
    }
    if (core::is_plain(dtype)) {
      casting = *e;
      casting.flags = (e->flags | any_dtype) & ~mixed_dtypes;
      e = &casting;
    }
  }
  if (other.at >= 0 && !crossing && one_dtype)
    if (const Entry* own = kernel_of(f, *t, dtype)) e = own;
  const bool shows_opaque = opaque < 0 || (!crossing && (e->flags & takes_opaque || reads_nothing(*e)));
  const bool shows_dtype = other.at < 0 || crossing || e->flags & any_dtype || e->dtype() || reads_nothing(*e);
  if (shows_opaque && shows_dtype) return run_entry(f, *e, args, rets);
  if (t->fallback) return run_composite(f, *t->fallback, args, rets, args);
  return shows_opaque ? refuse_dtype(f, where(&f, other.at), dtype, "convert it, as with .to(lamella.float32)")
                      : refuse_opaque(f, args);
}

namespace {

// Returns the kernel of a result's dtype; null if there is none, or if an argument has another dtype that is not plain.
const Entry* kernel_of_result(const Frame& f, core::DType dtype, const Value* args) {
  const auto& t = *static_cast<const Table*>(f.table);
  const OtherDtype other = other_dtype(*t.info, args);
  return other.several || (other.at >= 0 && other.dtype != dtype) ? nullptr : kernel_of(f, t, dtype);
}

}  // namespace

bool serves_otherwise(const Frame& f, const Entry& e, core::DType dtype, const Value* args) {
  if (!core::dtype_info(dtype).name) return true;  // the dtype that the shape rule set does not exist
  if (e.dtype()) return e.dtype() != dtype;
  if (e.flags & no_kernel) return false;
  return !(e.flags & any_dtype) || kernel_of_result(f, dtype, args);
}

lamella_status run_for_dtype(Frame& f, const Entry& e, core::DType dtype, const Value* args, Value* rets) {
  const auto* t = static_cast<const Table*>(f.table);
  if (!core::dtype_info(dtype).name)
    return core::raise(LAMELLA_VALUE_ERROR, core::format("%s: its shape rule sets dtype %d, which does not exist",
                                                         operator_title(f.op).c_str(), dtype));
  if (!e.dtype())  // a kernel of another dtype does not pass the call on to a third
    if (const Entry* own = kernel_of_result(f, dtype, args)) return run_entry(f, *own, args, rets);
  if (t->fallback) return run_composite(f, *t->fallback, args, rets, args);
  return refuse_dtype(f, operator_title(f.op) + ": its result", dtype, "ask for a plain one, as lamella.float32");
}

}  // namespace lamella::dispatcher
