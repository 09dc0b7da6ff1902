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
std::atomic<int64_t> last_number{0};

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

// Returns a view of a batch in another dtype over the same memory.
Tensor reinterpreted(const Tensor& t, ScalarType dtype) {
  if (t.dtype() == dtype) return t;
  if (is_complex(t.dtype()) && !is_complex(dtype)) return t.view_as_real();
  if (!is_complex(t.dtype()) && is_complex(dtype)) return t.view_as_complex();
  return t.view(dtype);
}

// Returns the number of elements from a tensor's first one to its last one in memory.
int64_t span_of(const Tensor& t) {
  int64_t span = 1;
  for (int64_t d = 0; d < t.dim(); d++) span += (t.size(d) - 1) * t.stride(d);
  return t.numel() ? span : 0;
}

// Returns the memory of a tensor in another dtype, as one dimension, or two of complex numbers as pairs.
Tensor memory_as(const Tensor& t, ScalarType dtype) {
  if (t.dtype() == dtype) return t;
  const int64_t n = span_of(t);
  if (is_complex(dtype) && !is_complex(t.dtype()))
    return t.as_strided({n / 2, 2}, {2, 1}, t.storage_offset()).view_as_complex();
  return reinterpreted(t.as_strided({n}, {1}, t.storage_offset()), dtype);
}

// Returns the view of what is in the box `from` that the box `to` is of `from`; a batch keeps its dimension 0.
Tensor view_of_inner(const Tensor& of, bool is_batch, const Tensor& from, const Tensor& to) {
  const Tensor inner = is_batch ? reinterpreted(of, to.dtype()) : memory_as(of, to.dtype());
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

// Returns the dimensions of a tensor from the largest stride to the smallest.
std::vector<int64_t> by_stride(const Tensor& t) {
  std::vector<int64_t> order(static_cast<size_t>(t.dim()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return t.stride(a) > t.stride(b); });
  return order;
}

}  // namespace

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

namespace {

// Returns a tensor's elements with the strides of another one of its sizes, which may leave gaps.
Tensor with_strides_of(const Tensor& t, const Tensor& other) {
  if (has_strides_of(t, other)) return t;
  const std::vector<int64_t> order = by_stride(other);
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); i++) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  const Tensor dense = t.permute(order).clone(MemoryFormat::Contiguous).permute(back);
  if (has_strides_of(dense, other)) return dense;
  const Tensor memory = lamella::zeros({span_of(other)}, TensorOptions(t.dtype()).device(t.device()));
  return memory.as_strided_scatter(t, other.sizes(), other.strides(), 0).as_strided(other.sizes(), other.strides(), 0);
}

}  // namespace

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

namespace {

// ---- parts of a value that a tensor and its views share

// Returns the place of a box's first element among the bytes that a value is of.
int64_t place_of(const Box& b, const Tensor& box) { return box.storage_offset() * box.itemsize() + b.shift; }

// Returns whether a tensor at a place is all of a value, and not a view of it.
bool is_whole(const Whole& w, const Tensor& t, int64_t place) {
  return w.value.dtype() == t.dtype() && w.value.sizes() == t.sizes() && place == w.place &&
         (!w.strided || has_strides_of(w.value, t));
}

// Returns the offset in `memory`, a value in a tensor's dtype, of the tensor at a place.
int64_t offset_in(const Whole& w, const Tensor& memory, const Tensor& t, int64_t place) {
  return memory.storage_offset() + (t.numel() ? (place - w.place) / t.itemsize() : 0);
}

// Returns the part of a value that a box shows; `part` is what it was after `b->seen` writes.
const Tensor& part_of(const lamella_tensor* t, Box* b, Tensor& part) {
  if (b->seen == b->whole->writes) return part;
  const Tensor box = Tensor::borrow(const_cast<lamella_tensor*>(t));
  const Level* level = find_level(state(), b->level);
  const Below below(state(), b->level);
  const bool copies = level && level->kind == Kind::functional && level->choice == copy_views;
  part = part_at(*b->whole, box, place_of(*b, box), copies);
  b->seen = b->whole->writes;
  return part;
}

}  // namespace

std::shared_ptr<Whole> whole_of(const Tensor& value, const Tensor& of) {
  if (!value.defined()) return nullptr;
  return std::make_shared<Whole>(Whole{value, of.storage_offset() * of.itemsize(), has_strides_of(value, of)});
}

Tensor part_at(const Whole& w, const Tensor& like, int64_t place, bool copies) {
  if (is_whole(w, like, place)) return w.value;
  const Tensor memory = memory_as(w.value, like.dtype());
  const int64_t offset = offset_in(w, memory, like, place);
  return copies ? memory.as_strided_copy(like.sizes(), like.strides(), offset)
                : memory.as_strided(like.sizes(), like.strides(), offset);
}

void replace_at(Whole* w, const Tensor& like, int64_t place, const Tensor& value) {
  if (is_whole(*w, like, place)) {
    w->value = w->strided ? with_strides_of(value, like) : value;
  } else {  // the elements of the base are replaced at the place of the view
    const Tensor memory = memory_as(w->value, like.dtype());
    const int64_t offset = offset_in(*w, memory, like, place);
    Tensor made = memory.as_strided_scatter(value, like.sizes(), like.strides(), offset);
    if (like.dtype() != w->value.dtype()) {
      made = memory_as(made, w->value.dtype());
      made = made.as_strided(w->value.sizes(), w->value.strides(), made.storage_offset());
    }
    w->value = with_strides_of(made, w->value);
  }
  w->writes++;
}

