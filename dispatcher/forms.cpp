// The forms of a call at backend level: functional (infer, allocate, compute into), in-place (infer, check, into
// self), out= (infer, resize, into), composites, and what overlapping memory and dtypes need around a kernel.
#include <algorithm>
#include <cstdlib>

#include "core/device.h"
#include "core/error.h"
#include "core/promotion.h"
#include "dispatcher/checked_call.h"

namespace lamella::dispatcher {
namespace {

using core::DType;
using core::full;
using core::Tensor;

// An error from further in (a composite's callee, the allocator) also says which operator the caller asked for.
void name_operator(Frame& f) {
  core::Error& e = core::pending_error();
  std::string title = operator_title(f.op) + ": ";
  if (e.kind != LAMELLA_HOST_ERROR && e.message.rfind(title, 0) != 0) e.message = title + e.message;
}

// A kernel's error, with the device; the host's go without saying.
lamella_status name_device(Frame& f, lamella_status st) {
  if (st == LAMELLA_RETRY || core::is_host(f.device.backend)) return st;
  return core::from_backend(st, f.device, operator_title(f.op));
}

// Every tensor argument with its position; lists included.
template <class Visit>
void each_tensor(const CallInfo& info, const Value* args, Visit visit) {
  for (int i = 0; i < info.num_tensors; i++) {
    const Value& v = args[info.tensors[i]];
    if (v.tag == LAMELLA_TENSOR && v.as.tensor) visit(info.tensors[i], full(v.as.tensor));
  }
  for (int i = 0; i < info.num_lists; i++) {
    const Value& v = args[info.lists[i]];
    if (v.tag != LAMELLA_TENSOR_LIST) continue;
    for (uint32_t k = 0; k < v.length; k++)
      if (v.as.tensors[k]) visit(info.lists[i], full(v.as.tensors[k]));
  }
}

lamella_status check_device(Frame& f) {
  const lamella_backend* b = core::backend(f.device.backend);
  if (__builtin_expect(b && f.device.index == 0 && !b->device_count, 1)) return LAMELLA_OK;
  if (f.device.backend == -1)
    return core::raise(LAMELLA_RUNTIME_ERROR, operator_title(f.op) +
                                                  ": no host backend is loaded, so there is no default "
                                                  "device; load the cpu plugin or pass device=");
  return core::check_device(operator_title(f.op), f.device);
}

// Zero-dim tensors on a host device do not vote unless there is nothing else.
lamella_status vote(Frame& f, const CallInfo& info, const Value* args) {
  const Tensor *voter = nullptr, *other = nullptr, *silent = nullptr;
  int voter_at = 0, other_at = 0;
  each_tensor(info, args, [&](int at, const Tensor* t) {
    if (t->ndim() == 0 && core::is_host(t->backend)) {
      silent = t;
    } else if (!voter) {
      voter = t;
      voter_at = at;
    } else if (!other && !core::operator_equal(voter->device(), t->device())) {
      other = t;
      other_at = at;
    }
  });
  if (other) return device_clash(f, voter_at, other_at, voter, other);
  if (!voter) voter = silent;
  if (voter) {
    f.device = voter->device();
    return LAMELLA_OK;
  }
  f.device = f.thread->default_device;
  if (f.device.backend < 0) f.device = {core::host_backend(), 0};
  return check_device(f);
}

int32_t item_bytes(const Tensor* t) { return static_cast<int32_t>(core::itemsize(t->dtype)); }

bool same_geometry(const Tensor* a, const Tensor* b) {
  if (a->dl.data != b->dl.data || a->dtype != b->dtype || a->ndim() != b->ndim()) return false;
  for (int i = 0; i < a->ndim(); i++)
    if (a->sizes()[i] != b->sizes()[i] || (a->strides()[i] != b->strides()[i] && a->sizes()[i] > 1)) return false;
  return true;
}

// May writing `out` change what is still to be read from `in`?
bool overlaps(const Tensor* out, const Tensor* in, bool elementwise) {
  if (out->storage != in->storage || out->numel == 0 || in->numel == 0) return false;
  if (elementwise && same_geometry(out, in)) return false;
  int64_t a = out->storage_offset * item_bytes(out), b = in->storage_offset * item_bytes(in);
  int64_t an = core::span_bytes(out->ndim(), out->sizes(), out->strides(), item_bytes(out));
  int64_t bn = core::span_bytes(in->ndim(), in->sizes(), in->strides(), item_bytes(in));
  return a < b + bn && b < a + an;
}

lamella_status check_writable(Frame& f, int arg, const Tensor* t) {
  for (int i = 0; i < t->ndim(); i++)
    if (t->strides()[i] == 0 && t->sizes()[i] > 1 && t->numel > 0)
      return core::raise(
          LAMELLA_RUNTIME_ERROR,
          where(&f, arg) +
              ": several elements share one memory location (an expanded tensor); clone() it before writing");
  return LAMELLA_OK;
}

lamella_status check_all_writable(Frame& f, const CallInfo& info, const Value* args) {
  for (uint64_t w = info.written; w; w &= w - 1) {
    int at = __builtin_ctzll(w);
    if (args[at].tag != LAMELLA_TENSOR) continue;
    if (lamella_status st = check_writable(f, at, full(args[at].as.tensor))) return st;
  }
  return LAMELLA_OK;
}

// The dispatcher's own copies around a kernel are no calls of the user: layers that were passed do not see them.
lamella_status own_copy(Frame& f, Tensor* to, lamella_tensor* from) {
  static const Operator* copy_op = Registry::get().find("aten::copy_", "");
  Value in[3] = {core::tensor_value(to), core::tensor_value(from), core::boolean(false)}, out = core::none();
  const uint64_t saved = f.thread->exclude;
  f.thread->exclude |= f.passed;
  lamella_status st = call(&f, copy_op, in, &out);
  f.thread->exclude = saved;
  core::release_value(out);
  return st;
}

void free_scratch(Frame& f) {
  while (f.scratch) {
    void* next = *static_cast<void**>(f.scratch);
    std::free(f.scratch);
    f.scratch = next;
  }
}

// Operands in other dtypes, for a backend that does not convert them itself: cast copies beside the call.
class CastInputs {
 public:
  lamella_status prepare(Frame& f, const Entry& e, const Operator* op, const Value*& args, int nargs) {
    if ((e.flags & mixed_dtypes) || !op->pointwise || f.compute_dtype == LAMELLA_NO_DTYPE) return LAMELLA_OK;
    bool needed = false;
    for (int i = op->pointwise->condition; i < op->pointwise->inputs; i++)
      needed |= args[i].tag == LAMELLA_TENSOR && args[i].as.tensor->dtype != f.compute_dtype;
    if (!needed) return LAMELLA_OK;
    values_.assign(args, args + nargs);
    for (int i = op->pointwise->condition; i < op->pointwise->inputs; i++) {
      if (values_[i].tag != LAMELLA_TENSOR || values_[i].as.tensor->dtype == f.compute_dtype) continue;
      Tensor *t = full(values_[i].as.tensor), *copy;
      if (lamella_status st =
              core::new_tensor(t->ndim(), t->sizes(), nullptr, static_cast<DType>(f.compute_dtype), t->device(), &copy))
        return st;
      owned_.push_back(core::TensorRef::steal(copy));
      if (lamella_status st = own_copy(f, copy, values_[i].as.tensor)) return st;
      values_[i] = core::tensor_value(copy);
    }
    args = values_.data();
    return LAMELLA_OK;
  }

