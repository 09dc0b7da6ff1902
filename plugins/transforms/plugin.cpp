// Transforms: vmap, forward mode and functionalize as a layer inside autograd. Start with level.h, which says what a box is,
// then call.cpp for vmap, forward.cpp for forward mode and functional.cpp for functionalize.
#include <lamella/extension.h>

#include <utility>

#include "call.h"
#include "functional.h"
#include "graph.h"
#include "interface.h"
#include "layer.h"

namespace lamella::transforms {
namespace {

const Level& open_level_of(int64_t number) {
  const Level* level = find_level(state(), number);
  LAMELLA_CHECK(level, "vmap: its call has ended, or runs on another thread");
  return *level;
}

lamella_status open(int32_t kind, int64_t size, int32_t randomness, int32_t choice, int64_t* level) {
  return guarded([&]() -> lamella_status {
    *level = open_level({0, static_cast<Kind>(kind), size, randomness, choice});
    return LAMELLA_OK;
  });
}

lamella_status box(lamella_tensor* batch, int64_t dim, int64_t level, lamella_tensor** out) {
  return guarded([&]() -> lamella_status {
    *out = boxed_along(Tensor::borrow(batch), dim, level).release();
    return LAMELLA_OK;
  });
}

lamella_status unbox(lamella_tensor* t, int64_t dim, int64_t level, lamella_tensor** out) {
  return guarded([&]() -> lamella_status {
    *out = unboxed(Tensor::borrow(t), open_level_of(level), dim).release();
    return LAMELLA_OK;
  });
}

lamella_status make_dual(lamella_tensor* primal, lamella_tensor* tangent, int64_t level, lamella_tensor** out) {
  return guarded([&]() -> lamella_status {
    *out = dual(Tensor::borrow(primal), Tensor::borrow(tangent), level).release();
    return LAMELLA_OK;
  });
}

lamella_status make_functional(lamella_tensor* t, int64_t level, lamella_tensor** out) {
  return guarded([&]() -> lamella_status {
    *out = functional_of(Tensor::borrow(t), level).release();
    return LAMELLA_OK;
  });
}

int64_t functional_level_now() { return functional_level(state()); }

int64_t set_below(int64_t level) { return std::exchange(state().below, level); }

lamella_status settle(int64_t level, void (*take)(void*, lamella_tensor*, lamella_tensor*), void* context) {
  return guarded([&]() -> lamella_status {
    std::vector<Tensor> written = settle_functional(level);
    for (size_t i = 0; i < written.size(); i += 2) take(context, written[i].release(), written[i + 1].release());
    return LAMELLA_OK;
  });
}

// These three take a box of a closed level of forward mode for its primal, and one of functionalize for its value, unless
// nothing else is in it.
lamella_status inner(const lamella_tensor* t, lamella_tensor** out, int64_t* level) {
  return guarded([&]() -> lamella_status {
    const lamella_tensor* box = open_box_of(t);
    *out = box ? inner_of(box).get() : nullptr;
    if (box) *level = box_of(box)->level;
    return LAMELLA_OK;
  });
}

lamella_status kind_of(const lamella_tensor* t, int32_t* kind) {
  return guarded([&]() -> lamella_status {
    const lamella_tensor* box = open_box_of(t);
    *kind = box ? static_cast<int32_t>(box_of(box)->kind) : -1;
    return LAMELLA_OK;
  });
}

lamella_status tangent(const lamella_tensor* t, lamella_tensor** out) {
  return guarded([&]() -> lamella_status {
    const lamella_tensor* box = open_box_of(t);
    *out = box ? tangent_of(box).get() : nullptr;
    return LAMELLA_OK;
  });
}

lamella_status follows(lamella_tensor* t, int32_t* is) {
  return guarded([&]() -> lamella_status {
    *is = is_recorded(Tensor::borrow(t));
    return LAMELLA_OK;
  });
}

lamella_status close(int64_t level) {
  return guarded([&]() -> lamella_status {
    close_level(level);
    return LAMELLA_OK;
  });
}

lamella_status depth(int64_t level, int32_t* place) {
  return guarded([&]() -> lamella_status {
    const State& s = state();
    *place = 0;
    for (size_t i = 0; i < s.levels.size(); i++)
      if (s.levels[i].number == level) *place = static_cast<int32_t>(i) + 1;
    return LAMELLA_OK;
  });
}

lamella_status make_cut(lamella_tensor* t, lamella_tensor** out) {
  return guarded([&]() -> lamella_status {
    *out = cut(Tensor::borrow(t)).release();
    return LAMELLA_OK;
  });
}

lamella_status make_fresh(lamella_tensor* t, lamella_tensor** out) {
  return guarded([&]() -> lamella_status {
    *out = fresh(Tensor::borrow(t)).release();
    return LAMELLA_OK;
  });
}

lamella_status find_other_leaves(lamella_tensor* const* roots, int32_t num_roots, lamella_tensor* const* inputs,
                                 int32_t num_inputs, int32_t* found) {
  return guarded([&]() -> lamella_status {
    *found = has_other_leaves({roots, roots + num_roots}, {inputs, inputs + num_inputs});
    return LAMELLA_OK;
  });
}

const Interface table = {
    sizeof table, open,  close,   last_level, box,     unbox, make_dual, functional_level_now, make_functional,  settle,
    set_below,    inner, kind_of, follows,    tangent, depth, make_cut,  make_fresh,           find_other_leaves};

// ---- operators, for functions of Python -----------------------------------------------------------------------------

std::vector<std::string> loop_names() {
  std::vector<std::string> names;
  for (const auto& [name, count] : loops()) names.push_back(name);
  return names;
}
std::vector<int64_t> loop_numbers() {
  std::vector<int64_t> counts;
  for (const auto& [name, count] : loops()) counts.push_back(count);
  return counts;
}

const lamella_operator* operator_named(std::string_view op) {
  const std::string name(op);
  const size_t dot = name.find('.');
  const lamella_operator* found =
      api().find_operator(name.substr(0, dot).c_str(), dot == std::string::npos ? "" : name.c_str() + dot + 1);
  LAMELLA_CHECK(found, "there is no operator '", name, "'; `lamella ops list` prints all");
  return found;
}

std::string find_rule(std::string_view op) { return describe_rule(operator_named(op)); }

std::string find_tangent(std::string_view op) { return describe_tangent(operator_named(op)); }

}  // namespace
}  // namespace lamella::transforms

LAMELLA_LIBRARY(vmap, m) {
  using namespace lamella::transforms;
  register_layer(m);
  register_levels(m);
  m.interface("vmap", 1, &table);
  m.effects(LAMELLA_EFFECT_STATE);
  m.def("loop_names() -> str[]", loop_names);
  m.def("loop_numbers() -> int[]", loop_numbers);
  m.def("clear_loops() -> ()", clear_loops);
  m.def("find_rule(str op) -> str", find_rule);
  m.def("find_tangent(str op) -> str", find_tangent);
}
