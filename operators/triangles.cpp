// Triangles and diagonals.
#include "operators/shapes.h"

namespace lamella::operators {
namespace {

void infer_triangle(const Tensor& self, int64_t /*diagonal*/, Output out) {
  LAMELLA_CHECK(self.dim() >= 2, argument("self"), ": expected at least 2 dimensions, got shape ", shape_text(self));
  out.set(self.sizes(), self.dtype());
}

// Returns `self` where column - row is at most (tril) or at least (triu) `diagonal`, and zeros elsewhere.
template <bool Lower>
Tensor triangle(const Tensor& self, int64_t diagonal) {
  const TensorOptions options = self.options().dtype(kLong);
  auto count = [&](int64_t n) { return lamella::arange(0, n, 1, options); };
  const Tensor from = count(self.size(-1)) - count(self.size(-2)).unsqueeze(1);
  return lamella::where(Lower ? from <= diagonal : from >= diagonal, self, false).contiguous();
}

// Returns the number of places of a matrix with column - row <= offset.
__int128 places_below(int64_t rows, int64_t columns, int64_t offset) {
  const __int128 first = std::max<__int128>(-static_cast<__int128>(offset), 0);  // the first row that has such a place
  if (first >= rows || columns == 0) return 0;
  const __int128 whole = std::clamp<__int128>(columns - static_cast<__int128>(offset) - 1, first, rows);
  // The number of rows before the first whole one, and the places of the first of them.
  const __int128 n = whole - first, least = first + offset + 1;
  return n * least + n * (n - 1) / 2 + (rows - whole) * columns;
}

template <bool Lower>
void infer_triangle_indices(int64_t row, int64_t col, int64_t offset, std::optional<ScalarType> dtype,
                            std::optional<Layout> /*layout*/, std::optional<Device> /*device*/,
                            std::optional<bool> pin_memory, Output out) {
  LAMELLA_CHECK(row >= 0, argument("row"), ": expected at least 0, got ", row);
  LAMELLA_CHECK(col >= 0, argument("col"), ": expected at least 0, got ", col);
  LAMELLA_CHECK(offset != INT64_MIN, argument("offset"), ": expected at least ", -INT64_MAX, ", got ", offset);
  const __int128 n =
      Lower ? places_below(row, col, offset) : static_cast<__int128>(row) * col - places_below(row, col, offset - 1);
  const DimVector sizes = {2, n > INT64_MAX ? INT64_MAX : static_cast<int64_t>(n)};
  const ScalarType t = dtype.value_or(kLong);
  check_sizes("row", sizes, t);
  out.set(sizes, t);
  out.pin(pin_memory);
}

template <bool Lower>
Tensor triangle_indices(int64_t row, int64_t col, int64_t offset, std::optional<ScalarType> dtype,
                        std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  const Tensor ones =
      lamella::ones({row, col}, TensorOptions().dtype(kBool).layout(layout).device(device).pinned_memory(pin_memory));
  const Tensor kept = Lower ? ones.tril(offset) : ones.triu(offset);
  return kept.nonzero().t().contiguous().to(dtype.value_or(kLong));
}

// The sizes of diag_embed's result, after the checks of its arguments.
DimVector embedded_sizes(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t ndim = self.dim() + 1;
  LAMELLA_CHECK(self.dim() != 0, argument("self"), ": expected at least 1 dimension, got a zero-dim tensor");
  LAMELLA_CHECK(ndim <= LAMELLA_MAX_DIMS, argument("self"), ": it has ", LAMELLA_MAX_DIMS,
                " dimensions already, the most a tensor may have");
  const int64_t i = wrap_dim("dim1", dim1, ndim), j = wrap_dim("dim2", dim2, ndim);
  LAMELLA_CHECK(i != j, argument("dim2"), ": dimension ", j, " is 'dim1' already");
  int64_t n;
  LAMELLA_CHECK(offset != INT64_MIN && !__builtin_add_overflow(self.size(-1), std::abs(offset), &n), argument("offset"),
                ": a diagonal of ", self.size(-1), " elements at offset ", offset,
                " needs a matrix of more than 2^63 - 1 rows");
  DimVector sizes(self.sizes());
  sizes.pop_back();
  sizes.insert(std::min(i, j), n);
  sizes.insert(std::max(i, j), n);
  check_sizes("self", sizes, self.dtype());
  return sizes;
}

void infer_diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2, Output out) {
  out.set(embedded_sizes(self, offset, dim1, dim2), self.dtype());
}

Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const Tensor out = lamella::zeros(embedded_sizes(self, offset, dim1, dim2), self.options());
  out.diagonal(offset, dim1, dim2).copy_(self);
  return out;
}

