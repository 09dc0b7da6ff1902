#include "dispatcher/call.h"

#include <memory>

#include "core/device.h"
#include "core/error.h"
#include "core/thread.h"
#include "dispatcher/explain.h"
#include "dispatcher/fill.h"
#include "dispatcher/forms.h"
#include "dispatcher/layer.h"
#include "dispatcher/placement.h"
#include "dispatcher/transfer.h"

namespace lamella::dispatcher {
namespace {

inline uint64_t keys_of(const lamella_tensor* t) { return t->keys | t->storage->sticky; }

inline uint64_t gather_keys(const CallInfo& info, const Value* args) {
  uint64_t keys = 0;
  for (int i = 0; i < info.num_tensors; i++) {
    const Value& v = args[info.tensors[i]];
    if (v.tag == LAMELLA_TENSOR) keys |= keys_of(v.as.tensor);
  }
  for (int i = 0; i < info.num_lists; i++) {
    const Value& v = args[info.lists[i]];
    if (v.tag != LAMELLA_TENSOR_LIST) continue;
    for (uint32_t k = 0; k < v.length; k++)
      if (v.as.tensors[k]) keys |= keys_of(v.as.tensors[k]);
  }
  return keys;
}

// Returns the keys of a call with these arguments: those of the tensors and of the thread, without those that are off.
// The restricted key belongs to no layer, and is never off.
inline uint64_t keys_of_call(const Table& t, const lamella_thread& thread, const Value* args, uint64_t off) {
  return ((gather_keys(*t.info, args) | thread.include | process_layers.load(std::memory_order_relaxed)) &
          ~(off & ~core::restricted_key) & t.mask) |
         t.forced;
}

inline const Table* table_of(const Operator* op) {
  const Table* t = op->table.load(std::memory_order_acquire);
  return __builtin_expect(t != nullptr, 1) ? t : filled_table(op);
}

// Runs a composite at a layer. The layer stays on and may keep the tensors that the composite reads, as autograd does
// for derivatives. An in-place form overwrites its first argument, so there the composite reads a copy of it.
lamella_status run_decomposed(CallFrame& f, const Entry& e, const Value* args, Value* rets) {
  const CallInfo& info = *static_cast<const Table*>(f.table)->info;
  if (lamella_status st = resolve_device(f, info, args)) return st;
  if (info.form != Form::Inplace) return run_composite(f, e, args, rets, args);
  core::TensorRef copy;
  if (lamella_status st = clone_aside(f, core::full(args[0].as.tensor), &copy)) return st;
  std::vector<Value> read(args, args + info.nargs);
  read[0] = core::tensor_value(copy.get());
  return run_composite(f, e, args, rets, read.data());
}

lamella_status run_layer(CallFrame& f, int bit, const Value* args, Value* rets) {
  auto* t = static_cast<const Table*>(f.table);
  const Entry& e = t->layers[t->layer_index[bit]];
  const uint64_t self = uint64_t{1} << bit, keys = f.keys, passed = f.passed;
  void* context = f.context;
  const Value* given = f.given;
  const int32_t layer = f.layer;
  f.context = e.context;
  f.given = args;
  f.layer = bit;
  lamella_status st;
  if (__builtin_expect(e.flags & stays_on, 0)) {
    f.keys = keys & (self - 1);
    f.layer = -1;  // the composite belongs to the operator, not to the layer
    st = run_decomposed(f, e, args, rets);
  } else {
    f.keys = keys & ~self;
    f.passed = passed | self;
    if (__builtin_expect(e.flags & calls_operators, 0)) {
      // Operators that the layer's kernel calls skip this layer, and the layers passed before it except those with
      // LAMELLA_LAYER_INSIDE. `f.hidden` is this layer's bit if it was on, so that redispatch() can turn it on again.
      const uint64_t saved = f.thread->exclude, hidden = f.hidden;
      f.hidden = self & ~saved;
      f.thread->exclude = saved | self | (f.passed & ~inside_layers.load(std::memory_order_relaxed));
      const Calling calling(f);
      st = e(f, args, rets);
      f.thread->exclude = saved;
      f.hidden = hidden;
    } else {
      st = e(f, args, rets);
    }
  }
  f.keys = keys;
  f.passed = passed;
  f.context = context;
  f.given = given;
  f.layer = layer;
  return st;
}

// Goes on with the operator's current table, after a call has reached a kernel that was withdrawn meanwhile.
lamella_status run_again(Frame& f, const Value* args, Value* rets) {
  const auto* before = static_cast<const Table*>(f.table);
  if (before->pinned)
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       operator_title(f.op) + ": the kernel that find_kernel returned was withdrawn");
  f.table = table_of(f.op);
  if (!f.table) return core::pending_error().kind;
  if (f.table == before)
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       operator_title(f.op) + ": its kernel returned LAMELLA_RETRY (-1), but was not withdrawn");
  const auto* t = static_cast<const Table*>(f.table);
  f.keys &= ~bits_given_since(before->gift);
  f.keys = (f.keys | (gather_keys(*t->info, args) & core::restricted_key)) & t->mask;
  return redispatch(&f, args, rets);
}

