// Operators with one index for a whole row, along one dimension: index_select, index_add, index_copy, index_fill,
// tables.
#include "operators/indexing.h"

namespace lamella::operators {
namespace {

void check_vector(const char* name, const Tensor& index) {
  LAMELLA_CHECK_INDEX(index.dim() <= 1, argument(name), ": expected a vector of indices, got shape ",
                      shape_text(index));
  check_integral(name, index);
}

void infer_index_select(const Tensor& self, int64_t dim, const Tensor& index, Output out) {
  const int64_t d = wrap_dim("dim", dim, self.dim());
  check_vector("index", index);
  LAMELLA_CHECK_INDEX(self.dim() != 0 || index.numel() == 1, argument("index"),
                      ": a zero-dim tensor takes exactly one index, got ", index.numel());
  DimVector sizes(self.sizes());
  if (self.dim()) sizes[d] = index.numel();
  out.set(sizes, self.dtype());
}

// Expands a vector of indices along `dim` to the other dimensions of a shape.
Tensor along(const Tensor& index, int64_t dim, IntArrayRef sizes) {
  const Tensor i = as(index, kLong);
  if (sizes.empty()) return i.reshape({});
  const int64_t d = dim < 0 ? dim + static_cast<int64_t>(sizes.size()) : dim;
  DimVector ones(sizes.size(), 1), full(sizes);
  ones[d] = full[d] = i.numel();
  return i.reshape(ones).expand(full);
}

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  return self.gather(dim, along(index, dim, self.sizes()));
}

// The checks of index_copy, and those of index_add except for `alpha`.
void check_index_rows(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  const int64_t at = wrap_dim("dim", dim, self.dim());
  check_vector("index", index);
  check_same_dtype("source", source, self);
  bool fits = dims_of(source) == dims_of(self);
  for (int64_t d = 0; d < dims_of(self) && fits; d++)
    fits = size_of(source, d) == (d == at ? index.numel() : size_of(self, d));
  LAMELLA_CHECK(fits, argument("source"), ": shape ", shape_text(source), ", but 'self' has shape ", shape_text(self),
                " and there are ", index.numel(), " indices along dimension ", at);
}

void check_index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  check_index_rows(self, dim, index, source);
  const auto t = static_cast<ScalarType>(core::number_dtype(alpha.value()));
  LAMELLA_CHECK(!is_complex(t) || is_complex(self.dtype()), argument("alpha"), ": dtype ", t, " does not fit dtype ",
                self.dtype());
  check_number("alpha", alpha, self.dtype());
}

void check_index_add_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                             const Scalar& alpha) {
  check_apart("index", index, self);
  check_apart("source", source, self);
  check_index_add(self, dim, index, source, alpha);
}

void check_index_copy_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  check_apart("index", index, self);
  check_apart("source", source, self);
  check_index_rows(self, dim, index, source);
}

Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  return self.clone(MemoryFormat::Contiguous).index_add_(dim, index, source, alpha);
}

const Tensor& index_add_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                                const Scalar& alpha) {
  Tensor scaled = source;
  const Scalar factor = factor_in(alpha, source.dtype());
  if (factor.isComplex() || factor.toDouble() != 1) scaled = (source * factor).to(source.dtype());
  return self.scatter_add_(dim, along(index, dim, source.sizes()), scaled);
}

Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  return self.clone(MemoryFormat::Contiguous).index_copy_(dim, index, source);
}

const Tensor& index_copy_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  return self.scatter_(dim, along(index, dim, source.sizes()), source);
}

// index_fill takes a number or a zero-dim tensor.
template <class Value>
void check_index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Value& value) {
  wrap_dim("dim", dim, self.dim());
  check_vector("index", index);
  check_filling("value", value, self.dtype());
}

template <class Value>
void check_index_fill_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Value& value) {
  check_apart("index", index, self);
  check_index_fill(self, dim, index, value);
}

template <class Value>
Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Value& value) {
  return self.clone(MemoryFormat::Contiguous).index_fill_(dim, index, value);
}

template <class Value>
const Tensor& index_fill_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Value& value) {
  const Tensor into = self.dim() == 0 ? self.unsqueeze(0) : self;
  const Tensor i = wrapped(along(index, dim, into.sizes()), into.size(dim));
  if constexpr (std::is_same_v<Value, Scalar>)
    into.scatter_(dim, i, value);
  else
    into.scatter_(dim, i, value.to(self.dtype()).expand(i.sizes()));
  return self;
}

