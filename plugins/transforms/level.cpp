#include "level.h"

#include <algorithm>
#include <atomic>
#include <memory>

namespace lamella::transforms {
namespace {

int32_t thread_slot = -1;

lamella_status copy_state(void* state, void** out) {
  return guarded([&]() -> lamella_status {
    auto to = std::make_unique<State>();
    to->levels = static_cast<const State*>(state)->levels;
    *out = to.release();
    return LAMELLA_OK;
  });
}

void include_layer(bool on) {
  lamella_thread* t = api().thread();
  t->include = on ? t->include | layer_bit : t->include & ~layer_bit;
}

// The bit of autograd's layer; 0 if no plugin differentiates.
uint64_t autograd_bit() {
  const lamella_autograd* a = Tensor::autograd();
  return a ? uint64_t{1} << a->layer : 0;
}

// Returns a view of a batch in another dtype over the same memory.
Tensor reinterpreted(const Tensor& batch, ScalarType dtype) {
  if (batch.dtype() == dtype) return batch;
  if (is_complex(batch.dtype()) && !is_complex(dtype)) return batch.view_as_real();
  if (!is_complex(batch.dtype()) && is_complex(dtype)) return batch.view_as_complex();
  return batch.view(dtype);
}

// Returns the view of a batch whose samples have the sizes, strides and offset of a view of the box.
Tensor view_of_batch(const Tensor& from_batch, const Tensor& from, const Tensor& to) {
  const Tensor batch = reinterpreted(from_batch, to.dtype());
  std::vector<int64_t> sizes{batch.size(0)}, strides{batch.stride(0)};
  sizes.insert(sizes.end(), to.sizes().begin(), to.sizes().end());
  strides.insert(strides.end(), to.strides().begin(), to.strides().end());
  const int64_t before = from.storage_offset() * from.itemsize() / to.itemsize();
  // A view without elements may begin behind the memory.
  const int64_t step = to.numel() ? to.storage_offset() - before : 0;
  const int64_t offset = batch.storage_offset() + step;
  return batch.as_strided(sizes, strides, offset);
}

}  // namespace

std::optional<Box> Box::carry(const Tensor& from, const Tensor& to, int32_t how) const {
  switch (how) {
    case LAMELLA_CARRY_VIEW:
    case LAMELLA_CARRY_RESIZE:
      return Box{level, view_of_batch(batch, from, to)};
    case LAMELLA_CARRY_DETACH:
      return Box{level, batch};
    case LAMELLA_CARRY_COPY:
      return Box{level, batch.clone()};
    default:
      return std::nullopt;
  }
}

State& state() {
  auto* s = static_cast<State*>(api().thread_slot_get(thread_slot));
  if (s) return *s;
  s = new State;
  if (const lamella_status st = api().thread_slot_set(thread_slot, s)) {
    delete s;
    check(st);
  }
  return *s;
}

const Level* find_level(const State& s, int64_t number) {
  for (const Level& l : s.levels)
    if (l.number == number) return &l;
  return nullptr;
}

int64_t open_level(int64_t size, int32_t randomness, int32_t fallback) {
  static std::atomic<int64_t> last{0};
  State& s = state();
  s.levels.push_back({++last, size, randomness, fallback});
  include_layer(true);
  return s.levels.back().number;
}

void close_level(int64_t number) {
  State& s = state();
  const auto at = std::find_if(s.levels.begin(), s.levels.end(), [=](const Level& l) { return l.number == number; });
  s.levels.erase(at, s.levels.end());
  if (s.levels.empty()) include_layer(false);
}

Tensor boxed(const Tensor& batch, int64_t level) {
  Tensor box = opaque_over(batch, sizes_of_sample(batch), TensorOptions(batch.dtype()), behind_first(batch.strides()));
  boxes.set(box, Box{level, batch});
  return box;
}

Tensor boxed_along(const Tensor& batch, int64_t dim, int64_t level) {
  const int64_t d = dim < 0 ? dim + batch.dim() : dim;
  return boxed(d == 0 ? batch : batch.movedim(d, 0), level);
}

Tensor unboxed(const Tensor& t, const Level& level, int64_t dim) {
  const Box* b = box_of(t.get());
  if (b && b->level == level.number) {
    const int64_t d = dim < 0 ? dim + b->batch.dim() : dim;
    return d == 0 ? b->batch : b->batch.movedim(0, d);
  }
  const int64_t d = dim < 0 ? dim + t.dim() + 1 : dim;
  std::vector<int64_t> sizes = t.sizes().vec();
  sizes.insert(sizes.begin() + d, level.size);
  return t.unsqueeze(d).expand(sizes);
}

Tensor cut(const Tensor& t) {
  lamella_tensor* out = nullptr;
  check(api().tensor_detach(t.get(), autograd_bit(), &out));
  return Tensor::steal(out);
}

Tensor fresh(const Tensor& t) {
  const State& s = state();
  Tensor leaf = cut(t);
  leaf.requires_grad_();
  if (!s.levels.empty()) insides.set(leaf, Inside{s.levels.back().number});
  return leaf;
}

Tensor outside(const Tensor& t, int64_t level) {
  if (!(t.get()->keys & autograd_bit())) return t;
  const Inside* leaf = insides.get(t);
  return leaf && leaf->level >= level ? cut(t) : t;
}

AsCalled::AsCalled(const lamella_frame* f, State& s, int64_t level)
    : thread_(f->thread),
      s_(s),
      below_(s.below),
      exclude_(thread_->exclude),
      excluded_(s.excluded),
      in_composite_(s.in_composite) {
  s.below = std::min(s.below, level);
  const uint64_t again = autograd_bit() | layer_bit;
  thread_->exclude = (s.in_composite ? s.excluded : f->excluded) | ((exclude_ | f->passed) & ~again);
  s.in_composite = false;
}

AsCalled::~AsCalled() {
  thread_->exclude = exclude_;
  s_.below = below_;
  s_.in_composite = in_composite_;
  s_.excluded = excluded_;
}

InComposite::InComposite(const lamella_frame* f, State& s, int64_t level)
    : s_(s), excluded_(s.excluded), composite_(s.composite), in_composite_(s.in_composite) {
  s.composite = level;
  if (!s.in_composite) s.excluded = f->excluded;
  s.in_composite = true;
}

InComposite::~InComposite() {
  s_.composite = composite_;
  s_.in_composite = in_composite_;
  s_.excluded = excluded_;
}

void register_levels(Library& m) {
  lamella_thread_slot_type type{};
  type.size = sizeof type;
  type.name = "vmap.levels";
  type.copy = copy_state;
  type.destroy = [](void* state) { delete static_cast<State*>(state); };
  if (!m.status()) check(api().thread_slot(m.handle(), &type, &thread_slot));
  m.tensor_slot("vmap.box", boxes, layer_name);
  m.tensor_slot("vmap.inside", insides);
}

}  // namespace lamella::transforms
