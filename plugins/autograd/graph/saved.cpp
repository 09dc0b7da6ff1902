#include "graph/saved.h"

#include <memory>

#include "graph/engine.h"
#include "graph/given.h"

namespace lamella::autograd {
namespace {

// The saved-tensor hooks of a thread, innermost last: the state of the thread's slot.
struct HookStack {
  std::vector<lamella_saved_hooks> all;
  ~HookStack() {
    for (const lamella_saved_hooks& h : all)
      if (h.release) h.release(h.context);
  }
};
int32_t hooks_slot = -1;
thread_local HookStack* hooks_now = nullptr;
__thread bool any_hooks __attribute__((tls_model("initial-exec"))) = false;

lamella_status copy_hooks(void* state, void** out) {
  return guarded([&]() -> lamella_status {
    auto copy = std::make_unique<HookStack>();
    for (const lamella_saved_hooks& h : static_cast<HookStack*>(state)->all)
      if (h.retain) {
        copy->all.push_back(h);
        h.retain(h.context);
      }
    *out = copy.release();
    return LAMELLA_OK;
  });
}
void swapped_hooks(void* state) {
  hooks_now = static_cast<HookStack*>(state);
  any_hooks = hooks_now && !hooks_now->all.empty();
}
void destroy_hooks(void* state) {
  if (state == hooks_now) swapped_hooks(nullptr);
  delete static_cast<HookStack*>(state);
}

std::string describe(const lamella_tensor* t) {
  std::string s = "[";
  for (int i = 0; i < t->dl.ndim; i++) s += (i ? ", " : "") + std::to_string(t->dl.shape[i]);
  return s + "]";
}

lamella_status unpacked(const Packed& p, lamella_tensor** out) {
  {
    const LayersSwitched on(layers_off_now(), true);
    if (lamella_status st = p.hooks.unpack(p.object, out)) return st;
  }
  if (!p.history.node || !*out) return LAMELLA_OK;
  Tensor plain = Tensor::steal(*out);
  if (lamella_status st = api().tensor_detach(plain.get(), layer_bit, out)) return st;
  retain(p.history.node);
  give_history(*out, p.history.node, p.history.output);
  return LAMELLA_OK;
}

}  // namespace

__thread WriteNow write_now = {nullptr, nullptr};

lamella_status push_saved_hooks(const lamella_saved_hooks* hooks) {
  lamella_saved_hooks own;
  std::string wrong = copy_given(*hooks, &own);
  if (wrong.empty() && own.reserved) wrong = "'reserved' must be zero";
  if (wrong.empty() && (!own.pack || !own.unpack)) wrong = "'pack' and 'unpack' must not be null";
  if (wrong.empty() && !own.retain != !own.release) wrong = "give both 'retain' and 'release', or neither";
  if (!wrong.empty()) return fail(LAMELLA_VALUE_ERROR, "push_saved_hooks: " + wrong);
  if (!hooks_now) {
    auto made = std::make_unique<HookStack>();
    if (lamella_status st = api().thread_slot_set(hooks_slot, made.get())) return st;
    hooks_now = made.release();
  }
  hooks_now->all.push_back(own);
  any_hooks = true;
  return LAMELLA_OK;
}

lamella_status pop_saved_hooks() {
  if (!any_hooks) return fail(LAMELLA_RUNTIME_ERROR, "saved_tensors_hooks: this thread has no hooks to remove");
  const lamella_saved_hooks last = hooks_now->all.back();
  hooks_now->all.pop_back();
  any_hooks = !hooks_now->all.empty();
  if (last.release) last.release(last.context);
  return LAMELLA_OK;
}

int32_t suspend_saved_hooks(int32_t on) {
  const bool before = any_hooks;
  any_hooks = !on && hooks_now && !hooks_now->all.empty();
  return before;
}

lamella_status register_hooks_slot(lamella_library* library) {
  static const lamella_thread_slot_type type = {sizeof type,  0, "autograd.saved_hooks", copy_hooks, destroy_hooks,
                                                swapped_hooks};
  return api().thread_slot(library, &type, &hooks_slot);
}

lamella_status SavedValue::keep(lamella_tensor* t, int32_t from, bool counts) {
  value = none();
  if (!t) return LAMELLA_OK;
  version = api().tensor_version(t) + counts;
  memory = t->storage;
  result = from;
  if (__builtin_expect(any_hooks, 0)) {
    const lamella_saved_hooks now = hooks_now->all.back();  // a copy, since pack() may add hooks
    auto made = std::make_unique<Packed>(Packed{1, now, nullptr, {}});
    GradMode off(false);
    lamella_tensor* plain = nullptr;
    if (lamella_status st = api().tensor_detach(t, layer_bit, &plain)) return st;
    const Tensor owner = Tensor::steal(plain);
    if (lamella_status st = now.pack(now.context, plain, &made->object)) return st;
    packed = made.release();
    return from < 0 ? gradient_edge(t, &packed->history) : LAMELLA_OK;
  }
  lamella_tensor* own = t;
  if (from >= 0) {
    if (lamella_status st = api().tensor_detach(t, layer_bit, &own)) return st;
  } else {
    api().retain(t);
  }
  value = lamella::value(own);
  return LAMELLA_OK;
}

lamella_status SavedValue::keep(const lamella_value& v, int32_t from, bool counts) {
  if (v.tag == LAMELLA_TENSOR) return keep(v.as.tensor, from, counts);
  if (v.tag != LAMELLA_TENSOR_LIST) return api().value_retain(&v, &value);
  packed = new Packed;
  packed->items.resize(v.length);
  for (uint32_t i = 0; i < v.length; i++)
    if (lamella_status st =
            packed->items[i].keep(v.as.tensors[i], from < 0 ? from : from + static_cast<int>(i), counts))
      return st;
  return LAMELLA_OK;
}

void SavedValue::drop() {
  if (Packed* p = std::exchange(packed, nullptr)) {
    if (__atomic_sub_fetch(&p->refcount, 1, __ATOMIC_ACQ_REL) == 0) {
      for (SavedValue& s : p->items) s.drop();
      if (p->hooks.destroy) p->hooks.destroy(p->object);
      if (p->history.node) release(p->history.node);
      delete p;
    }
  } else if (value.tag != LAMELLA_NONE) {
    api().value_release(&value);
  }
  value = none();
}

lamella_status SavedValue::copy(SavedValue* out) const {
  *out = *this;
  out->value = none();
  if (packed) __atomic_fetch_add(&packed->refcount, 1, __ATOMIC_RELAXED);
  return api().value_retain(&value, &out->value);
}

lamella_status SavedValue::changed(const Node* n) const {
  const lamella_tensor* t = value.as.tensor;
  const std::string now = t->storage != memory
                              ? " has other memory than it had. Give another tensor that memory"
                              : " is at version " + std::to_string(api().tensor_version(t)) + "; expected version " +
                                    std::to_string(version) + ". Write to a clone(), or out of place";
  return fail(LAMELLA_RUNTIME_ERROR,
              n->kind->name(n) +
                  ": one of the variables needed for gradient computation has been modified by an inplace operation: " +
                  (result >= 0 ? "its result of shape " : "an argument of shape ") + describe(t) + now);
}

lamella_status SavedValue::unpack_list(Node* n, bool with_graph, lamella_value* out) const {
  std::vector<lamella_tensor*> tensors;
  lamella_status st = LAMELLA_OK;
  for (const SavedValue& s : packed->items) {
    lamella_value one = none();
    if ((st = s.unpack(n, with_graph, &one))) break;
    tensors.push_back(one.tag == LAMELLA_TENSOR ? one.as.tensor : nullptr);
  }
  lamella_value list{LAMELLA_TENSOR_LIST, static_cast<uint32_t>(tensors.size()), {0}};
  list.as.tensors = tensors.data();
  if (!st) st = api().value_retain(&list, out);
  for (lamella_tensor* t : tensors)
    if (t) api().release(t);
  return st;
}

lamella_status SavedValue::unpack(Node* n, bool with_graph, lamella_value* out) const {
  if (packed && !packed->hooks.unpack) return unpack_list(n, with_graph, out);
  lamella_tensor* t = value.tag == LAMELLA_TENSOR ? value.as.tensor : nullptr;
  if (packed) {
    if (lamella_status st = unpacked(*packed, &t)) return st;
    *out = lamella::value(t);
  } else {
    if (lamella_status st = check(n)) return st;
    if (lamella_status st = api().value_retain(&value, out)) return st;
  }
  if (t && result >= 0 && with_graph) {
    lamella_tensor* with = nullptr;
    lamella_status st = api().tensor_detach(t, layer_bit, &with);
    api().value_release(out);
    if (st) return st;
    if (n == write_now.write) {
      read_written(with, write_now.stands);
    } else {
      retain(n);
      give_history(with, n, static_cast<uint32_t>(result));
    }
    *out = lamella::value(with);
  }
  return LAMELLA_OK;
}

lamella_status used_twice(const Node* n) {
  return fail(LAMELLA_RUNTIME_ERROR,
              n->kind->name(n) +
                  ": trying to backward through the graph a second time, but what it had saved has been freed; pass "
                  "retain_graph=True to the first backward() or grad()");
}

}  // namespace lamella::autograd
