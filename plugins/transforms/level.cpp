#include "level.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>

namespace lamella::transforms {
namespace {

int32_t thread_slot = -1;

// The levels that are open on any thread.
std::mutex open_lock;
std::set<int64_t>& open_numbers() {
  static auto* numbers = new std::set<int64_t>;
  return *numbers;
}

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

}  // namespace

Tensor reinterpreted(const Tensor& t, ScalarType dtype) {
  if (t.dtype() == dtype) return t;
  if (is_complex(t.dtype()) && !is_complex(dtype)) return t.view_as_real();
  if (!is_complex(t.dtype()) && is_complex(dtype)) return t.view_as_complex();
  return t.view(dtype);
}

// A batch keeps its dimension 0.
Tensor view_of_inner(const Tensor& of, bool is_batch, const Tensor& from, const Tensor& to) {
  const Tensor inner = reinterpreted(of, to.dtype());
  std::vector<int64_t> sizes, strides;
  if (is_batch) {
    sizes.push_back(inner.size(0));
    strides.push_back(inner.stride(0));
  }
  sizes.insert(sizes.end(), to.sizes().begin(), to.sizes().end());
  strides.insert(strides.end(), to.strides().begin(), to.strides().end());
  const int64_t before = from.storage_offset() * from.itemsize() / to.itemsize();
  // A view without elements may begin behind the memory.
  const int64_t step = to.numel() ? to.storage_offset() - before : 0;
  return inner.as_strided(sizes, strides, inner.storage_offset() + step);
}

namespace {

// Returns the dimensions of a tensor from the largest stride to the smallest.
std::vector<int64_t> by_stride(const Tensor& t) {
  std::vector<int64_t> order(static_cast<size_t>(t.dim()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return t.stride(a) > t.stride(b); });
  return order;
}

}  // namespace

bool has_strides_of(const Tensor& t, const Tensor& other) {
  for (int64_t d = 0; d < t.dim(); d++)
    if (t.size(d) != 1 && t.stride(d) != other.stride(d)) return false;
  return true;
}

namespace {

// Returns whether two elements of a tensor may share memory.
bool overlaps(const Tensor& t) {
  if (t.numel() == 0) return false;
  int64_t reach = 0;  // of the dimensions with smaller strides
  std::vector<int64_t> order = by_stride(t);
  for (size_t i = order.size(); i-- > 0;) {
    const int64_t d = order[i];
    if (t.size(d) == 1) continue;
    if (t.stride(d) <= reach) return true;
    reach += (t.size(d) - 1) * t.stride(d);
  }
  return false;
}

// Returns a copy of a tensor with the strides of another one, which may leave gaps.
Tensor strided_as(const Tensor& t, const Tensor& other) {
  int64_t span = 1;
  for (int64_t d = 0; d < t.dim(); d++) span += (other.size(d) - 1) * other.stride(d);
  const Tensor memory = lamella::zeros({span}, TensorOptions(t.dtype()).device(t.device()));
  return memory.as_strided_scatter(t, other.sizes(), other.strides(), 0).as_strided(other.sizes(), other.strides(), 0);
}

}  // namespace

Tensor with_strides_of(const Tensor& t, const Tensor& other) {
  const std::vector<int64_t> order = by_stride(other);
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); i++) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  const Tensor dense = t.permute(order).clone(MemoryFormat::Contiguous).permute(back);
  return has_strides_of(dense, other) ? dense : strided_as(dense, other);
}

