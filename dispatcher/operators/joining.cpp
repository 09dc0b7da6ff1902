// Joining along a dimension: cat, stack and their kin.
#include <memory>

#include "core/promotion.h"
#include "dispatcher/operators/compose.h"

namespace lamella::dispatcher {
namespace {

const Tensor* item(const Value& list, uint32_t i) { return core::full(list.as.tensors[i]); }

lamella_status common_dtype(lamella_frame* f, const Value& list, DType* out) {
  if (list.length == 0) return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": expected at least one tensor, got none");
  *out = item(list, 0)->dtype;
  bool same = true;
  for (uint32_t i = 1; i < list.length; i++) same &= item(list, i)->dtype == *out;
  if (same) return LAMELLA_OK;
  core::ResultType type;
  for (uint32_t i = 0; i < list.length; i++)
    if (!type.add_dtype(item(list, i)->dtype, true))
      return raise(LAMELLA_RUNTIME_ERROR,
                   format("%s: dtypes %s and %s have no common dtype", where(f, 0).c_str(),
                          core::dtype_info(type.clash[0]).name, core::dtype_info(type.clash[1]).name));
  *out = type.get();
  return LAMELLA_OK;
}

// An empty vector joins with anything, as it does in torch.
bool passed_over(const Tensor* t) { return t->ndim() == 1 && t->numel == 0; }

lamella_status infer_cat(lamella_frame* f, const Value* a, Meta* m) {
  DType dtype;
  if (lamella_status st = common_dtype(f, a[0], &dtype)) return st;
  const Tensor* first = nullptr;
  for (uint32_t i = 0; i < a[0].length && !first; i++)
    if (!passed_over(item(a[0], i))) first = item(a[0], i);
  if (!first) first = item(a[0], 0);
  int d;
  if (first->ndim() == 0)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": zero-dim tensors cannot be joined; use stack()");
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, first->ndim(), &d)) return st;
  fresh(m, first->ndim(), first->sizes(), dtype);
  int64_t total = 0;
  for (uint32_t i = 0; i < a[0].length; i++) {
    const Tensor* t = item(a[0], i);
    if (passed_over(t)) continue;
    bool fits = t->ndim() == first->ndim();
    for (int k = 0; k < t->ndim() && fits; k++) fits = k == d || t->sizes()[k] == first->sizes()[k];
    if (!fits)
      return raise(LAMELLA_RUNTIME_ERROR,
                   format("%s: shape %s at position %u does not join with %s along dimension %d", where(f, 0).c_str(),
                          core::shape_string(t).c_str(), i, core::shape_string(first).c_str(), d));
    if (__builtin_add_overflow(total, t->sizes()[d], &total))
      return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": the sizes add up to more than 63 bits can count");
  }
  m->sizes[d] = total;
  return core::check_sizes("cat", m->ndim, m->sizes, core::itemsize(dtype), nullptr);
}

lamella_status cat(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  auto m = std::make_unique<Meta>();
  if (lamella_status st = infer_cat(f, a, m.get())) return st;
  const int d = static_cast<int>(a[1].as.i < 0 ? a[1].as.i + m->ndim : a[1].as.i);
  Var out = c.op<"empty.memory_format">(Ints(m->sizes, m->ndim), As{m->dtype}, Absent{}, f->device);
  int64_t at = 0;
  for (uint32_t i = 0; i < a[0].length && !c.status(); i++) {
    const Tensor* t = item(a[0], i);
    if (passed_over(t)) continue;
    c.op<"copy_">(c.op<"narrow">(out, d, at, t->sizes()[d]), core::tensor_value(a[0].as.tensors[i]));
    at += t->sizes()[d];
  }
  return c.give(r, out);
}

lamella_status concat(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.op<"cat">(a[0], a[1]));
}

lamella_status infer_stack(lamella_frame* f, const Value* a, Meta* m) {
  DType dtype;
  if (lamella_status st = common_dtype(f, a[0], &dtype)) return st;
  const Tensor* first = item(a[0], 0);
  int d;
  if (first->ndim() == LAMELLA_MAX_DIMS) return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": no room for a dimension");
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, first->ndim() + 1, &d)) return st;
  for (uint32_t i = 1; i < a[0].length; i++) {
    const Tensor* t = item(a[0], i);
    if (t->ndim() != first->ndim() || !std::equal(t->sizes(), t->sizes() + t->ndim(), first->sizes()))
      return raise(LAMELLA_RUNTIME_ERROR,
                   format("%s: shape %s at position %u differs from the first, %s", where(f, 0).c_str(),
                          core::shape_string(t).c_str(), i, core::shape_string(first).c_str()));
  }
  fresh(m, first->ndim(), first->sizes(), dtype);
  std::copy_backward(m->sizes + d, m->sizes + m->ndim, m->sizes + m->ndim + 1);
  m->sizes[d] = a[0].length;
  m->ndim++;
  return core::check_sizes("stack", m->ndim, m->sizes, core::itemsize(dtype), nullptr);
}

lamella_status stack(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  std::vector<Var> all;
  all.reserve(a[0].length);
  for (uint32_t i = 0; i < a[0].length; i++)
    all.push_back(c.op<"unsqueeze">(core::tensor_value(a[0].as.tensors[i]), a[1]));
  const int64_t n = item(a[0], 0)->ndim() + 1;
  return c.give(r, c.op<"cat">(c.list(all), a[1].as.i < 0 ? a[1].as.i + n : a[1].as.i));
}

