#include "dispatcher/forms.h"

#include <algorithm>

#include "core/device.h"
#include "core/error.h"
#include "dispatcher/checked_call.h"
#include "dispatcher/explain.h"
#include "dispatcher/fill.h"
#include "dispatcher/kernel_run.h"
#include "dispatcher/layer.h"
#include "dispatcher/placement.h"
#include "dispatcher/restricted.h"
#include "dispatcher/slots.h"
#include "dispatcher/targets.h"
#include "dispatcher/transfer.h"

namespace lamella::dispatcher {

using core::DType;
using core::full;
using core::Tensor;

lamella_status infer(Frame& f, const Table& t, const Value* args, lamella_meta* metas, int n) {
  for (int i = 0; i < n; i++) {
    metas[i].kind = LAMELLA_META_FRESH;
    metas[i].dtype = LAMELLA_NO_DTYPE;
    metas[i].flags = 0;
  }
  f.context = t.infer_context;
  lamella_status st = t.run_infer(f, args, metas);
  for (int i = 0; i < n && !st; i++)
    if (__builtin_expect(metas[i].flags > 7, 0)) st = unknown_bits(f, metas[i]);
  return st;
}

namespace {

// Returns whether a result's dtype is not plain, and another kernel must compute it.
inline bool beyond(const Frame& f, const Entry& e, const lamella_meta& m, const Value* args) {
  return __builtin_expect(!core::is_plain(m.dtype), 0) && m.kind == LAMELLA_META_FRESH &&
         serves_otherwise(f, e, m.dtype, args);
}

__attribute__((cold, noinline)) lamella_status new_pinned(const Frame& f, const lamella_meta& m, Tensor** out) {
  if (!core::is_host(f.device.backend))
    return core::raise(LAMELLA_RUNTIME_ERROR, operator_title(f.op) +
                                                  ": only memory of the host can be pinned, not "
                                                  "that of device '" +
                                                  core::device_name(f.device) + "'");
  return core::new_pinned(m.ndim, m.sizes, m.flags & LAMELLA_META_STRIDES ? m.strides : nullptr, m.dtype, out);
}

inline lamella_status new_fresh(const Frame& f, const lamella_meta& m, Tensor** out) {
  if (__builtin_expect(m.flags & LAMELLA_META_PINNED, 0)) return new_pinned(f, m, out);
  return core::new_tensor(m.ndim, m.sizes, m.flags & LAMELLA_META_STRIDES ? m.strides : nullptr, m.dtype, f.device,
                          out);
}

lamella_status dropped(Tensor* t, lamella_status st) {
  core::release(t);
  return st;
}

lamella_status make_result(Frame& f, const lamella_meta& m, const Value* args, Value* ret) {
  Tensor* t;
  switch (m.kind) {
    case LAMELLA_META_FRESH:
      if (lamella_status st = new_fresh(f, m, &t)) return st;
      break;
    case LAMELLA_META_ALIAS: {
      Tensor* of = full(args[m.alias_of].as.tensor);
      if (__builtin_expect(m.dtype != LAMELLA_NO_DTYPE, 0))
        if (const lamella_backend* b = core::backend(of->backend); b && !core::has_dtype(b, m.dtype))
          return core::lacks_dtype(b, m.dtype);
      t = core::new_view(of, m.ndim, m.sizes, m.strides, m.offset, m.dtype);
      t->keys |= of->keys & alias_layers.load(std::memory_order_relaxed);
      if (lamella_status st = carry(of, t, LAMELLA_CARRY_VIEW)) return dropped(t, st);
      break;
    }
    case LAMELLA_META_DETACHED: {
      Tensor* of = full(args[m.alias_of].as.tensor);
      t = core::new_alias(of, m.ndim, m.sizes, m.strides, m.offset);
      if (lamella_status st = carry(of, t, LAMELLA_CARRY_DETACH)) return dropped(t, st);
      break;
    }
    case LAMELLA_META_SAME:
      t = full(args[m.alias_of].as.tensor);
      core::retain(t);
      break;
    case LAMELLA_META_DYNAMIC:
    case LAMELLA_META_NONE:
      *ret = core::none();
      return LAMELLA_OK;
    default:
      return core::raise(LAMELLA_VALUE_ERROR,
                         core::format("%s: its shape rule sets kind %d, which does not exist; kinds are 0 to %d",
                                      operator_title(f.op).c_str(), m.kind, LAMELLA_META_NONE));
  }
  *ret = core::tensor_value(t);
  return LAMELLA_OK;
}

// A functional call with one result: usually a fresh tensor, which a native kernel fills.
inline __attribute__((always_inline)) lamella_status run_single(Frame& f, const Table& t, const Entry& e,
                                                                const Value* args, Value* rets) {
  lamella_meta m;
  m.kind = LAMELLA_META_FRESH;
  m.dtype = LAMELLA_NO_DTYPE;
  m.flags = 0;
  f.context = t.infer_context;
  if (lamella_status st = t.run_infer(f, args, &m)) return st;
  if (__builtin_expect(m.flags > 7, 0)) return unknown_bits(f, m);
  if (beyond(f, e, m, args)) return run_for_dtype(f, e, m.dtype, args, rets);
  rets[0].tag = LAMELLA_NONE;
  lamella_status st;
  if (__builtin_expect(m.kind == LAMELLA_META_FRESH, 1)) {
    Tensor* out;
    if ((st = new_fresh(f, m, &out))) {
      name_operator(f);
      return st;
    }
    rets[0] = core::tensor_value(out);
  } else {
    if (m.kind == LAMELLA_META_DYNAMIC && (e.flags & no_kernel)) return dynamic_without_kernel(f);
    if ((st = make_result(f, m, args, &rets[0]))) return st;
  }
  if (__builtin_expect((e.flags & (mixed_dtypes | calls_operators | no_kernel | copies)) == mixed_dtypes, 1)) {
    f.context = e.context;
    st = e(f, args, rets);
    if (__builtin_expect(f.scratch != nullptr, 0)) free_scratch(f);
    if (__builtin_expect(st != LAMELLA_OK, 0)) st = name_device(f, st);
  } else {
    st = run_kernel(f, e, args, rets);
    if (!st && (e.flags & copies)) st = carry(full(args[0].as.tensor), full(rets[0].as.tensor), LAMELLA_CARRY_COPY);
  }
  if (__builtin_expect(m.kind == LAMELLA_META_DYNAMIC, 0) && !st) st = check_result(f.op, 0, rets[0]);
  if (__builtin_expect(st != LAMELLA_OK, 0)) core::release_value(rets[0]);
  return st;
}

// Copies between devices: by the kernel of the destination's device or of the source's if it takes such copies, else by
// moving bytes.
lamella_status copy_across(Frame& f, const Table& t, const Value* args, Value* rets) {
  for (int i : {0, 1}) {
    const uint32_t device = args[i].as.tensor->backend;
    if (device >= static_cast<uint32_t>(t.num_backends) || !(t.backends[device].flags & between_devices)) continue;
    const lamella_status st = run_kernel(f, t.backends[device], args, rets);
    if (st != LAMELLA_NOT_IMPLEMENTED && st != LAMELLA_DECLINED) return st;
    core::pending_error().clear();
  }
  const bool non_blocking = args[2].tag == LAMELLA_BOOLEAN && args[2].as.i != 0;
  return copying().between_devices(full(args[0].as.tensor), full(args[1].as.tensor), non_blocking);
}

lamella_status run_several(Frame& f, const Table& t, const Entry& e, const Value* args, Value* rets) {
  const int n = t.info->nrets;
  auto* metas = static_cast<lamella_meta*>(__builtin_alloca(sizeof(lamella_meta) * (n + 1)));  // a kilobyte each
  if (lamella_status st = infer(f, t, args, metas, n)) return st;
  for (int i = 0; i < n; i++)
    if (beyond(f, e, metas[i], args)) return run_for_dtype(f, e, metas[i].dtype, args, rets);
  if (__builtin_expect(t.info->written != 0, 0))
    if (lamella_status st = check_all_writable(f, *t.info, args)) return st;
  lamella_status st = LAMELLA_OK;
  for (int i = 0; i < n; i++) {
    rets[i] = core::none();
    if (!st) st = make_result(f, metas[i], args, &rets[i]);
    if (!st && metas[i].kind == LAMELLA_META_DYNAMIC && (e.flags & no_kernel)) st = dynamic_without_kernel(f);
  }
  if (!st) st = t.info->between_devices && crosses(args) ? copy_across(f, t, args, rets) : run_kernel(f, e, args, rets);
  for (int i = 0; !st && i < n; i++)
    if (metas[i].kind == LAMELLA_META_DYNAMIC) st = check_result(f.op, i, rets[i]);
  if (__builtin_expect(st != LAMELLA_OK, 0)) release_all(rets, n);
  return st;
}

// Raises unless the i-th result, which a kernel or a composite allocated, can be stored in its target. `exact` is what
// the shape rule says.
lamella_status check_computed(Frame& f, const CallInfo& info, int i, bool exact, const Value* args,
                              const Value& computed) {
  if (computed.tag != LAMELLA_TENSOR || !computed.as.tensor)
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       core::format("%s: result %d must be a tensor, got %s", operator_title(f.op).c_str(), i,
                                    core::describe(computed).c_str()));
  const int at = target_position(info, i);
  const Tensor* result = full(computed.as.tensor);
  return check_target(f, info, at, full(args[at].as.tensor), exact, result->dtype, result->ndim(), result->sizes());
}

// Stores results that were allocated, unless `st` is an error, and releases them. `metas` is what the shape rule says,
// or null.
lamella_status store_computed(Frame& f, const CallInfo& info, const lamella_meta* metas, const Value* args,
                              Value* computed, Value* rets, lamella_status st) {
  const int n = info.nrets;
  clear(rets, n);
  for (int i = 0; i < n && !st; i++)
    st = check_computed(f, info, i, metas && metas[i].flags & LAMELLA_META_EXACT, args, computed[i]);
  for (int i = 0; i < n && !st; i++)
    st = store_result(f, full(args[target_position(info, i)].as.tensor), full(computed[i].as.tensor), &rets[i]);
  if (st) release_all(rets, n);
  release_all(computed, n);
  return st;
}

// Runs in-place and out= forms: the kernel of the functional form computes into the target, or into a temporary if the
// target overlaps an input, has another dtype or shape than the result, or must stay unchanged after a fault.
lamella_status run_into(Frame& f, const Table& t, const Entry& e, const Value* args, Value* rets) {
  const CallInfo& info = *t.info;
  const int n = info.nrets;
  auto* metas = static_cast<lamella_meta*>(__builtin_alloca(sizeof(lamella_meta) * (n + 1)));
  if (lamella_status st = infer(f, t, args, metas, n)) return st;
  // The kernel allocates results whose shapes depend on the data.
  if (std::any_of(metas, metas + n, [](const lamella_meta& m) { return m.kind == LAMELLA_META_DYNAMIC; })) {
    if (e.flags & no_kernel) return dynamic_without_kernel(f);
    Value computed[LAMELLA_MAX_RETURNS];
    clear(computed, n);
    const lamella_status st = run_kernel(f, e, args, computed);
    return store_computed(f, info, metas, args, computed, rets, st);
  }
  const bool elementwise = f.op->pointwise != nullptr;
  auto* into = static_cast<Value*>(__builtin_alloca(sizeof(Value) * (n + 1)));
  std::vector<core::TensorRef> beside;  // temporaries; empty in the usual call
  for (int i = 0; i < n; i++) {
    const lamella_meta& m = metas[i];
    if (beyond(f, e, m, args)) return run_for_dtype(f, e, m.dtype, args, rets);
    int at = target_position(info, i);
    Tensor* target = full(args[at].as.tensor);
    if (m.kind != LAMELLA_META_FRESH)
      return core::raise(LAMELLA_NOT_IMPLEMENTED,
                         operator_title(f.op) + ": this operator has no in-place or out= form");
    bool overlap = false;
    each_tensor(info, args, [&](int k, const Tensor* in) {
      bool output = info.form == Form::Out && k >= info.first_out;
      if (!output || (output && k != at && in != target)) overlap |= overlaps(target, in, elementwise && !output);
    });
    const bool exact = m.flags & LAMELLA_META_EXACT;
    if (lamella_status st = check_target(f, info, at, target, exact, m.dtype, m.ndim, m.sizes)) return st;
    into[i] = core::tensor_value(target);
    bool converts = target->dtype != m.dtype && !((e.flags & mixed_dtypes) && elementwise);
    // A kernel that may stop at a fault (an integer division by zero, an index out of range) must leave its target
    // unchanged then, so it computes into a temporary.
    bool may_fault =
        elementwise ? f.op->pointwise->fault && core::dtype_class(m.dtype) == LAMELLA_CLASS_INTEGRAL : f.op->may_fault;
    if (overlap || converts || may_fault || !has_shape(target, m.ndim, m.sizes)) {
      Tensor* temporary;
      if (lamella_status st = new_fresh(f, m, &temporary)) return st;
      beside.resize(n);
      beside[i] = core::TensorRef::steal(temporary);
      into[i] = core::tensor_value(temporary);
    }
  }
  if (lamella_status st = run_kernel(f, e, args, into)) return st;
  lamella_status st = LAMELLA_OK;
  for (int i = 0; i < n; i++) {
    Tensor* target = full(args[target_position(info, i)].as.tensor);
    rets[i] = core::none();
    Tensor* computed = beside.empty() || !beside[i] ? target : beside[i].get();
    if (!st) st = store_result(f, target, computed, &rets[i]);
  }
  if (st) release_all(rets, n);
  return st;
}

}  // namespace

