// One index for each element, along one dimension: gather, scatter, take.
#include "dispatcher/operators/indexing.h"

namespace lamella::dispatcher {
namespace {

// The index has as many dimensions as self, and is no larger but along `dim`.
lamella_status check_along(lamella_frame* f, const Value* a, int* dim) {
  const Tensor *self = tensor_arg(a[0]), *index = tensor_arg(a[2]);
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, self->ndim(), dim)) return st;
  if (lamella_status st = check_int64(f, 2, index)) return st;
  if (dims_of(index) != dims_of(self) && index->numel != 0)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: %d dimensions, but 'self' has %d", where(f, 2).c_str(), index->ndim(), self->ndim()));
  for (int d = 0; d < dims_of(self) && index->numel; d++)
    if (d != *dim && size_of(index, d) > size_of(self, d))
      return raise(LAMELLA_RUNTIME_ERROR,
                   format("%s: shape %s is larger than that of 'self', %s, in dimension %d", where(f, 2).c_str(),
                          core::shape_string(index).c_str(), core::shape_string(self).c_str(), d));
  return LAMELLA_OK;
}

lamella_status infer_gather(lamella_frame* f, const Value* a, Meta* m) {
  int dim;
  if (lamella_status st = check_along(f, a, &dim)) return st;
  const Tensor* index = tensor_arg(a[2]);
  fresh(m, index->ndim(), index->sizes(), tensor_arg(a[0])->dtype);
  return LAMELLA_OK;
}

lamella_status check_scatter(lamella_frame* f, const Value* a) {
  int dim;
  if (lamella_status st = check_along(f, a, &dim)) return st;
  if (a[3].tag != LAMELLA_TENSOR) return check_number(f, 3, a[3], tensor_arg(a[0])->dtype);
  const Tensor *self = tensor_arg(a[0]), *index = tensor_arg(a[2]), *src = tensor_arg(a[3]);
  if (lamella_status st = check_same_dtype(f, 3, src, self)) return st;
  if (index->numel == 0) return LAMELLA_OK;
  bool fits = dims_of(src) == dims_of(index);
  for (int d = 0; d < dims_of(index) && fits; d++) fits = size_of(index, d) <= size_of(src, d);
  if (!fits)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 3) + ": shape " + core::shape_string(src) +
                                            " does not cover the index's shape " + core::shape_string(index));
  return LAMELLA_OK;
}

// A number as a tensor of self's dtype, expanded to a shape.
Var expanded_number(Compose& c, const Value& number, const Tensor* self, int ndim, const int64_t* sizes) {
  Var x = c.op<"full">(Ints{}, number, As{self->dtype}, Absent{}, self->device());
  return c.op<"expand">(x, Ints(sizes, ndim));
}

lamella_status scatter_value_inplace(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* index = tensor_arg(a[2]);
  Var src = expanded_number(c, a[3], tensor_arg(a[0]), index->ndim(), index->sizes());
  return c.give(r, c.op<"scatter_.src">(a[0], a[1], a[2], src));
}

// ---- reductions ---------------------------------------------------------------------------------------------------

std::string_view text(const Value& v) { return {v.as.string, v.length}; }

// self, dim, index, src, reduce
lamella_status check_scatter_reduce(lamella_frame* f, const Value* a) {
  const std::string_view kind = text(a[4]);
  bool known = false;
  for (const char* name : {"sum", "prod", "mean", "amax", "amin"}) known |= kind == name;
  if (!known)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 4) + ": expected 'sum', 'prod', 'mean', 'amax' or 'amin', got '" + std::string(kind) + "'");
  if (core::dtype_class(tensor_arg(a[0])->dtype) == LAMELLA_CLASS_COMPLEX && kind[0] == 'a')
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": complex numbers have no order");
  return check_scatter(f, a);
}

Var paired(Compose& c, std::string_view reduce, const Var& x, const Var& y) {
  if (reduce == "prod") return x * y;
  return reduce == "amax" ? c.op<"maximum">(x, y) : c.op<"minimum">(x, y);
}

// With the indices in order, those of one place are neighbours. Each takes in what is one before it, then two, four, …,
// as long as that has the same place; the last of a place then has all, and stays where they are scattered.
// self, dim, index, src, reduce
lamella_status scatter_fold_inplace(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const std::string_view reduce = text(a[4]);
  auto [place, order] = c.ops<"sort.stable", 2>(a[2], true, a[1]);
  Var folded = c.op<"gather">(a[3], a[1], order);
  const int64_t dim = a[1].as.i, n = place.dim() ? place.size(static_cast<int>(dim)) : 1;
  for (int64_t step = 1; step < n; step *= 2) {
    auto early = [&](const Var& x) { return c.op<"slice.Tensor">(x, dim, 0, n - step); };
    auto late = [&](const Var& x) { return c.op<"slice.Tensor">(x, dim, step, n); };
    Var both = c.op<"where.self">(c.op<"eq.Tensor">(early(place), late(place)),
                                  paired(c, reduce, early(folded), late(folded)), late(folded));
    folded = c.op<"cat">(c.list({c.op<"slice.Tensor">(folded, dim, 0, step), both}), dim);
  }
  Var all = reduce == "prod" ? c.op<"ones_like">(a[0]) : c.op<"clone">(a[0]);
  c.op<"scatter_.src">(all, dim, place, folded);
  return c.give(r, c.op<"copy_">(a[0], paired(c, reduce, c.arg(a[0]), all)));
}