void infer_embedding(const Tensor& weight, const Tensor& indices, int64_t /*padding_idx*/, bool /*scale_grad_by_freq*/,
                     bool /*sparse*/, Output out) {
  LAMELLA_CHECK(weight.dim() == 2, argument("weight"), ": expected a matrix, one row for each index, got shape ",
                shape_text(weight));
  check_integral("indices", indices);
  LAMELLA_CHECK(indices.dim() != LAMELLA_MAX_DIMS, argument("indices"), ": it has ", LAMELLA_MAX_DIMS,
                " dimensions already, the most a tensor may have");
  DimVector sizes(indices.sizes());
  sizes.push_back(weight.size(1));
  out.set(sizes, weight.dtype());
}

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t /*padding_idx*/, bool /*scale_grad_by_freq*/,
                 bool /*sparse*/) {
  DimVector sizes(indices.sizes());
  sizes.push_back(weight.size(1));
  return weight.index_select(0, indices.reshape({indices.numel()})).reshape(sizes);
}

void infer_embedding_backward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights,
                              int64_t /*padding_idx*/, bool /*scale_grad_by_freq*/, Output out) {
  const Tensor& g = grad_output;
  LAMELLA_CHECK(is_floating_point(g.dtype()), argument("grad_output"), ": expected a floating dtype, got ", g.dtype());
  check_integral("indices", indices);
  LAMELLA_CHECK(g.dim() == indices.dim() + 1 && indices.sizes() == IntArrayRef(g.sizes().data(), g.dim() - 1),
                argument("grad_output"), ": expected one row for each index of 'indices', whose shape is ",
                shape_text(indices), ", got shape ", shape_text(g));
  LAMELLA_CHECK(num_weights >= 0, argument("num_weights"), ": expected at least 0, got ", num_weights);
  const DimVector sizes{num_weights, g.size(-1)};
  check_sizes("num_weights", sizes, g.dtype());
  out.set(sizes, g.dtype());
}

Tensor embedding_dense_backward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights,
                                int64_t padding_idx, bool scale_grad_by_freq) {
  const ScalarType t = wide_of(grad_output.dtype());
  const TensorOptions options = grad_output.options().dtype(t);
  const Tensor index = indices.reshape({indices.numel()});
  const int64_t n = index.numel(), width = grad_output.size(-1);
  Tensor g = as(grad_output.reshape({n, width}), t);
  if (padding_idx >= 0) g = lamella::where(index.ne(padding_idx).unsqueeze(1), g, 0);
  Tensor sum = lamella::zeros({num_weights, width}, options).index_add(0, index, g);
  if (scale_grad_by_freq) {
    const Tensor one = lamella::ones({n}, options);
    const Tensor count = lamella::zeros({num_weights}, options).index_add(0, index, one);
    sum = sum / count.clamp_min(1).unsqueeze(1);
  }
  return as(sum, grad_output.dtype());
}

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  check_int64("self", self);
  int64_t classes = num_classes;
  if (classes == -1) {  // the number of classes depends on the data
    LAMELLA_CHECK(self.numel() != 0, argument("num_classes"),
                  ": -1 takes it from the largest index, but 'self' is empty; pass the number of classes");
    const int64_t most = self.amax().item().toLong();
    LAMELLA_CHECK(most != INT64_MAX, argument("self"), ": the largest index, ", most,
                  ", gives more classes than 63 bits can count");
    classes = most + 1;
  }
  LAMELLA_CHECK(classes >= 1 || (classes == 0 && self.numel() == 0), argument("num_classes"),
                ": expected a positive number of classes, or -1 to take the largest index plus one; got ", num_classes);
  DimVector sizes(self.sizes());
  sizes.push_back(classes);
  const Tensor hot = lamella::zeros(sizes, self.options());
  hot.scatter_(-1, self.unsqueeze(-1), 1);
  return hot;
}

}  // namespace

