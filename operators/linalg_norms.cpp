// Norms of matrices, and condition numbers.
#include <cmath>

#include "operators/linalg.h"

namespace lamella::operators {
namespace {

// The two dimensions of matrices, counted from the front.
struct MatrixDims {
  int64_t row, column;

  MatrixDims(const Tensor& self, IntArrayRef dim) {
    LAMELLA_CHECK(dim.size() == 2, argument("dim"), ": expected the two dimensions of matrices, got ", dim.size());
    row = wrap_dim("dim", dim[0], self.dim());
    column = wrap_dim("dim", dim[1], self.dim());
    LAMELLA_CHECK(row != column, argument("dim"), ": ", dim[0], " and ", dim[1], " are the same dimension");
  }
  // Moves the matrices to the last two dimensions.
  Tensor last(const Tensor& x) const {
    DimVector order;
    for (int64_t d = 0; d < x.dim(); d++)
      if (d != row && d != column) order.push_back(d);
    order.push_back(row);
    order.push_back(column);
    return x.permute(order);
  }
  // Puts dimensions of size 1 in the places of the matrices.
  Tensor kept(Tensor x, bool keepdim) const {
    if (keepdim)
      for (int64_t d : {std::min(row, column), std::max(row, column)}) x = x.unsqueeze(d);
    return x;
  }
};

Tensor converted(const Tensor& self, std::optional<ScalarType> dtype) {
  check_matrices("self", self);
  LAMELLA_CHECK(self.is_floating_point() || self.is_complex(), argument("self"),
                ": expected floating or complex numbers, got ", self.dtype());
  if (!dtype) return self;
  LAMELLA_CHECK(is_floating_point(*dtype) || is_complex(*dtype), argument("dtype"),
                ": expected a floating or complex dtype, got ", *dtype);
  LAMELLA_CHECK(is_complex(*dtype) || !self.is_complex(), argument("dtype"), ": the complex input does not fit into ",
                *dtype);
  return as(self, *dtype);
}

Tensor values_of(const Tensor& x, const MatrixDims& dims) { return lamella::linalg_svdvals(dims.last(x), {}); }

Tensor matrix_norm(const Tensor& self, const Scalar& ord, IntArrayRef dim, bool keepdim,
                   std::optional<ScalarType> dtype) {
  const MatrixDims dims(self, dim);
  const Tensor x = converted(self, dtype);
  const double p = ord.to<double>(), size = std::abs(p);
  LAMELLA_CHECK(size == 1 || size == 2 || std::isinf(p), argument("ord"),
                ": expected 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2, got ", p);
  if (size == 2) {
    const Tensor s = values_of(x, dims);
    LAMELLA_CHECK(s.size(-1) != 0, argument("self"), ": the norm of order ", p, " of empty matrices does not exist, ",
                  "got shape ", shape_text(self));
    return dims.kept(p > 0 ? s.amax(DimVector{-1}) : s.amin(DimVector{-1}), keepdim);
  }
  // The norms of order 1 and -1 are extremes of the columns' sums, those of order inf and -inf of the rows' sums.
  const int64_t summed = size == 1 ? dims.row : dims.column, other = size == 1 ? dims.column : dims.row;
  LAMELLA_CHECK(self.size(other) != 0, argument("self"), ": the norm of order ", p, " of empty matrices does not ",
                "exist, got shape ", shape_text(self));
  const Tensor sums = x.abs().sum(DimVector{summed}, true);
  const Tensor norm = p > 0 ? sums.amax(DimVector{other}, true) : sums.amin(DimVector{other}, true);
  if (keepdim) return norm;
  return norm.squeeze(std::max(dims.row, dims.column)).squeeze(std::min(dims.row, dims.column));
}

Tensor matrix_norm_by_name(const Tensor& self, std::string_view ord, IntArrayRef dim, bool keepdim,
                           std::optional<ScalarType> dtype) {
  LAMELLA_CHECK(ord == "fro" || ord == "nuc", argument("ord"),
                ": expected 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2, got '", ord, "'");
  const MatrixDims dims(self, dim);
  if (ord == "fro") {
    check_matrices("self", self);
    return lamella::linalg_vector_norm(self, 2, DimVector{dims.row, dims.column}, keepdim, dtype);
  }
  return dims.kept(values_of(converted(self, dtype), dims).sum(DimVector{-1}), keepdim);
}

Tensor linalg_norm(const Tensor& self, const std::optional<Scalar>& ord, std::optional<IntArrayRef> dim, bool keepdim,
                   std::optional<ScalarType> dtype) {
  if (!ord) return lamella::linalg_vector_norm(self, 2, dim, keepdim, dtype);
  const size_t n = dim ? dim->size() : static_cast<size_t>(self.dim());
  LAMELLA_CHECK(n == 1 || n == 2, argument("dim"), ": with an order, expected one dimension for vectors or two for ",
                "matrices, got ", n);
  if (n == 1) return lamella::linalg_vector_norm(self, *ord, dim, keepdim, dtype);
  return matrix_norm(self, *ord, dim.value_or(IntArrayRef{-2, -1}), keepdim, dtype);
}
Tensor linalg_norm_by_name(const Tensor& self, std::string_view ord, std::optional<IntArrayRef> dim, bool keepdim,
                           std::optional<ScalarType> dtype) {
  const size_t n = dim ? dim->size() : static_cast<size_t>(self.dim());
  LAMELLA_CHECK(n == 2, argument("dim"), ": the order '", ord, "' is that of matrices and takes two dimensions, got ",
                n);
  return matrix_norm_by_name(self, ord, dim.value_or(IntArrayRef{-2, -1}), keepdim, dtype);
}

// ---- condition numbers ----

// The product of the norms of a matrix and of its inverse; inf for a singular matrix.
template <class Norm>
Tensor condition_by(const Tensor& self, Norm norm) {
  check_square("self", self);
  if (self.numel() == 0) return lamella::zeros(batch_of(self), self.options().dtype(real_of(self.dtype())));
  const auto [inverse, info] = lamella::linalg_inv_ex(self, false);
  const Tensor bound = norm(self) * norm(inverse);
  return lamella::where(info.ne(0), INFINITY, bound);
}

Tensor cond(const Tensor& self, const std::optional<Scalar>& p) {
  check_matrices("self", self);
  check_factorable("self", self);
  const double order = p ? p->to<double>() : 2;
  if (std::abs(order) != 2)
    return condition_by(self, [&](const Tensor& x) {
      return matrix_norm(x, *p, DimVector{-2, -1}, false, std::nullopt);
    });
  const Tensor s = lamella::linalg_svdvals(self, {});
  if (s.size(-1) == 0) return lamella::zeros(batch_of(self), s.options());
  const Tensor largest = s.select(-1, 0), smallest = s.select(-1, s.size(-1) - 1);
  return order > 0 ? largest / smallest : smallest / largest;
}
Tensor cond_by_name(const Tensor& self, std::string_view p) {
  check_matrices("self", self);
  check_factorable("self", self);
  return condition_by(self, [&](const Tensor& x) {
    return matrix_norm_by_name(x, p, DimVector{-2, -1}, false, std::nullopt);
  });
}

}  // namespace

LAMELLA_FAMILY(linalg_norms, .category = "linalg", .forms = function | out) {
  return {
      {.schema = "linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? "
                 "dtype=None) -> Tensor",
       .dims = "reduce",
       .composite = composite<matrix_norm>,
       .doc = R"(The norm of matrices.

Args:
    ord: "fro" (the root of the sum of squares), "nuc" (the sum of the singular values), 2 and -2 (the largest and the
        smallest singular value), 1 and -1 (the largest and smallest sum of sizes along a column), inf and -inf (along
        a row)
    dim: the dimensions of the rows and columns
    dtype: convert to this dtype first

>>> lamella.linalg.matrix_norm(lamella.tensor([[1., -2.], [3., 4.]]), 1)
tensor(6.)
)",
       .module = "linalg"},
      {.schema = "linalg_matrix_norm.str_ord(Tensor self, str ord='fro', int[] dim=[-2,-1], bool keepdim=False, *, "
                 "ScalarType? dtype=None) -> Tensor",
       .dims = "reduce",
       .composite = composite<matrix_norm_by_name>,
       .module = "linalg"},
      {.schema = "linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
                 "dtype=None) -> Tensor",
       .composite = composite<linalg_norm>,
       .doc = R"(The norm of vectors, by one dimension, or of matrices, by two; without `ord` the root of the sum of
squares over all dimensions, or those of `dim`.

Args:
    ord: an order of linalg.vector_norm() or of linalg.matrix_norm()
    dim: one or two dimensions; with `ord` all dimensions of a vector or a matrix by default

>>> lamella.linalg.norm(lamella.tensor([[3., 0.], [0., 4.]]))
tensor(5.)
)",
       .module = "linalg"},
      {.schema = "linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
                 "dtype=None) -> Tensor",
       .composite = composite<linalg_norm_by_name>,
       .module = "linalg"},
      {.schema = "linalg_cond(Tensor self, Scalar? p=None) -> Tensor",
       .dims = "... i~ j~ -> ...",
       .composite = composite<cond>,
       .doc = R"(The condition number: the norm of each matrix times that of its inverse.

Args:
    self: (*, m, n); square, unless `p` is 2, -2 or None
    p: an order of linalg.matrix_norm(); None is 2

>>> lamella.linalg.cond(lamella.tensor([[2., 0.], [0., 1.]]))
tensor(2.)
)",
       .module = "linalg"},
      {.schema = "linalg_cond.p_str(Tensor self, str p) -> Tensor",
       .dims = "... i~ j~ -> ...",
       .composite = composite<cond_by_name>,
       .module = "linalg"},
  };
}

}  // namespace lamella::operators
