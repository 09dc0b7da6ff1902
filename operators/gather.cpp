// One index for each element, along one dimension: gather, scatter, take.
#include "operators/indexing.h"

namespace lamella::operators {
namespace {

// An index with elements must have as many dimensions as self, and must be no larger than self except along `dim`.
void check_along(const Tensor& self, int64_t dim, const Tensor& index) {
  const int64_t along = wrap_dim("dim", dim, self.dim());
  check_places("index", index);
  if (index.numel() == 0) return;
  LAMELLA_CHECK(dims_of(index) == dims_of(self), argument("index"), ": ", index.dim(), " dimensions, but 'self' has ",
                self.dim());
  for (int64_t d = 0; d < dims_of(self); d++)
    LAMELLA_CHECK(d == along || size_of(index, d) <= size_of(self, d), argument("index"), ": shape ", shape_text(index),
                  " is larger than that of 'self', ", shape_text(self), ", in dimension ", d);
}

void infer_gather(const Tensor& self, int64_t dim, const Tensor& index, bool /*sparse_grad*/, Output out) {
  check_along(self, dim, index);
  out.set(index.sizes(), self.dtype());
}

void check_scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  check_along(self, dim, index);
  check_same_dtype("src", src, self);
  if (index.numel() == 0) return;
  bool fits = dims_of(src) == dims_of(index);
  for (int64_t d = 0; d < dims_of(index) && fits; d++) fits = size_of(index, d) <= size_of(src, d);
  LAMELLA_CHECK(fits, argument("src"), ": shape ", shape_text(src), " does not cover the index's shape ",
                shape_text(index));
}

void check_scatter_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  check_apart("index", index, self);
  check_apart("src", src, self);
  check_scatter(self, dim, index, src);
}

void check_scatter_value(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  check_along(self, dim, index);
  check_number("value", value, self.dtype());
}

void check_scatter_value_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  check_apart("index", index, self);
  check_scatter_value(self, dim, index, value);
}

Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return self.clone(MemoryFormat::Contiguous).scatter_(dim, index, src);
}

Tensor scatter_value(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  return self.clone(MemoryFormat::Contiguous).scatter_(dim, index, value);
}

Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return self.clone(MemoryFormat::Contiguous).scatter_add_(dim, index, src);
}

// Expands a number, in self's dtype, to a shape.
Tensor expanded_number(const Scalar& number, const Tensor& self, IntArrayRef sizes) {
  return lamella::full({}, number, self.options()).expand(sizes);
}

const Tensor& scatter_value_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  return self.scatter_(dim, index, expanded_number(value, self, index.sizes()));
}

// ---- reductions ---------------------------------------------------------------------------------------------------

void check_reduction(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce) {
  bool known = false;
  for (const char* name : {"sum", "prod", "mean", "amax", "amin"}) known |= reduce == name;
  LAMELLA_CHECK(known, argument("reduce"), ": expected 'sum', 'prod', 'mean', 'amax' or 'amin', got '", reduce, "'");
  LAMELLA_CHECK(!is_complex(self.dtype()) || reduce[0] != 'a', argument("self"), ": dtype ", self.dtype(),
                " has no order, which '", reduce, "' needs");
  check_scatter(self, dim, index, src);
}

void check_scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                          std::string_view reduce, bool /*include_self*/) {
  check_reduction(self, dim, index, src, reduce);
}

void check_scatter_fold_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                                std::string_view reduce) {
  check_apart("index", index, self);
  check_apart("src", src, self);
  check_reduction(self, dim, index, src, reduce);
}

void check_scatter_reduce_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                                  std::string_view reduce, bool /*include_self*/) {
  check_scatter_fold_inplace(self, dim, index, src, reduce);
}

Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                      bool include_self) {
  return self.clone(MemoryFormat::Contiguous).scatter_reduce_(dim, index, src, reduce, include_self);
}

// scatter(reduce=), an older spelling of scatter_add and scatter_reduce that also takes a number.
void check_fold(std::string_view reduce) {
  LAMELLA_CHECK(reduce == "add" || reduce == "multiply", argument("reduce"), ": expected 'add' or 'multiply', got '",
                reduce, "'; scatter_reduce() has more");
}
void check_folded(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce) {
  check_fold(reduce);
  check_scatter(self, dim, index, src);
}
void check_folded_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                          std::string_view reduce) {
  check_apart("index", index, self);
  check_apart("src", src, self);
  check_folded(self, dim, index, src, reduce);
}
void check_folded_value(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                        std::string_view reduce) {
  check_fold(reduce);
  check_scatter_value(self, dim, index, value);
}
void check_folded_value_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                                std::string_view reduce) {
  check_fold(reduce);
  check_scatter_value_inplace(self, dim, index, value);
}

Tensor folded(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce) {
  return reduce == "add" ? self.scatter_add(dim, index, src) : self.scatter_reduce(dim, index, src, "prod");
}
const Tensor& folded_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                             std::string_view reduce) {
  return reduce == "add" ? self.scatter_add_(dim, index, src) : self.scatter_reduce_(dim, index, src, "prod");
}
Tensor folded_value(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                    std::string_view reduce) {
  return folded(self, dim, index, expanded_number(value, self, index.sizes()), reduce);
}
const Tensor& folded_value_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                                   std::string_view reduce) {
  return folded_inplace(self, dim, index, expanded_number(value, self, index.sizes()), reduce);
}