 private:
  std::vector<Value> values_;
  std::vector<core::TensorRef> owned_;
};

lamella_status run_kernel(Frame& f, const Entry& e, const Value* args, Value* rets) {
  if (!e.fn) return LAMELLA_OK;  // the shape rule is all there is
  f.context = e.context;
  lamella_status st;
  if (__builtin_expect(e.flags & calls_operators, 0)) {
    uint64_t saved = f.thread->exclude;
    f.thread->exclude |= f.passed & ~inside_layers.load(std::memory_order_relaxed);
    st = e(f, args, rets);
    f.thread->exclude = saved;
  } else if (!(e.flags & mixed_dtypes) && f.op->pointwise) {
    CastInputs cast;
    st = cast.prepare(f, e, f.op, args, static_cast<const Table*>(f.table)->info->nargs);
    f.context = e.context;
    if (!st) st = e(f, args, rets);
  } else {
    st = e(f, args, rets);
  }
  if (__builtin_expect(f.scratch != nullptr, 0)) free_scratch(f);
  if (__builtin_expect(st == LAMELLA_OK, 1)) return st;
  static_cast<CallFrame&>(f).half_written |= (e.flags & fails_late) != 0;
  return e.flags & calls_operators ? st : name_device(f, st);
}

lamella_status infer(Frame& f, const Table& t, const Value* args, lamella_meta* metas, int n) {
  for (int i = 0; i < n; i++) {
    metas[i].kind = LAMELLA_META_FRESH;
    metas[i].dtype = LAMELLA_NO_DTYPE;
    metas[i].has_strides = 0;
  }
  f.context = t.infer_context;
  lamella_status st = t.run_infer(f, args, metas);
  for (int i = 0; i < n && !st; i++)
    if (__builtin_expect(metas[i].has_strides > 1, 0)) st = unknown_bits(f, metas[i]);
  return st;
}

inline lamella_status new_fresh(const Frame& f, const lamella_meta& m, Tensor** out) {
  return core::new_tensor(m.ndim, m.sizes, m.has_strides ? m.strides : nullptr, m.dtype, f.device, out);
}

lamella_status make_result(Frame& f, const lamella_meta& m, const Value* args, Value* ret) {
  Tensor* t;
  switch (m.kind) {
    case LAMELLA_META_FRESH:
      if (lamella_status st = new_fresh(f, m, &t)) return st;
      break;
    case LAMELLA_META_ALIAS: {
      Tensor* of = full(args[m.alias_of].as.tensor);
      t = core::new_view(of, m.ndim, m.sizes, m.strides, m.offset, m.dtype);
      t->keys = of->keys & alias_layers.load(std::memory_order_relaxed);
      break;
    }
    case LAMELLA_META_DETACHED: {
      Tensor* of = full(args[m.alias_of].as.tensor);
      t = core::tensor_over(of->storage, m.ndim, m.sizes, m.strides, m.offset, of->dtype);
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
      return core::raise(LAMELLA_VALUE_ERROR, core::format("%s: its shape rule says kind %d, which there is not",
                                                           operator_title(f.op).c_str(), m.kind));
  }
  *ret = core::tensor_value(t);
  return LAMELLA_OK;
}

bool crosses(const Value* args) {
  return !core::operator_equal(full(args[0].as.tensor)->device(), full(args[1].as.tensor)->device());
}

// The usual functional call: one fresh tensor from a plain kernel.
inline lamella_status run_single(Frame& f, const Table& t, const Entry& e, const Value* args, Value* rets) {
  lamella_meta m;
  m.kind = LAMELLA_META_FRESH;
  m.dtype = LAMELLA_NO_DTYPE;
  m.has_strides = 0;
  f.context = t.infer_context;
  if (lamella_status st = t.run_infer(f, args, &m)) return st;
  if (__builtin_expect(m.has_strides > 1, 0)) return unknown_bits(f, m);
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
  if (__builtin_expect((e.flags & (mixed_dtypes | calls_operators | no_kernel)) == mixed_dtypes, 1)) {
    f.context = e.context;
    st = e(f, args, rets);
    if (__builtin_expect(f.scratch != nullptr, 0)) free_scratch(f);
    if (__builtin_expect(st != LAMELLA_OK, 0)) name_device(f, st);
  } else {
    st = run_kernel(f, e, args, rets);
  }
  if (__builtin_expect(m.kind == LAMELLA_META_DYNAMIC, 0) && !st) st = check_result(f.op, 0, rets[0]);
  if (__builtin_expect(st != LAMELLA_OK, 0)) core::release_value(rets[0]);
  return st;
}

lamella_status run_several(Frame& f, const Table& t, const Entry& e, const Value* args, Value* rets) {
  const int n = t.info->nrets;
  auto* metas = static_cast<lamella_meta*>(__builtin_alloca(sizeof(lamella_meta) * (n + 1)));  // a kilobyte each
  if (lamella_status st = infer(f, t, args, metas, n)) return st;
  if (__builtin_expect(t.info->written != 0, 0))
    if (lamella_status st = check_all_writable(f, *t.info, args)) return st;
  lamella_status st = LAMELLA_OK;
  for (int i = 0; i < n; i++) {
    rets[i] = core::none();
    if (!st) st = make_result(f, metas[i], args, &rets[i]);
    if (!st && metas[i].kind == LAMELLA_META_DYNAMIC && (e.flags & no_kernel)) st = dynamic_without_kernel(f);
  }
  if (!st)
    st = t.info->between_devices && crosses(args) ? copy_between_devices(&f, args) : run_kernel(f, e, args, rets);
  for (int i = 0; !st && i < n; i++)
    if (metas[i].kind == LAMELLA_META_DYNAMIC) st = check_result(f.op, i, rets[i]);
  if (__builtin_expect(st != LAMELLA_OK, 0)) release_all(rets, n);
  return st;
}

bool has_shape(const Tensor* t, int ndim, const int64_t* sizes) {
  return t->ndim() == ndim && std::equal(sizes, sizes + ndim, t->sizes());
}

// An output of another shape takes over what was computed beside it; only now, since it may have been an input too.
lamella_status adopt(Frame& f, Tensor* target, Tensor* computed) {
  if (target->dtype == computed->dtype) {
    core::retain(computed->storage);
    core::replace_storage(target, computed->storage);
    core::set_geometry(target, computed->ndim(), computed->sizes(), computed->strides(), computed->storage_offset);
    return LAMELLA_OK;
  }
  core::Storage* s;
  if (lamella_status st = core::new_storage(computed->numel * core::itemsize(target->dtype), target->device(), &s))
    return st;
  core::replace_storage(target, s);
  core::set_geometry(target, computed->ndim(), computed->sizes(), nullptr, 0);
  return own_copy(f, target, computed);
}

int target_position(const CallInfo& info, int i) { return info.form == Form::Inplace ? 0 : info.first_out + i; }

lamella_status check_target(Frame& f, const CallInfo& info, int at, Tensor* target, DType dtype, int ndim,
                            const int64_t* sizes) {
  if (!core::can_cast(dtype, target->dtype))
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       core::format("%s has dtype %s, which cannot hold the result's %s", where(&f, at).c_str(),
                                    core::dtype_info(target->dtype).name, core::dtype_info(dtype).name));
  if (has_shape(target, ndim, sizes)) return check_writable(f, at, target);
  std::string have = core::shape_string(target), want = core::shape_string(ndim, sizes);
  if (info.form == Form::Inplace)
    return core::raise(LAMELLA_RUNTIME_ERROR, where(&f, at) + " has shape " + have + ", but the result has shape " +
                                                  want + "; an in-place form cannot change it");
  if (target->base)
    return core::raise(LAMELLA_RUNTIME_ERROR, where(&f, at) + ": a view of shape " + have + " cannot become " + want +
                                                  "; pass a tensor of that shape");
  return LAMELLA_OK;
}

// Puts what was computed into the tensor that the caller gave, which is the result then.
inline lamella_status store_result(Frame& f, Tensor* target, Tensor* computed, Value* ret) {
  if (target != computed) {
    const bool fits = has_shape(target, computed->ndim(), computed->sizes());
    if (lamella_status st = fits ? own_copy(f, target, computed) : adopt(f, target, computed)) return st;
  }
  core::retain(target);
  *ret = core::tensor_value(target);
  return LAMELLA_OK;
}

// In-place and out=: the kernel of the functional form computes into what was given, or beside it where the
// memory overlaps an input or the dtype must still be converted.
lamella_status run_into(Frame& f, const Table& t, const Entry& e, const Value* args, Value* rets) {
  const CallInfo& info = *t.info;
  const int n = info.nrets;
  auto* metas = static_cast<lamella_meta*>(__builtin_alloca(sizeof(lamella_meta) * (n + 1)));
  if (lamella_status st = infer(f, t, args, metas, n)) return st;
  const bool elementwise = f.op->pointwise != nullptr;
  Value into[LAMELLA_MAX_RETURNS];
  core::TensorRef beside[LAMELLA_MAX_RETURNS];
  for (int i = 0; i < n; i++) {
    const lamella_meta& m = metas[i];
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
    if (lamella_status st = check_target(f, info, at, target, m.dtype, m.ndim, m.sizes)) return st;
    into[i] = core::tensor_value(target);
    bool converts = target->dtype != m.dtype && !((e.flags & mixed_dtypes) && elementwise);
    // A kernel that may stop at a fault (an integer division by zero, an index out of range) must not have changed its
    // argument by then.
    bool may_fault = elementwise ? f.op->pointwise->fault && core::dtype_class(m.dtype) == LAMELLA_CLASS_INTEGRAL
                                 : f.op->category == "indexing" || f.op->category == "scatter";
    if (overlap || converts || may_fault || !has_shape(target, m.ndim, m.sizes)) {
      Tensor* temporary;
      if (lamella_status st = new_fresh(f, m, &temporary)) return st;
      beside[i] = core::TensorRef::steal(temporary);
      into[i] = core::tensor_value(temporary);
    }
  }
  if (lamella_status st = run_kernel(f, e, args, into)) return st;
  lamella_status st = LAMELLA_OK;
  for (int i = 0; i < n; i++) {
    Tensor* target = full(args[target_position(info, i)].as.tensor);
    rets[i] = core::none();
    if (!st) st = store_result(f, target, beside[i] ? beside[i].get() : target, &rets[i]);
  }
  if (st) release_all(rets, n);
  return st;
}

// Whether the i-th of a composite's results can be stored where the caller wants it.
lamella_status check_computed(Frame& f, const CallInfo& info, int i, const Value* args, const Value& computed) {
  if (computed.tag != LAMELLA_TENSOR || !computed.as.tensor)
    return core::raise(LAMELLA_RUNTIME_ERROR, operator_title(f.op) + ": its composite returned no tensor to store");
  const int at = target_position(info, i);
  const Tensor* result = full(computed.as.tensor);
  return check_target(f, info, at, full(args[at].as.tensor), result->dtype, result->ndim(), result->sizes());
}

}  // namespace

lamella_status resolve_device(Frame& f, const CallInfo& info, const Value* args) {
  if (info.device >= 0 && args[info.device].tag == LAMELLA_DEVICE) {
    f.device = args[info.device].as.device;
    return check_device(f);
  }
  if (__builtin_expect(info.between_devices, 0)) {
    f.device = full(args[0].as.tensor)->device();
    return check_device(f);
  }
  // The usual case: all tensors on one device.
  if (info.num_lists == 0 && info.num_tensors > 0 && args[info.tensors[0]].tag == LAMELLA_TENSOR) {
    const Tensor* first = full(args[info.tensors[0]].as.tensor);
    bool same = true;
    for (int i = 1; i < info.num_tensors; i++) {
      const Value& v = args[info.tensors[i]];
      if (v.tag == LAMELLA_TENSOR) same &= v.as.tensor->device_key == first->device_key;
    }
    if (same) {
      f.device = first->device();
      return LAMELLA_OK;
    }
  }
  return vote(f, info, args);
}

lamella_status run_composite(Frame& f, const Entry& e, const Value* args, Value* rets, const Value* read) {
  const Table& table = *static_cast<const Table*>(f.table);
  const CallInfo& info = *table.info;
  if (table.infer) {  // the shape rule checks the arguments, so the composite need not
    auto* checked = static_cast<lamella_meta*>(__builtin_alloca(sizeof(lamella_meta) * (info.nrets + 1)));
    if (lamella_status st = infer(f, table, args, checked, info.nrets)) return st;
  }
  if (info.written && info.form == Form::Functional)
    if (lamella_status st = check_all_writable(f, info, args)) return st;
  uint64_t saved = f.thread->exclude;
  f.thread->exclude |= f.passed & ~inside_layers.load(std::memory_order_relaxed);
  f.context = e.context;
  lamella_status st = LAMELLA_OK;
  if (info.form == Form::Functional) {
    for (int i = 0; i < info.nrets; i++) rets[i] = core::none();
    st = e(f, read, rets);
    for (int i = 0; !st && i < info.nrets; i++) st = check_result(f.op, i, rets[i]);
    if (__builtin_expect(st != LAMELLA_OK, 0)) release_all(rets, info.nrets);
  } else {
    Value computed[LAMELLA_MAX_RETURNS];
    for (int i = 0; i < info.nrets; i++) computed[i] = core::none();
    st = e(f, read, computed);
    for (int i = 0; i < info.nrets; i++) rets[i] = core::none();
    for (int i = 0; i < info.nrets && !st; i++) st = check_computed(f, info, i, args, computed[i]);
    for (int i = 0; i < info.nrets && !st; i++)
      st = store_result(f, full(args[target_position(info, i)].as.tensor), full(computed[i].as.tensor), &rets[i]);
    if (st) release_all(rets, info.nrets);
    release_all(computed, info.nrets);
  }
  f.thread->exclude = saved;
  if (__builtin_expect(st == LAMELLA_OK, 1)) return st;
  static_cast<CallFrame&>(f).half_written |= (e.flags & fails_late) != 0;
  name_operator(f);
  return st;
}

lamella_status run_backend(Frame& f, const Value* args, Value* rets) {
  auto* t = static_cast<const Table*>(f.table);
  f.layer = -1;
  if (lamella_status st = resolve_device(f, *t->info, args)) return st;
  if (__builtin_expect(f.device.backend >= t->num_backends, 0)) {  // a backend that is younger than the table
    if (!(f.table = t = Registry::get().table(f.op))) return core::pending_error().kind;
  }
  const Entry& e = t->backends[f.device.backend];
  if (__builtin_expect(e.flags & composite, 0)) return run_composite(f, e, args, rets, args);
  if (t->info->form != Form::Functional) {
    if (e.fn == missing_kernel) return missing_kernel(&f, args, rets);
    if (t->infer) return run_into(f, *t, e, args, rets);
  }
  const bool crossing = t->info->between_devices && crosses(args);  // needs no kernel of the destination's
  if (t->infer && (e.fn != missing_kernel || crossing))
    return t->info->nrets == 1 && !t->info->written ? run_single(f, *t, e, args, rets)
                                                    : run_several(f, *t, e, args, rets);
  for (int i = 0; i < t->info->nrets; i++) rets[i] = core::none();
  lamella_status st = run_kernel(f, e, args, rets);
  for (int i = 0; !st && i < t->info->nrets; i++) st = check_result(f.op, i, rets[i]);
  if (st) release_all(rets, t->info->nrets);
  return st;
}

}  // namespace lamella::dispatcher
