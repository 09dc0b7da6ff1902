#include "layer.h"

#include <algorithm>

#include "call.h"
#include "forward.h"
#include "functional.h"
#include "lowered.h"

namespace lamella::transforms {
namespace {

// Calls f(tensor) for each tensor among the arguments, in lists too.
template <class F>
void each_tensor(const lamella_value* args, int n, F&& f) {
  for (int i = 0; i < n; i++) {
    if (args[i].tag == LAMELLA_TENSOR) f(args[i].as.tensor);
    if (args[i].tag == LAMELLA_TENSOR_LIST)
      for (uint32_t k = 0; k < args[i].length; k++) f(args[i].as.tensors[k]);
  }
}

// Returns the arguments with another tensor in the place of the first one, which is repeated for each sample of a level.
std::vector<lamella_value> repeated(lamella_frame* f, const lamella_value* args, State& s, const Plan& p,
                                    const Level& level, Tensor* box) {
  std::vector<lamella_value> values(args, args + f->num_args);
  for (const int i : p.tensors) {
    if (values[static_cast<size_t>(i)].tag != LAMELLA_TENSOR) continue;
    const AsCalled as(f, s, level.number);
    const Tensor t = Tensor::borrow(args[i].as.tensor);
    Sizes sizes = t.sizes().vec();
    sizes.insert(sizes.begin(), level.size);
    *box = boxed(t.unsqueeze(0).expand(sizes), level.number);
    values[static_cast<size_t>(i)] = value(box->get());
    break;
  }
  return values;
}

// Draws different random numbers for each sample of a level, though no tensor of the call is batched there.
lamella_status draw(lamella_frame* f, const lamella_value* args, lamella_value* rets, State& s, const Plan& p,
                    const Level& level) {
  LAMELLA_CHECK(
      p.written < 0, "vmap: ", title(f),
      " writes random numbers that differ between samples into a tensor that all samples share; make the tensor "
      "by empty_like of one that vmap maps over, or give vmap randomness='same'");
  Tensor box;
  const std::vector<lamella_value> values = repeated(f, args, s, p, level, &box);
  Call c(f, values.data(), rets, s, level, p);
  if (box.defined()) return c.run();
  const AsCalled as(f, s, level.number);
  const int at = argument_named(f->op, "size");
  if (at < 0) return c.loop();  // randperm
  Lowered on(c);
  Sizes sizes(args[at].as.ints, args[at].as.ints + args[at].length);
  sizes.insert(sizes.begin(), level.size);
  on.ints(at, sizes);
  on.run(f->op);
  on.give();
  return LAMELLA_OK;
}

// Makes a tensor within a composite that computes with samples and may write their values into it: each sample gets its
// own, at a level.
lamella_status make(lamella_frame* f, const lamella_value* args, lamella_value* rets, State& s, const Plan& p,
                    const Level& level) {
  if (!p.tensors.empty()) {
    Tensor box;
    const std::vector<lamella_value> values = repeated(f, args, s, p, level, &box);
    const InComposite in(f, s, level.number);
    const ExcludeGuard outside(f->passed & ~layer_bit);
    return api().call(f->parent, f->op, values.data(), f->num_args, rets, f->num_rets);
  }
  Call c(f, args, rets, s, level, p);
  const int at = argument_named(f->op, "size");
  Lowered on(c);
  Sizes sizes(args[at].as.ints, args[at].as.ints + args[at].length);
  if (std::string_view(api().operator_name(f->op)) == "aten::empty_strided") {  // the samples lie one after the other
    Sizes strides(args[at + 1].as.ints, args[at + 1].as.ints + args[at + 1].length);
    int64_t step = 1;
    for (size_t i = 0; i < sizes.size(); i++) step += (std::max<int64_t>(sizes[i], 1) - 1) * strides[i];
    strides.insert(strides.begin(), step);
    on.ints(at + 1, strides);
  }
  sizes.insert(sizes.begin(), level.size);
  on.ints(at, sizes);
  const AsCalled as(f, s, level.number);
  on.run(f->op, f->parent);  // within the same composite, so that outer levels make theirs
  on.give();
  return LAMELLA_OK;
}

// Returns the innermost level of vmap that has yet to serve a call whose tensors belong to `top` at most; null if there
// is none.
const Level* innermost(const State& s, int64_t top) {
  for (size_t i = s.levels.size(); i-- > 0;)
    if (s.levels[i].number < s.below && s.levels[i].kind == Kind::vmap)
      return s.levels[i].number > top ? &s.levels[i] : nullptr;
  return nullptr;
}

// Returns the level at which a random operator draws different numbers though it has no tensor there; null if there is
// none. Levels below `top` are served by the call on the batch.
const Level* level_that_draws(const lamella_frame* f, const State& s, int64_t top) {
  for (size_t i = s.levels.size(); i-- > 0;) {
    const Level& l = s.levels[i];
    if (l.number >= s.below || l.kind != Kind::vmap) continue;
    if (l.number <= top) return nullptr;
    if (l.randomness == different_random) return &l;
    LAMELLA_CHECK(l.randomness == same_random, "vmap: ", title(f), refused_random);
  }
  return nullptr;
}

// Returns the level at which a tensor is made that a composite may write samples into; null if there is none.
const Level* level_that_makes(const State& s, int64_t top) {
  for (size_t i = s.levels.size(); i-- > 0;) {
    const Level& l = s.levels[i];
    if (l.number >= s.below || l.kind != Kind::vmap || (s.in_composite && l.number != s.composite)) continue;
    return l.number > top ? &l : nullptr;
  }
  return nullptr;
}

// Gives a view the tangent of its base, which became a box of forward mode after the view was made.
void follow_base(lamella_tensor* t) {
  const lamella_tensor* base = t->keys & layer_bit ? nullptr : api().tensor_base(t);
  if (!base || !(base->keys & layer_bit)) return;
  const Box* b = boxes.get(base);
  if (!b || b->kind != Kind::forward) return;
  boxes.set(Tensor::borrow(t),
            b->carry(Tensor::borrow(const_cast<lamella_tensor*>(base)), Tensor::borrow(t), LAMELLA_CARRY_VIEW));
}

// Serves every operator.
lamella_status serve(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return guarded([&]() -> lamella_status {
    int64_t top = 0;
    Kind kind = Kind::vmap;
    each_tensor(args, f->num_args, [&](lamella_tensor* t) {
      if (t) follow_base(t);
      const Box* b = box_of(t);
      if (!b || b->level <= top) return;
      top = b->level;
      kind = b->kind;
    });
    State& s = state();
    if (const int64_t level = functional_level(s); level > top) {
      top = level;
      kind = Kind::functional;
    }
    auto* op = static_cast<Served*>(f->context);
    const bool made = is_made(f, *op);
    if (!top && !made && op->kind != Served::draws) return api().redispatch(f, args, f->num_args, rets, f->num_rets);
    const Plan& p = op->get();
    const Level* of_composite = s.in_composite ? find_level(s, s.composite) : nullptr;
    if (made && of_composite && of_composite->kind != Kind::vmap && top < s.composite) {  // outer levels make theirs
      const AsCalled as(f, s, s.composite);
      return api().call(f->parent, f->op, args, f->num_args, rets, f->num_rets);
    }
    if (made)
      if (const Level* level = level_that_makes(s, top)) return make(f, args, rets, s, p, Level(*level));
    if (op->kind == Served::draws) {
      if (const Level* level = p.may_draw ? innermost(s, top) : nullptr; level && level->randomness == refuse_random) {
        const InComposite in(f, s, level->number);
        return api().decompose(f, args, f->num_args, rets, f->num_rets);
      }
      if (const Level* level = level_that_draws(f, s, top)) return draw(f, args, rets, s, p, Level(*level));
    }
    if (!top) return api().redispatch(f, args, f->num_args, rets, f->num_rets);
    const Level* level = find_level(s, top);
    LAMELLA_CHECK(
        level || kind == Kind::vmap || !is_open_level(top), title(f), ": a tensor ",
        kind == Kind::forward ? "has a tangent at a level of forward mode" : "belongs to a call of functionalize",
        " that another thread has opened");
    if (kind == Kind::forward) return serve_forward(f, args, rets, s, top, level != nullptr, *op);
    if (kind == Kind::functional) return serve_functional(f, args, rets, s, top, *op);
    LAMELLA_CHECK(
        level, "vmap: ", title(f),
        " got a tensor of one sample, of a call of vmap that has ended or runs on another thread: a tensor that "
        "is made inside must be returned by the function, not kept");
    return Call(f, args, rets, s, Level(*level), p).run();
  });
}

void* prepare(void*, const lamella_operator* op, const void*) { return served(op); }

}  // namespace

void register_layer(Library& m) {
  static const char* const outside[] = {"profiler.kernels", "quantized", nullptr};
  lamella_layer l{};
  l.size = sizeof l;
  l.name = layer_name;
  l.at = "backend";
  l.outside = outside;
  l.flags = LAMELLA_LAYER_PREPARES_ALL;
  l.fallback = serve;
  l.prepare = prepare;
  int32_t bit = -1;
  m.layer(l, &bit);
  if (bit >= 0) layer_bit = uint64_t{1} << bit;
}

}  // namespace lamella::transforms