Tensor paired(std::string_view reduce, const Tensor& x, const Tensor& y) {
  if (reduce == "prod") return x * y;
  return reduce == "amax" ? x.maximum(y) : x.minimum(y);
}

// Sorts the indices, so that elements for one place are neighbours. Joins each element with the one 1, 2, 4, … elements
// before it, if that is for the same place. Then the last element for a place holds the result of all, and is the one
// that scatter_ leaves there.
const Tensor& scatter_fold_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                                   std::string_view reduce) {
  const auto [place, order] = index.sort(std::optional<bool>(true), dim);
  Tensor folded = src.gather(dim, order);
  const int64_t n = place.dim() ? place.size(dim) : 1;
  for (int64_t step = 1; step < n; step *= 2) {
    const auto early = [&](const Tensor& x) { return slice(x, dim, 0, n - step); };
    const auto late = [&](const Tensor& x) { return slice(x, dim, step, n); };
    const Tensor both =
        lamella::where(early(place).eq(late(place)), paired(reduce, early(folded), late(folded)), late(folded));
    folded = lamella::cat({slice(folded, dim, 0, step), both}, dim);
  }
  const Tensor all = reduce == "prod" ? lamella::ones_like(self) : self.clone();
  all.scatter_(dim, place, folded);
  return self.copy_(paired(reduce, self, all));
}

const Tensor& scatter_reduce_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                                     std::string_view reduce, bool include_self) {
  if (index.numel() == 0) return self;
  const bool adds = reduce == "sum" || reduce == "mean";
  Tensor part = src;
  for (int64_t d = 0; d < index.dim(); d++)
    if (part.dim() == 0 || part.size(d) != index.size(d)) part = slice(part, d, 0, index.size(d));
  if (!include_self && (adds || reduce == "prod"))
    self.scatter_(dim, index, adds ? 0 : 1);
  else if (!include_self)
    self.scatter_(dim, index, part);  // any element for each place, so that self's own value does not count
  if (!adds) return lamella::_scatter_fold_(self, dim, index, part, reduce);
  self.scatter_add_(dim, index, part);
  if (reduce == "sum") return self;
  Tensor count = lamella::full(self.sizes(), include_self ? 1 : 0, self.options().dtype(kLong));
  count.scatter_add_(dim, index, expanded_number(1, count, index.sizes()));
  count = count.clamp_min(1);
  return self.copy_(is_integral(self.dtype(), true) ? self.floor_divide(count) : self / count);
}

// ---- elements of the flattened tensor ------------------------------------------------------------------------------

void infer_take(const Tensor& self, const Tensor& index, Output out) {
  LAMELLA_CHECK_INDEX(self.numel() != 0 || index.numel() == 0, argument("self"),
                      ": nothing can be taken from an empty tensor, got shape ", shape_text(self));
  check_integral("index", index);
  out.set(index.sizes(), self.dtype());
}

Tensor take(const Tensor& self, const Tensor& index) {
  const Tensor i = index.to(kLong).reshape({index.numel()});
  const Tensor flat = self.reshape({self.numel()});
  return flat.gather(0, wrapped(i, self.numel())).reshape(index.sizes());
}

Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  Tensor x = self, i = indices;
  int64_t along = 0;
  check_integral("indices", indices);
  if (dim) {
    along = wrap_dim("dim", *dim, x.dim());
  } else {
    x = x.reshape({x.numel()});
    i = i.reshape({i.numel()});
  }
  LAMELLA_CHECK(x.dim() == i.dim(), argument("indices"), ": ", i.dim(), " dimensions, but 'self' has ", x.dim());
  DimVector xs, is;
  for (int64_t d = 0; d < x.dim(); d++) {
    const int64_t n = x.size(d), k = i.size(d);
    LAMELLA_CHECK(d == along || n == k || n == 1 || k == 1, "shapes ", shape_text(x), " ('self') and ", shape_text(i),
                  " ('indices') do not broadcast");
    xs.push_back(d == along || n != 1 ? n : k);
    is.push_back(d == along || k != 1 ? k : n);
  }
  const int64_t n = x.dim() ? x.size(along) : 1;
  i = i.to(kLong).expand(is);
  return x.expand(xs).gather(along, n == 0 ? i : wrapped(i, n));
}

}  // namespace