LAMELLA_FAMILY(index_rows, .category = "scatter", .forms = everywhere) {
  return {
      {.schema = "index_select(Tensor self, int dim, Tensor index) -> Tensor",
       .category = "indexing",
       .forms = everywhere | out,
       .infer = shape<infer_index_select>,
       .composite = composite<index_select>,
       .doc = R"(The slices of `self` along one dimension that a vector of indices names.

Raises:
    IndexError: an index is negative or too large

>>> lamella.index_select(lamella.tensor([[1, 2], [3, 4]]), 1, lamella.tensor([1]))
tensor([[2],
        [4]])
)"},
      {.schema = "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
       .forms = everywhere | out,
       .infer = shape<infer_copied<check_index_add>>,
       .composite = composite<index_add>,
       .doc = R"(`self` plus `alpha` times the slices of `source`, each at its index along one dimension.

>>> lamella.index_add(lamella.zeros(2), 0, lamella.tensor([1, 1]), lamella.tensor([1., 2.]))
tensor([0., 3.])
)"},
      {.schema = "index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor(a!)",
       .forms = method,
       .infer = shape<infer_written<check_index_add_inplace>>,
       .composite = composite<index_add_inplace>,
       .doc = R"(index_add() in place.

>>> lamella.zeros(2).index_add_(0, lamella.tensor([0]), lamella.tensor([1.]))
tensor([1., 0.])
)"},
      {.schema = "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
       .forms = everywhere | out,
       .infer = shape<infer_copied<check_index_rows>>,
       .composite = composite<index_copy>,
       .doc = R"(`self` with the slices of `source`, each at its index along one dimension.

>>> lamella.index_copy(lamella.zeros(2), 0, lamella.tensor([1]), lamella.tensor([5.]))
tensor([0., 5.])
)"},
      {.schema = "index_copy_(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)",
       .forms = method,
       .infer = shape<infer_written<check_index_copy_inplace>>,
       .composite = composite<index_copy_inplace>,
       .doc = R"(index_copy() in place.

>>> lamella.zeros(2).index_copy_(0, lamella.tensor([0]), lamella.tensor([1.]))
tensor([1., 0.])
)"},
      {.schema = "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
       .infer = shape<infer_copied<check_index_fill<Scalar>>>,
       .composite = composite<index_fill<Scalar>>,
       .doc = R"(`self` with one number in the slices that a vector of indices names.

>>> lamella.index_fill(lamella.zeros(3), 0, lamella.tensor([0, 2]), 7.)
tensor([7., 0., 7.])
)"},
      {.schema = "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
       .infer = shape<infer_copied<check_index_fill<Tensor>>>,
       .composite = composite<index_fill<Tensor>>},
      {.schema = "index_fill_.int_Scalar(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)",
       .forms = method,
       .infer = shape<infer_written<check_index_fill_inplace<Scalar>>>,
       .composite = composite<index_fill_inplace<Scalar>>,
       .doc = R"(index_fill() in place.

>>> lamella.zeros(2).index_fill_(0, lamella.tensor([1]), 3)
tensor([0., 3.])
)"},
      {.schema = "index_fill_.int_Tensor(Tensor(a!) self, int dim, Tensor index, Tensor value) -> Tensor(a!)",
       .forms = method,
       .infer = shape<infer_written<check_index_fill_inplace<Tensor>>>,
       .composite = composite<index_fill_inplace<Tensor>>},
      {.schema = "embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool "
                 "sparse=False) -> Tensor",
       .dims = "v~ d, ... -> ... d",
       .category = "indexing",
       .forms = function,
       .infer = shape<infer_embedding>,
       .composite = composite<embedding>,
       .doc = R"(The rows of a table that indices name.

>>> lamella.embedding(lamella.tensor([[1., 2.], [3., 4.]]), lamella.tensor([1]))
tensor([[3., 4.]])
)"},
      {.schema = "embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, "
                 "bool scale_grad_by_freq) -> Tensor",
       .dims = "... d, ... -> v d",
       .forms = hidden | function,
       .infer = shape<infer_embedding_backward>,
       .composite = composite<embedding_dense_backward>,
       .doc = "The gradient of embedding, of its table: each row gets the sum of what was taken from it, or the mean "
              "if it is scaled; the row `padding_idx`, unless that is negative, gets none."},
      {.schema = "one_hot(Tensor self, int num_classes=-1) -> Tensor",
       .dims = "...~ -> ...~ c",
       .category = "indexing",
       .forms = hidden | function,
       .composite = composite<one_hot>,
       .doc = R"(One row for each index, with a one at that index; the largest index plus one tells the classes if
they are not given.

>>> lamella.ops.aten.one_hot(lamella.tensor([1, 0]), 3)
tensor([[0, 1, 0],
        [1, 0, 0]])
)"},
  };
}

}  // namespace lamella::operators
