// Joining along a dimension: cat, stack and others.
#include "operators/shapes.h"

namespace lamella::operators {
namespace {

ScalarType common_dtype(TensorList tensors) {
  LAMELLA_CHECK(!tensors.empty(), argument("tensors"), ": expected at least one tensor, got none");
  const ScalarType first = tensors[0].dtype();
  bool same = true;
  for (const Tensor& t : tensors) same &= t.dtype() == first;
  if (same) return first;
  core::ResultType type;
  for (const Tensor& t : tensors)
    LAMELLA_CHECK(type.add_dtype(core_dtype(t.dtype()), true), argument("tensors"), ": dtypes ",
                  static_cast<ScalarType>(type.clash[0]), " and ", static_cast<ScalarType>(type.clash[1]),
                  " have no common dtype");
  return static_cast<ScalarType>(type.get());
}

// Returns whether cat() ignores a tensor: an empty vector joins with anything, as in torch.
bool passed_over(const Tensor& t) { return t.dim() == 1 && t.numel() == 0; }

struct Joined {
  DimVector sizes;
  ScalarType dtype;
  int64_t dim;  // counted from the front
};

Joined joined(TensorList tensors, int64_t dim) {
  const ScalarType dtype = common_dtype(tensors);
  size_t at = 0;
  while (at < tensors.size() && passed_over(tensors[at])) at++;
  const Tensor& first = tensors[at < tensors.size() ? at : 0];
  LAMELLA_CHECK(first.dim() > 0, argument("tensors"), ": zero-dim tensors cannot be joined; use stack()");
  const int64_t d = wrap_dim("dim", dim, first.dim());
  int64_t total = 0;
  for (size_t i = 0; i < tensors.size(); i++) {
    const Tensor& t = tensors[i];
    if (passed_over(t)) continue;
    bool fits = t.dim() == first.dim();
    for (int64_t k = 0; k < t.dim() && fits; k++) fits = k == d || t.sizes()[k] == first.sizes()[k];
    LAMELLA_CHECK(fits, argument("tensors"), ": shape ", shape_text(t), " at position ", i, " does not join with ",
                  shape_text(first), " along dimension ", d);
    LAMELLA_CHECK(!__builtin_add_overflow(total, t.sizes()[d], &total), argument("tensors"),
                  ": the sizes add up to more than 63 bits can count");
  }
  Joined all{DimVector(first.sizes()), dtype, d};
  all.sizes[d] = total;
  check_bytes(all.sizes, dtype);
  return all;
}

void infer_cat(TensorList tensors, int64_t dim, Output out) {
  const Joined all = joined(tensors, dim);
  out.set(all.sizes, all.dtype);
}

Tensor cat(lamella_frame* f, TensorList tensors, int64_t dim) {
  const Joined all = joined(tensors, dim);
  const Tensor result = lamella::empty(all.sizes, TensorOptions(all.dtype).device(Device(f->device)));
  int64_t at = 0;
  for (const Tensor& t : tensors) {
    if (passed_over(t)) continue;
    const int64_t n = t.sizes()[all.dim];
    result.narrow(all.dim, at, n).copy_(t);
    at += n;
  }
  return result;
}

void infer_stack(TensorList tensors, int64_t dim, Output out) {
  const ScalarType dtype = common_dtype(tensors);
  const Tensor& first = tensors[0];
  LAMELLA_CHECK(first.dim() < LAMELLA_MAX_DIMS, argument("tensors"), ": they have ", LAMELLA_MAX_DIMS,
                " dimensions already, the most a tensor may have");
  const int64_t d = wrap_dim("dim", dim, first.dim() + 1);
  for (size_t i = 1; i < tensors.size(); i++)
    LAMELLA_CHECK(tensors[i].sizes() == first.sizes(), argument("tensors"), ": shape ", shape_text(tensors[i]),
                  " at position ", i, " differs from the first, ", shape_text(first));
  DimVector sizes(first.sizes());
  sizes.insert(d, static_cast<int64_t>(tensors.size()));
  check_bytes(sizes, dtype);
  out.set(sizes, dtype);
}

Tensor stack(TensorList tensors, int64_t dim) {
  std::vector<Tensor> all;
  all.reserve(tensors.size());
  for (const Tensor& t : tensors) all.push_back(t.unsqueeze(dim));
  return lamella::cat(all, dim < 0 ? dim + tensors[0].dim() + 1 : dim);
}

// Returns whether there are tensors, and each has from `least` to `most` dimensions.
bool all_have(TensorList tensors, int64_t least, int64_t most = LAMELLA_MAX_DIMS) {
  for (const Tensor& t : tensors)
    if (t.dim() < least || t.dim() > most) return false;
  return !tensors.empty();
}

// Calls cat with a view of each tensor.
Tensor cat_views(TensorList tensors, Tensor (*view)(const Tensor&), int64_t dim) {
  std::vector<Tensor> all;
  all.reserve(tensors.size());
  for (const Tensor& t : tensors) all.push_back(view(t));
  return lamella::cat(all, dim);
}

// Joins along the second dimension, or vectors along their only one.
Tensor hstack(TensorList tensors) {
  const int64_t dim = !tensors.empty() && tensors[0].dim() > 1 ? 1 : 0;
  if (all_have(tensors, 1)) return lamella::cat(tensors, dim);
  return cat_views(tensors, lamella::atleast_1d, dim);
}
Tensor vstack(TensorList tensors) {
  if (all_have(tensors, 2)) return lamella::cat(tensors, 0);
  if (all_have(tensors, 1, 1)) return lamella::stack(tensors, 0);
  return cat_views(tensors, lamella::atleast_2d, 0);
}
Tensor dstack(TensorList tensors) {
  if (all_have(tensors, 3)) return lamella::cat(tensors, 2);
  if (all_have(tensors, 2, 2)) return lamella::stack(tensors, 2);
  return cat_views(tensors, lamella::atleast_3d, 2);
}
Tensor column(const Tensor& x) { return x.dim() < 2 ? x.reshape({x.numel(), 1}) : x; }
Tensor column_stack(TensorList tensors) {
  if (all_have(tensors, 2)) return lamella::cat(tensors, 1);
  if (all_have(tensors, 1, 1)) return lamella::stack(tensors, 1);
  return cat_views(tensors, column, 1);
}

#define STACK(name, about, call, result, other_names)                                                      \
  {                                                                                                        \
    .schema = #name "(Tensor[] tensors) -> Tensor", .forms = function | out, .composite = composite<name>, \
    .doc = about "\n\n>>> lamella." #name call "\n" result "\n", .aliases = other_names                    \
  }

}  // namespace

LAMELLA_FAMILY(joining, .category = "copy", .forms = function) {
  return {
      {.schema = "cat(Tensor[] tensors, int dim=0) -> Tensor",
       .dims = "keep",
       .forms = function | out,
       .infer = shape<infer_cat>,
       .composite = composite<cat>,
       .doc = R"(The tensors one after another along a dimension. Their other sizes agree; dtypes are promoted.

Raises:
    RuntimeError: the shapes do not join

>>> lamella.cat([lamella.tensor([1, 2]), lamella.tensor([3])])
tensor([1, 2, 3])
)",
       .aliases = "concat concatenate"},
      {.schema = "stack(Tensor[] tensors, int dim=0) -> Tensor",
       .forms = function | out,
       .infer = shape<infer_stack>,
       .composite = composite<stack>,
       .doc = R"(Tensors of one shape along a new dimension.

>>> lamella.stack([lamella.tensor([1, 2]), lamella.tensor([3, 4])])
tensor([[1, 2],
        [3, 4]])
)"},
      STACK(hstack, "cat() along the second dimension, of vectors along the only one.",
            "([lamella.ones(1), lamella.zeros(1)])", "tensor([1., 0.])", nullptr),
      STACK(vstack, "cat() along the first dimension; vectors are rows.", "([lamella.ones(2), lamella.zeros(2)])",
            "tensor([[1., 1.],\n        [0., 0.]])", "row_stack"),
      STACK(dstack, "cat() along the third dimension.", "([lamella.ones(2), lamella.zeros(2)]).shape",
            "lamella.Size([1, 2, 2])", nullptr),
      STACK(column_stack, "cat() along the second dimension; vectors are columns.",
            "([lamella.ones(2), lamella.zeros(2)])", "tensor([[1., 0.],\n        [1., 0.]])", nullptr),
  };
}

}  // namespace lamella::operators