// self, dim, index, src, reduce, include_self
lamella_status scatter_reduce_inplace(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor *self = tensor_arg(a[0]), *index = tensor_arg(a[2]);
  const std::string_view reduce = text(a[4]);
  const bool included = a[5].as.i != 0, adds = reduce == "sum" || reduce == "mean";
  Var src = c.arg(a[3]);
  for (int d = 0; d < index->ndim() && index->numel; d++)
    if (src.size(d) != index->sizes()[d]) src = c.op<"slice.Tensor">(src, d, 0, index->sizes()[d]);
  if (index->numel == 0) return c.give(r, c.arg(a[0]));
  if (!included && (adds || reduce == "prod"))
    c.op<"scatter_.value">(a[0], a[1], a[2], adds ? 0 : 1);
  else if (!included)
    c.op<"scatter_.src">(a[0], a[1], a[2], src);  // any one of a place; then it is in already
  if (!adds) return c.give(r, c.op<"_scatter_fold_">(a[0], a[1], a[2], src, a[4]));
  Var sum = c.op<"scatter_add_">(a[0], a[1], a[2], src);
  if (reduce == "sum") return c.give(r, sum);
  const Ints sizes(self->sizes(), self->ndim());
  Var count = c.op<"full">(sizes, included ? 1 : 0, As{LAMELLA_INT64}, Absent{}, self->device());
  c.op<"scatter_add_">(count, a[1], a[2],
                       expanded_number(c, core::integer(1), count.tensor(), index->ndim(), index->sizes()));
  count = c.op<"clamp_min">(count, 1);
  const bool floored = integral(self) || self->dtype == LAMELLA_BOOL;
  return c.give(r, c.op<"copy_">(a[0], floored ? c.op<"floor_divide">(sum, count) : sum / count));
}

// ---- elements of a row ---------------------------------------------------------------------------------------------

lamella_status infer_take(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor *self = tensor_arg(a[0]), *index = tensor_arg(a[1]);
  fresh(m, index->ndim(), index->sizes(), self->dtype);
  if (self->numel == 0 && index->numel)
    return raise(LAMELLA_INDEX_ERROR, where(f, 0) + ": nothing can be taken from an empty tensor");
  return check_integral(f, 1, index);
}

lamella_status take(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor *self = tensor_arg(a[0]), *index = tensor_arg(a[1]);
  Var i = c.op<"reshape">(c.op<"to.dtype">(a[1], As{LAMELLA_INT64}), Ints{index->numel});
  Var flat = c.op<"reshape">(a[0], Ints{self->numel});
  return c.give(
      r, c.op<"reshape">(c.op<"gather">(flat, 0, wrapped(c, i, self->numel)), Ints(index->sizes(), index->ndim())));
}

lamella_status take_along_dim(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]), i = c.arg(a[1]);
  int dim = 0;
  if (lamella_status st = check_integral(f, 1, tensor_arg(a[1]))) return st;
  if (!given(a[2])) {
    x = c.op<"reshape">(x, Ints{x.numel()});
    i = c.op<"reshape">(i, Ints{i.numel()});
  } else if (lamella_status st = wrap_dim(f, 2, a[2].as.i, x.dim(), &dim)) {
    return st;
  }
  if (c.status()) return c.status();
  if (x.dim() != i.dim())
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: %d dimensions, but 'self' has %d", where(f, 1).c_str(), i.dim(), x.dim()));
  Ints xs, is;
  for (int d = 0; d < x.dim(); d++) {
    const int64_t n = x.size(d), k = i.size(d);
    if (d != dim && n != k && n != 1 && k != 1)
      return raise(LAMELLA_RUNTIME_ERROR, operator_title(f->op) + ": shapes " + core::shape_string(x.tensor()) +
                                              " ('self') and " + core::shape_string(i.tensor()) +
                                              " ('indices') do not broadcast");
    xs.add(d == dim || n != 1 ? n : k);
    is.add(d == dim || k != 1 ? k : n);
  }
  i = c.op<"expand">(c.op<"to.dtype">(i, As{LAMELLA_INT64}), is);
  return c.give(r, c.op<"gather">(c.op<"expand">(x, xs), dim, i));
}

}  // namespace