Tensor diag(const Tensor& self, int64_t diagonal) {
  if (self.dim() == 1) return self.diag_embed(diagonal);
  LAMELLA_CHECK(self.dim() == 2, argument("self"), ": expected a vector or a matrix, got shape ", shape_text(self));
  return self.diagonal(diagonal).clone();
}

Tensor diagflat(const Tensor& self, int64_t offset) { return self.reshape({self.numel()}).diag_embed(offset); }

Tensor trace(const Tensor& self) {
  LAMELLA_CHECK(self.dim() == 2, argument("self"), ": expected a matrix, got shape ", shape_text(self));
  return self.diagonal().sum();
}

#define OPTIONS "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

// A triangle of matrices and its indices, for the lower and for the upper one.
#define TRIANGLE(name, lower, article, which, zeros, of_ones, indices)                                                 \
  {.schema = name "(Tensor self, int diagonal=0) -> Tensor",                                                           \
   .dims = "... h~ w~ -> ... h~ w~",                                                                                   \
   .forms = all_forms,                                                                                                 \
   .infer = shape<infer_triangle>,                                                                                     \
   .composite = composite<triangle<lower>>,                                                                            \
   .doc = "The " which " triangle of the last two dimensions, zero " zeros " the given diagonal.\n\n>>> lamella." name \
          "(lamella.ones(2, 2))\ntensor(" of_ones ")\n"},                                                              \
  {                                                                                                                    \
    .schema = name "_indices(int row, int col, int offset=0, " OPTIONS ") -> Tensor", .category = "creation",          \
    .forms = function, .infer = shape<infer_triangle_indices<lower>>, .composite = composite<triangle_indices<lower>>, \
    .doc = "The rows and columns of " article " " which " triangle's elements.\n\n>>> lamella." name                   \
           "_indices(2, 2)\ntensor(" indices ")\n"                                                                     \
  }

}  // namespace

LAMELLA_FAMILY(triangle, .category = "copy", .forms = everywhere) {
  return {
      TRIANGLE("tril", true, "a", "lower", "above", "[[1., 0.],\n        [1., 1.]]", "[[0, 1, 1],\n        [0, 0, 1]]"),
      TRIANGLE("triu", false, "an", "upper", "below", "[[1., 1.],\n        [0., 1.]]",
               "[[0, 0, 1],\n        [0, 1, 1]]"),
      {.schema = "diag(Tensor self, int diagonal=0) -> Tensor",
       .dims = "a~ b~ -> i | a~ -> a b",
       .forms = everywhere | out,
       .composite = composite<diag>,
       .doc = R"(A matrix with a vector on its diagonal, or a copy of a matrix's diagonal.

>>> lamella.diag(lamella.tensor([1, 2]))
tensor([[1, 0],
        [0, 2]])
)"},
      {.schema = "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
       .infer = shape<infer_diag_embed>,
       .composite = composite<diag_embed>,
       .doc = R"(Zeros, with the last dimension of `self` as the diagonal of two dimensions.

>>> lamella.diag_embed(lamella.ones(2, 3)).shape
lamella.Size([2, 3, 3])
)"},
      {.schema = "diagflat(Tensor self, int offset=0) -> Tensor",
       .dims = "...~ -> a b",
       .composite = composite<diagflat>,
       .doc = R"(A matrix with all elements of `self` on its diagonal.

>>> lamella.diagflat(lamella.tensor([[1], [2]]))
tensor([[1, 0],
        [0, 2]])
)"},
      {.schema = "trace(Tensor self) -> Tensor",
       .dims = "i~ j~ ->",
       .category = "reduction",
       .composite = composite<trace>,
       .doc = R"(The sum of a matrix's diagonal.

>>> lamella.trace(lamella.tensor([[1, 2], [3, 4]]))
tensor(5)
)"},
  };
}

}  // namespace lamella::operators