LAMELLA_FAMILY(gather, .category = "scatter", .forms = everywhere | out) {
  return {
      {.schema = "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
       .category = "indexing",
       .infer = shape<infer_gather>,
       .doc = R"(Elements of `self` by an index for each, along one dimension: out[i][j] = self[index[i][j]][j] for
`dim` 0.

Args:
    index: int64 or int32, with as many dimensions as `self`

Raises:
    IndexError: an index is negative or too large

>>> lamella.gather(lamella.tensor([[1, 2], [3, 4]]), 1, lamella.tensor([[0, 0], [1, 0]]))
tensor([[1, 1],
        [4, 3]])
)"},
      {.schema = "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
       .infer = shape<infer_copied<check_scatter>>,
       .composite = composite<scatter>,
       .doc = R"(`self` with elements of `src`, or one number, at an index for each, along one dimension:
out[index[i][j]][j] = src[i][j] for `dim` 0. Of several elements for one place the last in row-major
order stays. With `reduce`, 'add' or 'multiply', each is added to the element of `self` or multiplied with it.

Raises:
    IndexError: an index is negative or too large

>>> lamella.scatter(lamella.zeros(3), 0, lamella.tensor([2, 0]), lamella.tensor([1., 2.]))
tensor([2., 0., 1.])
)"},
      {.schema = "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
       .infer = shape<infer_copied<check_scatter_value>>,
       .composite = composite<scatter_value>},
      {.schema = "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
       .infer = shape<infer_copied<check_folded>>,
       .composite = composite<folded>},
      {.schema = "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
       .infer = shape<infer_copied<check_folded_value>>,
       .composite = composite<folded_value>},
      {.schema = "scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)",
       .forms = method,
       .infer = shape<infer_written<check_scatter_inplace>>,
       .doc = R"(scatter() in place.

>>> lamella.zeros(3).scatter_(0, lamella.tensor([2]), 5.)
tensor([0., 0., 5.])
)"},
      {.schema = "scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)",
       .forms = method,
       .infer = shape<infer_written<check_scatter_value_inplace>>,
       .composite = composite<scatter_value_inplace>},
      {.schema = "scatter_.reduce(Tensor(a!) self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor(a!)",
       .forms = method,
       .infer = shape<infer_written<check_folded_inplace>>,
       .composite = composite<folded_inplace>},
      {.schema = "scatter_.value_reduce(Tensor(a!) self, int dim, Tensor index, Scalar value, *, str reduce) -> "
                 "Tensor(a!)",
       .forms = method,
       .infer = shape<infer_written<check_folded_value_inplace>>,
       .composite = composite<folded_value_inplace>},
      {.schema = "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
       .infer = shape<infer_copied<check_scatter>>,
       .composite = composite<scatter_add>,
       .doc = R"(`self` plus elements of `src` at an index for each, along one dimension, added in row-major order.

>>> lamella.scatter_add(lamella.zeros(2), 0, lamella.tensor([1, 1]), lamella.tensor([1., 2.]))
tensor([0., 3.])
)"},
      {.schema = "scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)",
       .forms = method,
       .infer = shape<infer_written<check_scatter_inplace>>,
       .doc = R"(scatter_add() in place.

>>> lamella.ones(2).scatter_add_(0, lamella.tensor([0]), lamella.tensor([2.]))
tensor([3., 1.])
)"},
      {.schema = "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool "
                 "include_self=True) -> Tensor",
       .infer = shape<infer_copied<check_scatter_reduce>>,
       .composite = composite<scatter_reduce>,
       .doc = R"(`self` reduced with elements of `src` at an index for each, along one dimension. An integers' mean
is rounded down.

Args:
    reduce: 'sum', 'prod', 'mean', 'amax' or 'amin'
    include_self: whether an element of `self` counts where there are others

>>> lamella.scatter_reduce(lamella.zeros(2), 0, lamella.tensor([1, 1]), lamella.tensor([2., 3.]), 'prod', include_self=False)
tensor([0., 6.])
)"},
      {.schema = "scatter_reduce_.two(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce, *, bool "
                 "include_self=True) -> Tensor(a!)",
       .forms = method,
       .infer = shape<infer_written<check_scatter_reduce_inplace>>,
       .composite = composite<scatter_reduce_inplace>,
       .doc = R"(scatter_reduce() in place.

>>> lamella.ones(2).scatter_reduce_(0, lamella.tensor([0, 0]), lamella.tensor([2., 3.]), 'amax')
tensor([3., 1.])
)"},
      {.schema = "_scatter_fold_(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce) -> Tensor(a!)",
       .forms = hidden | function,
       .infer = shape<infer_written<check_scatter_fold_inplace>>,
       .composite = composite<scatter_fold_inplace>,
       .doc = "scatter_reduce_() by 'prod', 'amax' or 'amin'; `src` has the shape of `index`."},
      {.schema = "take(Tensor self, Tensor index) -> Tensor",
       .category = "indexing",
       .infer = shape<infer_take>,
       .composite = composite<take>,
       .doc = R"(Elements of `self`, seen as one row, by their indices; negative ones count from the end.

>>> lamella.take(lamella.tensor([[1, 2], [3, 4]]), lamella.tensor([0, -1]))
tensor([1, 4])
)"},
      {.schema = "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
       .category = "indexing",
       .composite = composite<take_along_dim>,
       .doc = R"(gather() where `self` and `indices` broadcast in the other dimensions; without `dim`, of both as one
row. Negative indices count from the end.

>>> x = lamella.tensor([[30, 10, 20]])
>>> lamella.take_along_dim(x, lamella.tensor([[1, 2, 0]]), 1)
tensor([[10, 20, 30]])
)"},
  };
}

}  // namespace lamella::operators