const std::vector<Declaration>& gather_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor", "indexing", everywhere | out,
       infer_gather, nullptr,
       "Elements of `self` by an index for each, along one dimension: out[i][j] = self[index[i][j]][j] for `dim` 0.\n\n"
       "Args:\n    index: int64, with as many dimensions as `self`\n\nRaises:\n    IndexError: an index is negative or "
       "too large\n\n>>> lamella.gather(lamella.tensor([[1, 2], [3, 4]]), 1, lamella.tensor([[0, 0], [1, 0]]))\n"
       "tensor([[1, 1],\n        [4, 3]])\n"},
      {"scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", "scatter", everywhere | out,
       infer_copied<check_scatter>, cloned<"scatter_.src">,
       "`self` with elements of `src`, or one number, at an index for each, along one dimension: out[index[i][j]][j] = "
       "src[i][j] for `dim` 0. Of several elements for one place the last in row-major order stays.\n\nRaises:\n    "
       "IndexError: an index is negative or too large\n\n>>> lamella.scatter(lamella.zeros(3), 0, lamella.tensor([2, "
       "0]), "
       "lamella.tensor([1., 2.]))\ntensor([2., 0., 1.])\n"},
      {"scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", "scatter", everywhere | out,
       infer_copied<check_scatter>, cloned<"scatter_.value">, nullptr},
      {"scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)", "scatter", method,
       infer_written<check_scatter, 2, 3>, nullptr,
       "scatter() in place.\n\n>>> lamella.zeros(3).scatter_(0, lamella.tensor([2]), 5.)\ntensor([0., 0., 5.])\n"},
      {"scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)", "scatter", method,
       infer_written<check_scatter, 2, 3>, scatter_value_inplace, nullptr},
      {"scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", "scatter", everywhere | out,
       infer_copied<check_scatter>, cloned<"scatter_add_">,
       "`self` plus elements of `src` at an index for each, along one dimension, added in row-major order.\n\n>>> "
       "lamella.scatter_add(lamella.zeros(2), 0, lamella.tensor([1, 1]), lamella.tensor([1., 2.]))\ntensor([0., "
       "3.])\n"},
      {"scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)", "scatter", method,
       infer_written<check_scatter, 2, 3>, nullptr,
       "scatter_add() in place.\n\n>>> lamella.ones(2).scatter_add_(0, lamella.tensor([0]), lamella.tensor([2.]))\n"
       "tensor([3., 1.])\n"},
      {"scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> "
       "Tensor",
       "scatter", everywhere | out, infer_copied<check_scatter_reduce>, cloned<"scatter_reduce_.two">,
       "`self` reduced with elements of `src` at an index for each, along one dimension. An integers' mean is rounded "
       "down.\n\nArgs:\n    reduce: 'sum', 'prod', 'mean', 'amax' or 'amin'\n    include_self: whether an element of "
       "`self` counts where there are others\n\n>>> lamella.scatter_reduce(lamella.zeros(2), 0, lamella.tensor([1, "
       "1]), "
       "lamella.tensor([2., 3.]), 'prod', include_self=False)\ntensor([0., 6.])\n"},
      {"scatter_reduce_.two(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) "
       "-> Tensor(a!)",
       "scatter", method, infer_written<check_scatter_reduce, 2, 3>, scatter_reduce_inplace,
       "scatter_reduce() in place.\n\n>>> lamella.ones(2).scatter_reduce_(0, lamella.tensor([0, 0]), "
       "lamella.tensor([2., "
       "3.]), 'amax')\ntensor([3., 1.])\n"},
      {"_scatter_fold_(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce) -> Tensor(a!)", "scatter",
       hidden | function, infer_written<check_scatter_reduce, 2, 3>, scatter_fold_inplace,
       "scatter_reduce_() by 'prod', 'amax' or 'amin'; `src` has the shape of `index`."},
      {"take(Tensor self, Tensor index) -> Tensor", "indexing", everywhere | out, infer_take, take,
       "Elements of `self`, seen as one row, by their indices; negative ones count from the end.\n\n>>> "
       "lamella.take(lamella.tensor([[1, 2], [3, 4]]), lamella.tensor([0, -1]))\ntensor([1, 4])\n"},
      {"take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor", "indexing", everywhere | out, nullptr,
       take_along_dim,
       "gather() where `self` and `indices` broadcast in the other dimensions; without `dim`, of both as one row.\n\n"
       ">>> x = lamella.tensor([[30, 10, 20]])\n>>> lamella.take_along_dim(x, lamella.tensor([[1, 2, 0]]), 1)\n"
       "tensor([[10, 20, 30]])\n"},
  };
  return *table;
}

}  // namespace lamella::dispatcher
