#include "state.h"

#include <new>

namespace lamella::autocast {
namespace {

// The other thread gets the settings. It keeps no cast before it opens a block of its own, whose end drops them.
lamella_status copy_state(void* state, void** out) {
  const auto* from = static_cast<const State*>(state);
  auto* to = new (std::nothrow) State;
  if (!to) return api().raise(LAMELLA_OUT_OF_MEMORY, "autocast: not enough memory");
  static_cast<Settings&>(*to) = *from;
  *out = to;
  return LAMELLA_OK;
}

void set_bit(uint64_t* bits, bool on) { *bits = on ? *bits | layer_bit : *bits & ~layer_bit; }

// Switches the layer on if autocast is on for any type of device. Backward excludes the layer, so that a block that is
// opened in a node of Python there takes the exclusion away until its end.
void switch_layer(const State* s) {
  lamella_thread* t = api().thread();
  set_bit(&t->include, s->enabled != 0);
  if (s->enabled) set_bit(&t->exclude, false);
}

// Returns whether a tensor has the key of autograd: its gradients are recorded.
bool is_recorded(const lamella_autograd* a, const lamella_tensor* t) { return a && t->keys >> a->layer & 1; }

bool is_kept(const State* s, const lamella_autograd* a, lamella_tensor* t) {
  return s->cache && s->nesting > 0 && t->dtype == LAMELLA_FLOAT32 && is_recorded(a, t) && !api().tensor_base(t) &&
         a->is_leaf(t);
}

}  // namespace

State* own_state() {
  if (State* s = state_of_thread()) return s;
  auto* s = new (std::nothrow) State;
  if (!s) return api().raise(LAMELLA_OUT_OF_MEMORY, "autocast: not enough memory"), nullptr;
  if (api().thread_slot_set(slot, s)) return delete s, nullptr;
  return s;
}

int32_t dtype_of(const State* s, int32_t backend) {
  if (s && s->dtypes[backend] != LAMELLA_NO_DTYPE) return s->dtypes[backend];
  const lamella_backend* b = api().backend_description(backend);
  return b && b->flags & LAMELLA_BACKEND_HOST ? LAMELLA_BFLOAT16 : LAMELLA_FLOAT16;
}

void set_enabled(State* s, int32_t backend, bool on) {
  const uint64_t bit = uint64_t{1} << backend;
  s->dtypes[backend] = static_cast<uint8_t>(dtype_of(s, backend));
  s->enabled = on ? s->enabled | bit : s->enabled & ~bit;
  switch_layer(s);
}

void enter(State* s, const Settings& settings) {
  const lamella_thread* t = api().thread();
  s->blocks.push_back({*s, (t->include & layer_bit) != 0, (t->exclude & layer_bit) != 0});
  s->nesting++;
  static_cast<Settings&>(*s) = settings;
  switch_layer(s);
}

void enter(State* s, int32_t backend, bool on, int32_t dtype, bool cache) {
  Settings to = *s;
  const uint64_t bit = uint64_t{1} << backend;
  to.dtypes[backend] = static_cast<uint8_t>(dtype);
  to.enabled = on ? to.enabled | bit : to.enabled & ~bit;
  to.cache = cache;
  enter(s, to);
}

void leave(State* s) {
  if (s->blocks.empty()) return;
  const Before& b = s->blocks.back();
  lamella_thread* t = api().thread();
  static_cast<Settings&>(*s) = b.settings;
  set_bit(&t->include, b.included);
  set_bit(&t->exclude, b.excluded);
  s->blocks.pop_back();
  if (--s->nesting <= 0 && !s->casts.empty()) s->casts.clear();
}

lamella_status cast(lamella_frame* f, State* s, lamella_tensor* t, int32_t dtype, TensorRef* out) {
  const lamella_autograd* a = autograd.load(std::memory_order_acquire);
  const bool kept = is_kept(s, a, t);
  const uint64_t version = kept ? api().tensor_version(t) : 0;
  if (kept)
    if (const auto found = s->casts.find(t); found != s->casts.end()) {
      const Cast& c = found->second;
      if (c.version == version && c.data == t->dl.data && c.to.dtype() == dtype) {
        *out = c.to;
        return LAMELLA_OK;
      }
    }
  const ExcludeGuard guard(layer_bit);
  const lamella_value args[] = {value(t), {LAMELLA_DTYPE, 0, {dtype}}};
  lamella_value made = none();
  if (const lamella_status st = api().call(f, to_dtype_operator, args, 2, &made, 1)) {
    if (st != LAMELLA_NOT_IMPLEMENTED || !(t->flags & LAMELLA_OPAQUE)) return st;
    api().error_clear();
    return LAMELLA_OK;
  }
  *out = TensorRef::steal(made.as.tensor);
  // Without a history the cast was made under no_grad, and must not be used where gradients are recorded.
  if (kept && is_recorded(a, out->get()))
    s->casts.insert_or_assign(t, Cast{TensorRef::borrow(t), *out, version, t->dl.data});
  return LAMELLA_OK;
}

void register_state(Library& m) {
  lamella_thread_slot_type type{};
  type.size = sizeof type;
  type.name = "autocast.state";
  type.copy = copy_state;
  type.destroy = [](void* state) { delete static_cast<State*>(state); };
  if (!m.status()) check(api().thread_slot(m.handle(), &type, &slot));
  to_dtype_operator = api().find_operator("aten::to", "dtype");
  const auto follow = [](void*, const void* table) { autograd = static_cast<const lamella_autograd*>(table); };
  if (!m.status()) check(api().on_interface(m.handle(), "autograd", 1, follow, nullptr, nullptr));
}

}  // namespace lamella::autocast