lamella_status run_composite(Frame& f, const Entry& e, const Value* args, Value* rets, const Value* read) {
  const Table& table = *static_cast<const Table*>(f.table);
  const CallInfo& info = *table.info;
  lamella_meta* checked = nullptr;
  if (table.infer) {  // the shape rule checks the arguments, so the composite need not
    checked = static_cast<lamella_meta*>(__builtin_alloca(sizeof(lamella_meta) * (info.nrets + 1)));
    if (lamella_status st = infer(f, table, args, checked, info.nrets)) return st;
  }
  if (info.written && info.form == Form::Functional)
    if (lamella_status st = check_all_writable(f, info, args)) return st;
  uint64_t saved = f.thread->exclude;
  f.thread->exclude |= f.passed & ~inside_layers.load(std::memory_order_relaxed);
  f.context = e.context;
  const Calling calling(f);
  lamella_status st = LAMELLA_OK;
  if (info.form == Form::Functional) {
    clear(rets, info.nrets);
    st = e(f, read, rets);
    for (int i = 0; !st && i < info.nrets; i++) st = check_result(f.op, i, rets[i]);
    if (__builtin_expect(st != LAMELLA_OK, 0)) release_all(rets, info.nrets);
  } else {
    Value computed[LAMELLA_MAX_RETURNS];
    clear(computed, info.nrets);
    st = e(f, read, computed);
    st = store_computed(f, info, checked, args, computed, rets, st);
  }
  f.thread->exclude = saved;
  if (__builtin_expect(st <= LAMELLA_OK, 1)) return st;
  static_cast<CallFrame&>(f).half_written |= (e.flags & fails_late) != 0;
  name_operator(f);
  return st;
}

