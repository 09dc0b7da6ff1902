#include "state.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

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

bool is_excluded() { return (api().thread()->exclude & layer_bit) != 0; }

// Switches the layer on if autocast is on for any type of device. Backward and composites exclude the layer, so that a
// block that is opened there takes the exclusion away until its end.
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

std::vector<int64_t> layout_of(const lamella_tensor* t) {
  std::vector<int64_t> layout(t->dl.shape, t->dl.shape + t->dl.ndim);
  layout.insert(layout.end(), t->dl.strides, t->dl.strides + t->dl.ndim);
  return layout;
}

bool has_layout(const lamella_tensor* t, const std::vector<int64_t>& layout) {
  const auto n = static_cast<size_t>(t->dl.ndim);
  return layout.size() == 2 * n && std::equal(t->dl.shape, t->dl.shape + n, layout.begin()) &&
         std::equal(t->dl.strides, t->dl.strides + n, layout.begin() + static_cast<std::ptrdiff_t>(n));
}

bool is_valid(const Cast& c, const lamella_tensor* t, int32_t dtype) {
  return c.to.dtype() == dtype && c.version == api().tensor_version(t) && c.memory.get() == t->storage &&
         c.data == t->dl.data && has_layout(t, c.layout) && c.made_version == api().tensor_version(c.to.get());
}

// Keeps a cast in place of an older one, which dies after the map has changed, since a finalizer may open a block.
void keep_cast(State* s, lamella_tensor* t, const TensorRef& made) {
  api().storage_retain(t->storage);
  Cast c{TensorRef::borrow(t), made, {}, t->dl.data, {}, api().tensor_version(t), api().tensor_version(made.get())};
  c.memory.reset(t->storage);
  c.layout = layout_of(t);
  std::swap(s->casts[t], c);
}

void open(State* s, const void* block) {
  const lamella_thread* t = api().thread();
  s->blocks.push_back({block, *s, (t->include & layer_bit) != 0, (t->exclude & layer_bit) != 0});
  s->nesting++;
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

bool is_enabled(const State* s, int32_t backend) {
  if (!s || is_excluded()) return false;
  return backend < 0 ? s->enabled != 0 : s->enabled >> backend & 1;
}

void set_enabled(State* s, int32_t backend, bool on) {
  if (is_excluded()) s->enabled = 0;
  const uint64_t bit = uint64_t{1} << backend;
  s->dtypes[backend] = static_cast<uint8_t>(dtype_of(s, backend));
  s->enabled = on ? s->enabled | bit : s->enabled & ~bit;
  switch_layer(s);
}

void enter(State* s, const void* block) { open(s, block); }

void enter(State* s, const void* block, const Settings& settings) {
  open(s, block);
  static_cast<Settings&>(*s) = settings;
  switch_layer(s);
}

void enter(State* s, const void* block, int32_t backend, bool on, int32_t dtype, bool cache) {
  Settings to = *s;
  const uint64_t bit = uint64_t{1} << backend;
  if (is_excluded()) to.enabled = 0;  // a block casts for its own device alone where nothing else is cast
  to.dtypes[backend] = static_cast<uint8_t>(dtype);
  to.enabled = on ? to.enabled | bit : to.enabled & ~bit;
  to.cache = cache;
  enter(s, block, to);
}

lamella_status leave(State* s, const void* block) {
  const auto last =
      std::find_if(s->blocks.rbegin(), s->blocks.rend(), [=](const Before& b) { return b.block == block; });
  if (last == s->blocks.rend())
    return api().raise(LAMELLA_RUNTIME_ERROR, "autocast: __exit__ of a block that is not open on this thread");
  const auto at = std::prev(last.base()), above = std::next(at);
  if (above == s->blocks.end()) {
    lamella_thread* t = api().thread();
    static_cast<Settings&>(*s) = at->settings;
    set_bit(&t->include, at->included);
    set_bit(&t->exclude, at->excluded);
  } else {
    const void* name = above->block;
    *above = *at;
    above->block = name;
  }
  s->blocks.erase(at);
  if (--s->nesting <= 0) drop_casts(s);
  return LAMELLA_OK;
}

void drop_casts(State* s) {
  if (!s->casts.empty()) std::exchange(s->casts, {});
}

lamella_status cast(lamella_frame* f, State* s, lamella_tensor* t, int32_t dtype, TensorRef* out) {
  const lamella_autograd* a = autograd.load(std::memory_order_acquire);
  const bool kept = is_kept(s, a, t);
  if (kept)
    if (const auto found = s->casts.find(t); found != s->casts.end() && is_valid(found->second, t, dtype)) {
      *out = found->second.to;
      return LAMELLA_OK;
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
  if (kept && is_recorded(a, out->get())) keep_cast(s, t, *out);
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
