// Replacing a part of a tensor: selections, slices, diagonals, elements by index. Also nonzero_static and narrow_copy.
#include "operators/indexing.h"

namespace lamella::operators {
namespace {

Tensor replaced(const Tensor& all, const Tensor& part, const Tensor& src) {
  LAMELLA_CHECK(src.sizes() == part.sizes(), argument("src"), ": expected the shape of the part that it replaces, ",
                shape_text(part), ", got ", shape_text(src));
  part.copy_(src);
  return all;
}

Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  const Tensor all = self.clone(MemoryFormat::Contiguous);
  return replaced(all, all.select(dim, index), src);
}

Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim, std::optional<int64_t> start,
                     std::optional<int64_t> end, int64_t step) {
  const Tensor all = self.clone(MemoryFormat::Contiguous);
  return replaced(all, lamella::slice(all, dim, start, end, step), src);
}

Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2) {
  const Tensor all = self.clone(MemoryFormat::Contiguous);
  return replaced(all, all.diagonal(offset, dim1, dim2), src);
}

// Returns a tensor of the same geometry over a copy of the memory up to the last element of `self`.
Tensor copy_of_memory(const Tensor& self) {
  int64_t end = self.storage_offset() + 1;
  for (int64_t d = 0; d < self.dim(); d++) end += std::max<int64_t>(self.size(d) - 1, 0) * self.stride(d);
  if (self.numel() == 0) end = self.storage_offset();
  return self.as_strided({end}, {1}, 0).clone().as_strided(self.sizes(), self.strides(), self.storage_offset());
}

Tensor as_strided_scatter(const Tensor& self, const Tensor& src, IntArrayRef size, IntArrayRef stride,
                          std::optional<int64_t> storage_offset) {
  const Tensor all =
      self.is_contiguous() && self.storage_offset() == 0 ? self.clone(MemoryFormat::Contiguous) : copy_of_memory(self);
  return replaced(all, all.as_strided(size, stride, storage_offset), src);
}

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  check_int64("index", index);
  check_same_dtype("source", source, self);
  LAMELLA_CHECK_INDEX(index.numel() == source.numel(), argument("source"), ": ", source.numel(), " elements for ",
                      index.numel(), " indices");
  LAMELLA_CHECK_INDEX(self.numel() != 0 || index.numel() == 0, argument("self"),
                      ": it has no elements to replace, got ", index.numel(), " indices");
  const Tensor all = self.clone(MemoryFormat::Contiguous), row = all.view({all.numel()});
  const Tensor at = wrapped(index.reshape({index.numel()}), all.numel()), values = source.reshape({source.numel()});
  accumulate ? row.scatter_add_(0, at, values) : row.scatter_(0, at, values);
  return all;
}

Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce,
                    bool include_self) {
  const int64_t d = wrap_dim("dim", dim, self.dim());
  check_integral("index", index);
  LAMELLA_CHECK(index.dim() <= 1, argument("index"), ": expected a vector, got shape ", shape_text(index));
  LAMELLA_CHECK(reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin", argument("reduce"),
                ": expected 'prod', 'mean', 'amax' or 'amin', got '", reduce, "'");
  bool fits = source.dim() == self.dim();
  for (int64_t k = 0; k < self.dim() && fits; k++) fits = source.size(k) == (k == d ? index.numel() : self.size(k));
  LAMELLA_CHECK(fits, argument("source"), ": shape ", shape_text(source), " is not that of 'self', ", shape_text(self),
                ", with one slice along dimension ", d, " for each of ", index.numel(), " indices");
  DimVector sizes(self.dim(), 1);
  if (self.dim() > 0) sizes[d] = index.numel();
  const Tensor at = index.to(kLong).reshape(sizes).expand(source.sizes());
  return self.scatter_reduce(d, at, source, reduce, include_self);
}

void check_fill_diagonal(const Tensor& self, const Scalar& fill_value, bool /*wrap*/) {
  LAMELLA_CHECK(self.dim() >= 2, argument("self"), ": expected at least 2 dimensions, got shape ", shape_text(self));
  for (int64_t d = 1; d < self.dim() && self.dim() > 2; d++)
    LAMELLA_CHECK(self.size(d) == self.size(0), argument("self"), ": expected dimensions of one size, got shape ",
                  shape_text(self));
  check_number("fill_value", fill_value, self.dtype());
}

const Tensor& fill_diagonal(const Tensor& self, const Scalar& fill_value, bool wrap) {
  if (self.numel() == 0) return self;
  if (self.dim() == 2) {
    const int64_t height = self.size(0), next = self.size(1) + 1;  // one row is free between two diagonals
    for (int64_t first = 0; first < (wrap ? height : 1); first += next)
      slice(self, 0, first, height).diagonal().fill_(fill_value);
    return self;
  }
  int64_t stride = 0;
  for (int64_t s : self.strides()) stride += s;
  self.as_strided({self.size(0)}, {stride}, self.storage_offset()).fill_(fill_value);
  return self;
}