// Inlined into the call path, and once more into run_any(), which is seldom called.
static inline __attribute__((always_inline)) lamella_status run_chosen(Frame& f, const Table& t, const Entry& e,
                                                                       const Value* args, Value* rets) {
  if (__builtin_expect(e.flags & composite, 0)) return run_composite(f, e, args, rets, args);
  if (t.info->form != Form::Functional) {
    if (e.fn == missing_kernel) return missing_kernel(&f, args, rets);
    if (t.infer) return run_into(f, t, e, args, rets);
  }
  const bool crossing = t.info->between_devices && crosses(args);  // needs no kernel of the destination
  if (t.infer && (e.fn != missing_kernel || crossing))
    return t.info->nrets == 1 && !t.info->written ? run_single(f, t, e, args, rets) : run_several(f, t, e, args, rets);
  clear(rets, t.info->nrets);
  lamella_status st = run_kernel(f, e, args, rets);
  for (int i = 0; !st && i < t.info->nrets; i++) st = check_result(f.op, i, rets[i]);
  if (st) release_all(rets, t.info->nrets);
  return st;
}

namespace {

__attribute__((noinline)) lamella_status run_any(Frame& f, const Entry& e, const Value* args, Value* rets) {
  return run_chosen(f, *static_cast<const Table*>(f.table), e, args, rets);
}

// Runs an out= form that reads no tensor: its result has the dtype and the device of its target. Raises if the caller
// gives others.
__attribute__((cold, noinline)) lamella_status run_creation(Frame& f, const Value* args, Value* rets) {
  const CallInfo& info = *static_cast<const Table*>(f.table)->info;
  const Tensor* target = full(args[info.first_out].as.tensor);
  const Value &dtype = args[info.target_dtype], &device = args[info.device];
  const auto clash = [&](int at, const std::string& what) {
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       core::format("%s is %s, but 'out' has %s; leave the argument out", where(&f, at).c_str(),
                                    core::describe(args[at]).c_str(), what.c_str()));
  };
  if (dtype.tag == LAMELLA_DTYPE && dtype.as.i != target->dtype)
    return clash(info.target_dtype, std::string("dtype ") + core::dtype_info(target->dtype).name);
  if (device.tag == LAMELLA_DEVICE && !core::same_device(device.as.device, target->device()))
    return clash(info.device, "device " + core::device_name(target->device()));
  std::vector<Value> given(args, args + info.nargs);
  given[info.target_dtype] = core::dtype_value(target->dtype);
  given[info.device] = core::device_value(f.device = target->device());
  const auto* t = static_cast<const Table*>(f.table);
  if (f.device.backend >= t->num_backends && !(f.table = t = filled_table(f.op))) return core::pending_error().kind;
  const lamella_status st = run_any(f, t->backends[f.device.backend], given.data(), rets);
  if (st == LAMELLA_DECLINED) return run_declined(f, given.data(), rets);
  if (st > LAMELLA_OK) name_operator(f);
  return st;
}

}  // namespace