bool has_strides_of(const Tensor& t, const Tensor& other) {
  for (int64_t d = 0; d < t.dim(); d++)
    if (t.size(d) != 1 && t.stride(d) != other.stride(d)) return false;
  return true;
}

void replace_part(const Tensor& box, const Tensor& value) {
  Box* b = boxes.get(box);
  replace_at(b->whole.get(), box, place_of(*b, box), value);
}

uint64_t autograd_bit() {
  const lamella_autograd* a = Tensor::autograd();
  return a ? uint64_t{1} << a->layer : 0;
}

std::optional<Box> Box::carry(const Tensor& from, const Tensor& to, int32_t how) const {
  switch (how) {
    case LAMELLA_CARRY_VIEW:
    case LAMELLA_CARRY_RESIZE: {
      if (whole && is_whole(*whole, from, place_of(*this, from))) {  // views are made by strides
        const Below below(state(), level);
        whole->value = with_strides_of(whole->value, from);
        whole->strided = true;
      }
      if (kind == Kind::functional) return Box{level, Tensor(), kind, whole, {}, -1, shift};
      return Box{level, view_of_inner(inner, kind == Kind::vmap, from, to), kind, whole};
    }
    case LAMELLA_CARRY_DETACH:
      return *this;
    case LAMELLA_CARRY_COPY:
      if (kind == Kind::functional) return Box{level, Tensor(), kind, whole_of(inner_of(from.get()).clone(), to)};
      return Box{level, inner.clone(), kind, whole ? whole_of(tangent_of(from.get()), to) : nullptr};
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

int64_t functional_level(const State& s) {
  for (size_t i = s.levels.size(); i-- > 0;)
    if (s.levels[i].number < s.below && s.levels[i].kind == Kind::functional) return s.levels[i].number;
  return 0;
}

bool is_open_level(int64_t number) {
  const std::lock_guard<std::mutex> guard(open_lock);
  return open_numbers().count(number) != 0;
}

int64_t last_level() { return last_number; }

int64_t open_level(const Level& described) {
  State& s = state();
  s.levels.push_back(described);
  s.levels.back().number = ++last_number;
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

const lamella_tensor* open_box_of(const lamella_tensor* t) {
  const lamella_tensor* found = nullptr;
  for (const Box* b = box_of(t); b; b = box_of(t)) {
    found = t;
    if (b->kind == Kind::vmap || is_open_level(b->level)) break;
    t = inner_of(t).get();
  }
  return found;
}

const Tensor& inner_of(const lamella_tensor* t) {
  Box* b = boxes.get(t);
  return b->kind == Kind::functional ? part_of(t, b, b->inner) : b->inner;
}

const Tensor& tangent_of(const lamella_tensor* t) {
  Box* b = boxes.get(t);
  return b->whole && b->kind == Kind::forward ? part_of(t, b, b->tangent) : b->tangent;
}

Tensor zeros_of(const Tensor& like) {
  return lamella::zeros({}, TensorOptions(like.dtype()).device(like.device())).expand(like.sizes());
}

Tensor boxed(const Tensor& batch, int64_t level) {
  Tensor box = opaque_over(batch, sizes_of_sample(batch), TensorOptions(batch.dtype()), behind_first(batch.strides()));
  boxes.set(box, Box{level, batch});
  return box;
}

Tensor dual(const Tensor& primal, const Tensor& tangent, int64_t level) {
  // Views of the tangent are made by strides, which cannot follow elements that share memory.
  const Tensor inner = overlaps(primal) ? primal.clone(MemoryFormat::Contiguous) : primal;
  Tensor box = opaque_over(inner, inner.sizes(), TensorOptions(inner.dtype()), inner.strides());
  boxes.set(box, Box{level, inner, Kind::forward, whole_of(tangent, box)});
  return box;
}

bool is_recorded(const Tensor& t) {
  const lamella_autograd* a = Tensor::autograd();
  if (!a || !t.defined()) return false;
  if (a->requires_grad(t.get())) return true;
  const Box* b = box_of(t.get());
  return b && (is_recorded(inner_of(t.get())) || is_recorded(tangent_of(t.get())));
}

Box* become_dual(const Tensor& t, int64_t level) {
  const auto at_level = [level](const Tensor& x) {
    Box* b = boxes.get(x);
    return b && b->level == level ? b : nullptr;
  };
  if (Box* b = at_level(t)) return b;
  lamella_tensor* root = api().tensor_base(t.get());
  const Tensor base = root ? Tensor::borrow(root) : t;
  if (!at_level(base)) {
    const Tensor inner = elements_of(base);
    const auto tangent = is_differentiable(inner) ? whole_of(zeros_of(inner), base) : nullptr;
    boxes.set(base, Box{level, inner, Kind::forward, tangent});
  }
  if (root) boxes.set(t, at_level(base)->carry(base, t, LAMELLA_CARRY_VIEW));
  return boxes.get(t);
}

Tensor boxed_along(const Tensor& batch, int64_t dim, int64_t level) {
  const int64_t d = dim < 0 ? dim + batch.dim() : dim;
  return boxed(d == 0 ? batch : batch.movedim(d, 0), level);
}

Tensor unboxed(const Tensor& t, const Level& level, int64_t dim) {
  const lamella_tensor* box = open_box_of(t.get());
  if (const Box* b = box_of(box); b && b->level == level.number) {
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