namespace {

// Returns another tensor over the same elements, with their history: what a plain tensor has in it when it becomes a box. A
// box of a closed level counts as what is in it.
Tensor elements_of(const Tensor& base) {
  Tensor whole = base;
  while (const Box* b = box_of(whole.get())) {
    if (b->kind == Kind::vmap || is_open_level(b->level)) break;
    const Tensor next = inner_of(whole.get());
    whole = next;
  }
  const Tensor made = cut(whole);
  const lamella_autograd* a = Tensor::autograd();
  if (!a || !a->requires_grad(whole.get())) return made;
  lamella_node* n = nullptr;
  uint32_t output;
  check(a->edge(whole.get(), &n, &output));
  const lamella_status st = a->set_history(made.get(), n, output);
  a->node_release(n);
  check(st);
  return made;
}

// Returns the state of a box that is no view.
Box functional_state(const Tensor& value, const Tensor& box, int64_t level) {
  Box made{level, value, Kind::functional};
  made.whole = std::make_shared<Whole>(Whole{value, box.storage_offset() * box.itemsize()});
  return made;
}

}  // namespace

uint64_t autograd_bit() {
  const lamella_autograd* a = Tensor::autograd();
  return a ? uint64_t{1} << a->layer : 0;
}

void Box::settle_tangent(const Tensor& box) {
  if (!tangent.defined() || tangent.numel() == 0) return;
  if (owns_tangent && has_strides_of(tangent, box)) return;
  owns_tangent = true;
  tangent = with_strides_of(tangent, box);
}

