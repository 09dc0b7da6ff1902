#include "dispatcher/call.h"

#include "core/device.h"
#include "core/error.h"
#include "core/thread.h"

namespace lattis::dispatcher {
namespace {

inline uint64_t keys_of(const lattis_tensor* t) { return t->keys | t->storage->sticky; }

inline uint64_t gather_keys(const CallInfo& info, const Value* args) {
  uint64_t keys = 0;
  for (int i = 0; i < info.num_tensors; i++) {
    const Value& v = args[info.tensors[i]];
    if (v.tag == LATTIS_TENSOR) keys |= keys_of(v.as.tensor);
  }
  for (int i = 0; i < info.num_lists; i++) {
    const Value& v = args[info.lists[i]];
    if (v.tag != LATTIS_TENSOR_LIST) continue;
    for (uint32_t k = 0; k < v.length; k++)
      if (v.as.tensors[k]) keys |= keys_of(v.as.tensors[k]);
  }
  return keys;
}

inline const Table* table_of(const Operator* op) {
  const Table* t = op->table.load(std::memory_order_acquire);
  return __builtin_expect(t != nullptr, 1) ? t : Registry::get().table(op);
}

// Switches layers off for this thread while a kernel calls other operators.
struct Excluded {
  lattis_thread* thread;
  uint64_t saved;
  Excluded(lattis_thread* t, uint64_t bits) : thread(t), saved(t->exclude) { t->exclude |= bits; }
  ~Excluded() { thread->exclude = saved; }
};

lattis_status run_layer(Frame& f, int bit, const Value* args, Value* rets) {
  auto* t = static_cast<const Table*>(f.table);
  const Entry& e = t->layers[t->layer_index[bit]];
  const uint64_t keys = f.keys, passed = f.passed;
  const void* context = f.context;
  f.context = e.context;
  lattis_status st;
  if (e.flags & stays_on) {
    f.keys = keys & ((uint64_t{1} << bit) - 1);
    st = run_composite(f, e, args, rets);
  } else {
    f.keys = keys & ~(uint64_t{1} << bit);
    f.passed = passed | uint64_t{1} << bit;
    if (e.flags & calls_operators) {
      Excluded off(f.thread, f.passed & ~inside_layers.load(std::memory_order_relaxed));
      st = e.fn(&f, args, rets);
    } else {
      st = e.fn(&f, args, rets);
    }
  }
  f.keys = keys;
  f.passed = passed;
  f.context = context;
  return st;
}

// A kernel vanished while the call was on its way to it: look again in the operator's current table.
lattis_status run_again(Frame& f, const Value* args, Value* rets) {
  f.table = table_of(f.op);
  if (!f.table) return core::pending_error().kind;
  f.keys &= static_cast<const Table*>(f.table)->mask;
  return redispatch(&f, args, rets);
}

// Was this storage written by an enclosing call, which bumps it itself?
bool written_above(const Frame* f, const lattis_storage* s);

void bump_versions(const Frame& f, const CallInfo& info, const Value* args) {
  for (uint64_t w = info.written; w; w &= w - 1) {
    const Value& v = args[__builtin_ctzll(w)];
    if (v.tag != LATTIS_TENSOR) continue;
    lattis_storage* s = v.as.tensor->storage;
    if (written_above(f.parent, s)) continue;
    __atomic_store_n(&s->version, __atomic_load_n(&s->version, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
  }
}

// What an outer frame writes is kept in its `scratch` companion; see CallFrame.
struct CallFrame : Frame {
  const Value* args;
};

bool written_above(const Frame* f, const lattis_storage* s) {
  for (; f; f = f->parent) {
    const CallInfo& info = *static_cast<const Table*>(f->table)->info;
    const Value* args = static_cast<const CallFrame*>(f)->args;
    for (uint64_t w = info.written; w; w &= w - 1) {
      const Value& v = args[__builtin_ctzll(w)];
      if (v.tag == LATTIS_TENSOR && v.as.tensor->storage == s) return true;
    }
  }
  return false;
}

}  // namespace

lattis_status redispatch(Frame* frame, const Value* args, Value* rets) {
  lattis_status st =
      frame->keys ? run_layer(*frame, 63 - __builtin_clzll(frame->keys), args, rets) : run_backend(*frame, args, rets);
  return __builtin_expect(st == retry, 0) ? run_again(*frame, args, rets) : st;
}

lattis_status call(Frame* parent, const Operator* op, const Value* args, Value* rets) {
  const Table* t = table_of(op);
  if (!t) return core::pending_error().kind;
  lattis_thread* thread = &core::this_thread().shared;
  CallFrame f;
  f.size = sizeof(Frame);
  f.compute_dtype = LATTIS_NO_DTYPE;
  f.op = op;
  f.keys = (gather_keys(*t->info, args) | thread->include | process_layers.load(std::memory_order_relaxed)) &
           ~thread->exclude & t->mask;
  f.passed = 0;
  f.thread = thread;
  f.parent = parent ? parent : thread->frame;
  f.table = t;
  f.scratch = nullptr;
  f.args = args;
  lattis_status st = redispatch(&f, args, rets);
  if (__builtin_expect(t->info->written != 0, 0) && st == LATTIS_OK) bump_versions(f, *t->info, args);
  return st;
}

void release_all(Value* rets, int n) {
  for (int i = 0; i < n; i++) core::release_value(rets[i]);
}

}  // namespace lattis::dispatcher