lamella_status run_backend(Frame& f, const Value* args, Value* rets) {
  auto* t = static_cast<const Table*>(f.table);
  f.layer = -1;
  if (__builtin_expect(t->info->target_dtype >= 0, 0)) return run_creation(f, args, rets);
  if (lamella_status st = resolve_device(f, *t->info, args)) return st;
  // The backend was registered after the table was filled.
  if (__builtin_expect(f.device.backend >= t->num_backends, 0)) {
    if (!(f.table = t = filled_table(f.op))) return core::pending_error().kind;
  }
  return run_chosen(f, *t, t->backends[f.device.backend], args, rets);
}

lamella_status run_declined(Frame& f, const Value* args, Value* rets) {
  const Entry& next = static_cast<const Table*>(f.table)->next[f.device.backend];
  if (next.fn == missing_kernel) return declined_by_all(f);
  const lamella_status st = run_any(f, next, args, rets);
  return st == LAMELLA_DECLINED ? declined_by_all(f) : st;
}

__attribute__((cold)) lamella_status run_entry(Frame& f, const Entry& e, const Value* args, Value* rets) {
  const lamella_status st = run_any(f, e, args, rets);
  if (st != LAMELLA_DECLINED) return st;
  const Entry* composite = static_cast<const Table*>(f.table)->fallback;
  return composite ? run_composite(f, *composite, args, rets, args) : declined_by_all(f);
}

}  // namespace lamella::dispatcher