Tensor nonzero_static(const Tensor& self, int64_t size, int64_t fill_value) {
  LAMELLA_CHECK(size >= 0, argument("size"), ": expected at least 0, got ", size);
  const Tensor all = self.nonzero(), few = slice(all, 0, 0, size);
  if (few.size(0) == size) return few.clone();
  return lamella::cat({few, lamella::full({size - few.size(0), few.size(1)}, fill_value, few.options())}, 0);
}

Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  return self.narrow(dim, start, length).clone(MemoryFormat::Contiguous);
}

}  // namespace

LAMELLA_FAMILY(placing, .category = "scatter", .forms = everywhere) {
  return {
      {.schema = "select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor",
       .composite = composite<select_scatter>,
       .doc = R"(A copy of `self` with `src` in place of what select() sees.

>>> lamella.select_scatter(lamella.zeros(2, 2), lamella.ones(2), 0, 1)
tensor([[0., 0.],
        [1., 1.]])
)"},
      {.schema = "slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt "
                 "step=1) -> Tensor",
       .dims = "keep",
       .forms = everywhere | out,
       .composite = composite<slice_scatter>,
       .doc = R"(A copy of `self` with `src` in place of what a slice sees.

>>> lamella.slice_scatter(lamella.zeros(4), lamella.ones(2), start=1, end=3)
tensor([0., 1., 1., 0.])
)"},
      {.schema = "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
       .composite = composite<diagonal_scatter>,
       .doc = R"(A copy of `self` with `src` on a diagonal.

>>> lamella.diagonal_scatter(lamella.zeros(2, 2), lamella.ones(2))
tensor([[1., 0.],
        [0., 1.]])
)"},
      {.schema = "as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? "
                 "storage_offset=None) -> Tensor",
       .composite = composite<as_strided_scatter>,
       .doc = R"(A copy of `self` with `src` in place of the elements of as_strided(), which lie between the first
element of the storage and the last one of `self`.

>>> lamella.as_strided_scatter(lamella.zeros(3, 3), lamella.ones(3), (3,), (4,))
tensor([[1., 0., 0.],
        [0., 1., 0.],
        [0., 0., 1.]])
)"},
      {.schema = "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
       .forms = everywhere | inplace,
       .composite = composite<put>,
       .doc = R"(`self`, seen as one row, with elements of `source` at the indices, or with these added there;
negative ones count from the end.

>>> lamella.put(lamella.zeros(2, 2), lamella.tensor([1, -1]), lamella.tensor([5., 6.]))
tensor([[0., 5.],
        [0., 6.]])
)"},
      {.schema = "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool "
                 "include_self=True) -> Tensor",
       .forms = everywhere | inplace | out,
       .composite = composite<index_reduce>,
       .doc = R"(`self` reduced with slices of `source` at an index for each, along a dimension.

Args:
    reduce: 'prod', 'mean', 'amax' or 'amin'
    include_self: whether a slice of `self` counts where there are others

>>> lamella.index_reduce(lamella.ones(2), 0, lamella.tensor([1, 1]), lamella.tensor([2., 3.]), 'prod')
tensor([1., 6.])
)"},
      {.schema = "fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)",
       .dims = "...~ -> ...~",
       .category = "copy",
       .forms = method,
       .infer = shape<infer_written<check_fill_diagonal>>,
       .composite = composite<fill_diagonal>,
       .doc = R"(Fills the diagonal, of more than two dimensions the one where all indices are equal.

Args:
    wrap: whether the diagonal of a tall matrix begins again, one row below its end

>>> lamella.zeros(2, 2).fill_diagonal_(5)
tensor([[5., 0.],
        [0., 5.]])
)"},
      {.schema = "nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor",
       .dims = "...~ -> a b",
       .category = "indexing",
       .composite = composite<nonzero_static>,
       .doc = R"(The first `size` rows of nonzero(), filled up with `fill_value`.

>>> lamella.nonzero_static(lamella.tensor([0, 5]), size=2)
tensor([[ 1],
        [-1]])
)"},
      {.schema = "narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor",
       .dims = "keep",
       .category = "copy",
       .forms = everywhere | out,
       .composite = composite<narrow_copy>,
       .doc = R"(A copy of what narrow() sees.

>>> lamella.narrow_copy(lamella.arange(4), 0, 1, 2)
tensor([1, 2])
)"},
  };
}

}  // namespace lamella::operators