std::optional<Box> Box::carry(const Tensor& from, const Tensor& to, int32_t how) const {
  switch (how) {
    case LAMELLA_CARRY_VIEW:
    case LAMELLA_CARRY_RESIZE: {
      if (whole) return Box{level, Tensor(), kind, {}, false, whole, -1};
      Box view{level, view_of_inner(inner, kind == Kind::vmap, from, to), kind};
      if (tangent.defined()) {
        boxes.get(from)->settle_tangent(from);
        view.tangent = view_of_inner(tangent, false, from, to);
        view.owns_tangent = true;
      }
      return view;
    }
    case LAMELLA_CARRY_DETACH:
      return *this;
    case LAMELLA_CARRY_COPY:
      if (whole) return functional_state(inner_of(from.get()), to, level);
      return Box{level, inner.clone(), kind, tangent.defined() ? tangent.clone() : Tensor(), true};
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

bool is_open_level(int64_t number) {
  const std::lock_guard<std::mutex> guard(open_lock);
  return open_numbers().count(number) != 0;
}

int64_t open_level(const Level& described) {
  static std::atomic<int64_t> last{0};
  State& s = state();
  s.levels.push_back(described);
  s.levels.back().number = ++last;
  {
    const std::lock_guard<std::mutex> guard(open_lock);
    open_numbers().insert(s.levels.back().number);
  }
  include_layer(true);
  return s.levels.back().number;
}

void close_level(int64_t number) {
  State& s = state();
  const auto at = std::find_if(s.levels.begin(), s.levels.end(), [=](const Level& l) { return l.number == number; });
  {
    const std::lock_guard<std::mutex> guard(open_lock);
    for (auto l = at; l != s.levels.end(); l++) open_numbers().erase(l->number);
  }
  s.levels.erase(at, s.levels.end());
  if (s.levels.empty()) include_layer(false);
}

const Box* open_box_of(const lamella_tensor* t) {
  const Box* found = box_of(t);
  for (const Box* b = found; b; b = box_of(t)) {
    found = b;
    t = inner_of(t).get();
    if (b->kind == Kind::vmap || is_open_level(b->level)) break;
  }
  return found;
}

const Tensor& inner_of(const lamella_tensor* t) {
  Box* b = boxes.get(t);
  if (!b->whole || b->seen == b->whole->writes) return b->inner;
  State& s = state();
  const Below below(s, b->level);
  const Level* level = find_level(s, b->level);
  const Whole& w = *b->whole;
  const Tensor box = Tensor::borrow(const_cast<lamella_tensor*>(t));
  const Tensor value = reinterpreted(w.value, box.dtype());
  const int64_t step = box.numel() ? box.storage_offset() - w.offset / box.itemsize() : 0;
  const int64_t offset = value.storage_offset() + step;
  b->inner = level && level->choice == copy_views ? value.as_strided_copy(box.sizes(), box.strides(), offset)
                                                  : value.as_strided(box.sizes(), box.strides(), offset);
  b->seen = w.writes;
  return b->inner;
}

Tensor boxed(const Tensor& batch, int64_t level) {
  Tensor box = opaque_over(batch, sizes_of_sample(batch), TensorOptions(batch.dtype()), behind_first(batch.strides()));
  boxes.set(box, Box{level, batch});
  return box;
}

Tensor dual(const Tensor& primal, const Tensor& tangent, int64_t level, bool owns_tangent) {
  // Views of the tangent are made by strides, which cannot follow elements that share memory.
  const Tensor inner = overlaps(primal) ? primal.clone(MemoryFormat::Contiguous) : primal;
  Tensor box = opaque_over(inner, inner.sizes(), TensorOptions(inner.dtype()), inner.strides());
  boxes.set(box, Box{level, inner, Kind::forward, tangent, owns_tangent});
  return box;
}

bool is_recorded(const Tensor& t) {
  const lamella_autograd* a = Tensor::autograd();
  if (!a || !t.defined()) return false;
  if (a->requires_grad(t.get())) return true;
  const Box* b = box_of(t.get());
  return b && (is_recorded(inner_of(t.get())) || is_recorded(b->tangent));
}

Tensor functional(const Tensor& value, int64_t level) {
  const Below below(state(), level);
  const Tensor inner = overlaps(value) ? value.clone(MemoryFormat::Contiguous) : value;
  Tensor box = opaque_over(inner, inner.sizes(), TensorOptions(inner.dtype()), inner.strides());
  boxes.set(box, functional_state(inner, box, level));
  return box;
}

Box* become_functional(const Tensor& t, int64_t level) {
  const auto at_level = [level](const Tensor& x) {
    Box* b = boxes.get(x);
    return b && b->level == level ? b : nullptr;
  };
  if (Box* b = at_level(t)) return b;
  lamella_tensor* root = api().tensor_base(t.get());
  const Tensor base = root ? Tensor::borrow(root) : t;
  State& s = state();
  if (!at_level(base)) {
    boxes.set(base, functional_state(elements_of(base), base, level));
    s.became.push_back(base);
  }
  if (root) {
    boxes.set(t, at_level(base)->carry(base, t, LAMELLA_CARRY_VIEW));
    s.became.push_back(t);
  }
  return boxes.get(t);
}

Box* become_dual(const Tensor& t, int64_t level, const Tensor& like) {
  const auto at_level = [level](const Tensor& x) {
    Box* b = boxes.get(x);
    return b && b->level == level ? b : nullptr;
  };
  if (Box* b = at_level(t)) return b;
  lamella_tensor* root = api().tensor_base(t.get());
  const Tensor base = root ? Tensor::borrow(root) : t;
  if (!at_level(base)) {
    const Tensor inner = elements_of(base);
    Box state{level, inner, Kind::forward};
    if (is_differentiable(inner)) {
      const bool is_shared = !like.defined() || !like.is_opaque() || like.numel() == 0;
      const Tensor number = is_shared ? Tensor() : lamella::zeros_like(like).sum().to(inner.dtype());
      state.tangent = lamella::zeros_like(is_shared ? inner : number.expand(inner.sizes()));
    }
    state.settle_tangent(base);
    boxes.set(base, state);
  }
  if (root) boxes.set(t, at_level(base)->carry(base, t, LAMELLA_CARRY_VIEW));
  return boxes.get(t);
}

Tensor boxed_along(const Tensor& batch, int64_t dim, int64_t level) {
  const int64_t d = dim < 0 ? dim + batch.dim() : dim;
  return boxed(d == 0 ? batch : batch.movedim(d, 0), level);
}

Tensor unboxed(const Tensor& t, const Level& level, int64_t dim) {
  const Box* b = open_box_of(t.get());
  if (b && b->level == level.number) {
    const int64_t d = dim < 0 ? dim + b->inner.dim() : dim;
    return d == 0 ? b->inner : b->inner.movedim(0, d);
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