// Serves a status below zero, which is no error: LAMELLA_RETRY runs the call again with the current table, and
// LAMELLA_DECLINED runs the table's next entry for the device.
__attribute__((cold, noinline)) lamella_status answer(Frame& f, lamella_status st, const Value* args, Value* rets) {
  if (st == LAMELLA_DECLINED && !f.keys) st = run_declined(f, args, rets);  // only kernels below the layers decline
  return st == LAMELLA_RETRY ? run_again(f, args, rets) : st;
}

// A kernel that fails must raise an error of the kind that it returns. If it has not, this raises one that says so. A
// pending error of another kind is left over from a failure that a caller ignored; it is replaced.
__attribute__((noinline)) lamella_status explained(const Operator* op, lamella_status st) {
  if (core::pending_error().kind == st) return st;
  return core::raise(LAMELLA_RUNTIME_ERROR,
                     core::format("%s: its kernel returned %d and does not say why", operator_title(op).c_str(), st));
}

// The versions of the tensors into which a call stores elements, read before the call. If inner calls have counted the
// write, it is not counted again: a layer that reads versions sees each write once.
struct Versions {
  static constexpr int most = 8;
  uint64_t before[most];
  std::unique_ptr<uint64_t[]> rest;  // versions after the first `most`

  // Visits the counts of these arguments in their order; of a list those of its tensors one by one.
  template <class Visit>
  static void each(const CallInfo& info, const Value* args, Visit visit) {
    int k = 0;
    for (uint64_t w = info.stored; w; w &= w - 1) {
      const Value& v = args[__builtin_ctzll(w)];
      if (v.tag == LAMELLA_TENSOR) visit(k++, core::writes_of(v.as.tensor));
      for (uint32_t i = 0; v.tag == LAMELLA_TENSOR_LIST && i < v.length; i++)
        if (v.as.tensors[i]) visit(k++, core::writes_of(v.as.tensors[i]));
    }
  }
  void read(const CallInfo& info, const Value* args) {
    each(info, args, [&](int k, uint64_t& version) {
      if (__builtin_expect(k == most, 0)) rest.reset(new uint64_t[count(info, args) - most]);
      (k < most ? before[k] : rest[k - most]) = __atomic_load_n(&version, __ATOMIC_RELAXED);
    });
  }
  static int count(const CallInfo& info, const Value* args) {
    int n = 0;
    each(info, args, [&n](int k, uint64_t&) { n = k + 1; });
    return n;
  }
  void bump(const CallInfo& info, const Value* args) const {
    each(info, args, [this](int k, uint64_t& version) {
      const uint64_t now = __atomic_load_n(&version, __ATOMIC_RELAXED);
      if (now == (k < most ? before[k] : rest[k - most])) __atomic_store_n(&version, now + 1, __ATOMIC_RELAXED);
    });
  }
};

}  // namespace

static inline __attribute__((always_inline)) lamella_status step(CallFrame& f, const Value* args, Value* rets) {
  lamella_status st = f.keys ? run_layer(f, 63 - __builtin_clzll(f.keys), args, rets) : run_backend(f, args, rets);
  return __builtin_expect(st < 0, 0) ? answer(f, st, args, rets) : st;
}