// Do all have so many dimensions, and is there any?
bool all_have(const Value& list, int least, int most = LAMELLA_MAX_DIMS) {
  for (uint32_t i = 0; i < list.length; i++)
    if (item(list, i)->ndim() < least || item(list, i)->ndim() > most) return false;
  return list.length > 0;
}

// Each tensor seen otherwise, then cat.
template <class View>
lamella_status cat_views(Compose& c, const Value& list, View view, int dim, Value* r) {
  std::vector<Var> all;
  all.reserve(list.length);
  for (uint32_t i = 0; i < list.length; i++) all.push_back(view(c.arg(core::tensor_value(list.as.tensors[i]))));
  return c.give(r, c.op<"cat">(c.list(all), dim));
}

// Along the second dimension, of vectors the only one.
lamella_status hstack(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  if (all_have(a[0], 1)) return c.give(r, c.op<"cat">(a[0], item(a[0], 0)->ndim() > 1 ? 1 : 0));
  const bool wide = a[0].length && item(a[0], 0)->ndim() > 1;
  return cat_views(
      c, a[0], [&](const Var& x) { return c.op<"atleast_1d">(x); }, wide ? 1 : 0, r);
}
lamella_status vstack(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  if (all_have(a[0], 2)) return c.give(r, c.op<"cat">(a[0], 0));
  if (all_have(a[0], 1, 1)) return c.give(r, c.op<"stack">(a[0], 0));
  return cat_views(
      c, a[0], [&](const Var& x) { return c.op<"atleast_2d">(x); }, 0, r);
}
lamella_status dstack(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  if (all_have(a[0], 3)) return c.give(r, c.op<"cat">(a[0], 2));
  if (all_have(a[0], 2, 2)) return c.give(r, c.op<"stack">(a[0], 2));
  return cat_views(
      c, a[0], [&](const Var& x) { return c.op<"atleast_3d">(x); }, 2, r);
}
lamella_status column_stack(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  if (all_have(a[0], 2)) return c.give(r, c.op<"cat">(a[0], 1));
  if (all_have(a[0], 1, 1)) return c.give(r, c.op<"stack">(a[0], 1));
  auto column = [&](const Var& x) { return x.dim() < 2 ? c.op<"reshape">(x, Ints{x.numel(), 1}) : x; };
  return cat_views(c, a[0], column, 1, r);
}

}  // namespace

const std::vector<Declaration>& joining_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"cat(Tensor[] tensors, int dim=0) -> Tensor", "copy", function | out, infer_cat, cat,
       "The tensors one after another along a dimension. Their other sizes agree; dtypes are promoted.\n\nRaises:\n    "
       "RuntimeError: the shapes do not join\n\n>>> lamella.cat([lamella.tensor([1, 2]), lamella.tensor([3])])\n"
       "tensor([1, 2, 3])\n"},
      {"concat(Tensor[] tensors, int dim=0) -> Tensor", "copy", function | out, infer_cat, concat,
       "cat() by another name.\n\n>>> lamella.concat([lamella.ones(1), lamella.zeros(1)])\ntensor([1., 0.])\n"},
      {"concatenate(Tensor[] tensors, int dim=0) -> Tensor", "copy", function | out, infer_cat, concat,
       "cat() by numpy's name.\n\n>>> lamella.concatenate([lamella.ones(1), lamella.zeros(1)])\ntensor([1., 0.])\n"},
      {"stack(Tensor[] tensors, int dim=0) -> Tensor", "copy", function | out, infer_stack, stack,
       "Tensors of one shape along a new dimension.\n\n>>> lamella.stack([lamella.tensor([1, 2]), lamella.tensor([3, "
       "4])])\ntensor([[1, 2],\n        [3, 4]])\n"},
      {"hstack(Tensor[] tensors) -> Tensor", "copy", function, nullptr, hstack,
       "cat() along the second dimension, of vectors along the only one.\n\n>>> lamella.hstack([lamella.ones(1), "
       "lamella.zeros(1)])\ntensor([1., 0.])\n"},
      {"vstack(Tensor[] tensors) -> Tensor", "copy", function, nullptr, vstack,
       "cat() along the first dimension; vectors are rows.\n\n>>> lamella.vstack([lamella.ones(2), "
       "lamella.zeros(2)])\ntensor([[1., 1.],\n        [0., 0.]])\n"},
      {"dstack(Tensor[] tensors) -> Tensor", "copy", function, nullptr, dstack,
       "cat() along the third dimension.\n\n>>> lamella.dstack([lamella.ones(2), lamella.zeros(2)]).shape\n"
       "lamella.Size([1, 2, 2])\n"},
      {"column_stack(Tensor[] tensors) -> Tensor", "copy", function, nullptr, column_stack,
       "cat() along the second dimension; vectors are columns.\n\n>>> lamella.column_stack([lamella.ones(2), "
       "lamella.zeros(2)])\ntensor([[1., 0.],\n        [1., 0.]])\n"},
  };
  return *table;
}

}  // namespace lamella::dispatcher