// Runs the next layer or the backend level. It restores the frame's layer and context, which the calling layer's kernel
// may read again.
lamella_status redispatch(Frame* frame, const Value* args, Value* rets) {
  auto& f = *static_cast<CallFrame*>(frame);
  const int32_t layer = f.layer;
  void* const context = f.context;
  lamella_status st;
  const uint64_t keys = f.keys;
  // The layer passed other arguments than it got. The call goes on below this layer as one with these arguments,
  // without the layers that are off or were off when the call began.
  if (args != f.given)
    f.keys = keys_of_call(*static_cast<const Table*>(f.table), *f.thread, args, f.excluded | f.thread->exclude) &
             ((f.passed & -f.passed) - 1);
  if (__builtin_expect(f.hidden == 0, 1)) {
    st = step(f, args, rets);
  } else {
    const uint64_t hidden = f.hidden & inside_layers.load(std::memory_order_relaxed), all = f.hidden;
    f.thread->exclude &= ~hidden;
    f.hidden = 0;
    st = step(f, args, rets);
    f.hidden = all;
    f.thread->exclude |= hidden;
  }
  f.keys = keys;
  f.layer = layer;
  f.context = context;
  return st;
}

lamella_status decompose(Frame* frame, const Value* args, Value* rets) {
  auto& f = *static_cast<CallFrame*>(frame);
  const Entry* composite = static_cast<const Table*>(f.table)->fallback;
  if (f.layer < 0)
    return core::raise(LAMELLA_RUNTIME_ERROR, operator_title(f.op) + ": decompose is for kernels of layers");
  if (!composite)
    return core::raise(LAMELLA_NOT_IMPLEMENTED, f.op->full_name() + " has no composite to decompose it by");
  struct Before {  // restores the frame and the thread, also after an exception
    CallFrame& f;
    int32_t layer = f.layer;
    uint64_t passed = f.passed, off = f.thread->exclude, hidden = f.hidden;
    void* context = f.context;
    ~Before() {
      f.thread->exclude = off;
      f.hidden = hidden;
      f.passed = passed;
      f.layer = layer;
      f.context = context;
    }
  } const before{f};
  const uint64_t self = uint64_t{1} << before.layer;
  f.layer = -1;  // the composite belongs to the operator, not to the layer
  f.passed &= ~self;
  f.hidden = 0;
  // The layer is on again unless it was off when the call began. The layers outside of it are switched off by the
  // composite's run. Layers that the kernel has switched off itself stay off.
  const uint64_t by_calls = before.hidden | (f.passed & ~inside_layers.load(std::memory_order_relaxed));
  f.thread->exclude = (before.off & ~by_calls) | f.excluded;
  return run_decomposed(f, *composite, args, rets);
}

static inline __attribute__((always_inline)) lamella_status call_by(const Table* t, Frame* parent, const Operator* op,
                                                                    const Value* args, Value* rets) {
  core::ThreadState& state = core::this_thread();
  lamella_thread* thread = &state.shared;
  CallFrame f;
  f.size = sizeof(Frame);
  f.compute_dtype = LAMELLA_NO_DTYPE;
  f.op = op;
  f.keys = keys_of_call(*t, *thread, args, thread->exclude);
  f.passed = 0;
  f.thread = thread;
  f.parent = parent ? parent : state.calling ? state.calling : thread->frame;
  f.table = t;
  f.scratch = nullptr;
  f.layer = -1;
  f.num_args = t->info->nargs;
  f.num_rets = t->info->nrets;
  f.hidden = 0;
  f.given = nullptr;
  f.half_written = false;
  f.excluded = thread->exclude;
  lamella_status st;
  Versions versions;
  try {
    if (__builtin_expect(t->info->stored != 0, 0)) versions.read(*t->info, args);
    st = step(f, args, rets);
  } catch (...) {  // the dispatcher itself may fail to allocate
    thread->exclude = f.excluded;
    st = core::raise_exception();
  }
  if (__builtin_expect(st != LAMELLA_OK, 0) && !f.half_written) return explained(op, st);
  if (__builtin_expect(t->info->stored != 0, 0)) versions.bump(*t->info, args);
  return __builtin_expect(st == LAMELLA_OK, 1) ? st : explained(op, st);
}

lamella_status call(Frame* parent, const Operator* op, const Value* args, Value* rets) {
  const Table* t = table_of(op);
  return t ? call_by(t, parent, op, args, rets) : core::pending_error().kind;
}

lamella_status call_pinned(const Table* pinned, Frame* parent, const Operator* op, const Value* args, Value* rets) {
  return call_by(pinned, parent, op, args, rets);
}

void release_all(Value* rets, int n) {
  for (int i = 0; i < n; i++) core::release_value(rets[i]);
}

}  // namespace lamella::dispatcher
