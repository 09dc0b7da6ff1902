// The rules of matrix products: a sparse operand on either side, or on both.
#include <algorithm>

#include "arithmetic.h"

namespace lamella::sparse {
namespace {

// The parts of a matrix in CSR form, or of the transposed one.
struct Matrix {
  Tensor crow, col, values;
  int64_t rows, columns;
  bool transposed;
};

void check_matrix(const Tensor& t) {
  const State& s = state_in(t);
  LAMELLA_CHECK(t.dim() == 2 && s.dense_dim() == 0 && s.sparse_dim() == 2, "a sparse operand of shape ", t.sizes(),
                " with ", s.dense_dim(),
                " dense dimensions is no matrix; products need 2 sparse dimensions and no dense "
                "ones");
}

Matrix matrix_of(const Tensor& t) {
  check_matrix(t);
  const State& s = state_in(t);
  if (s.kind == csr) return {s.outer.detach(), s.inner.detach(), values_of(t), t.size(0), t.size(1), false};
  if (s.kind == csc) return {s.outer.detach(), s.inner.detach(), values_of(t), t.size(1), t.size(0), true};
  const Entries e = coalesced_entries(t);
  const Tensor rows = e.indices.select(0, 0);
  const Tensor ends = lamella::arange(t.size(0) + 1, TensorOptions().dtype(kLong).device(rows.device()));
  return {lamella::searchsorted(rows, ends), e.indices.select(0, 1), e.values, t.size(0), t.size(1), false};
}

Tensor csr_times(const Matrix& m, const Tensor& dense) {
  static const Operator<Tensor(const Tensor&, const Tensor&, const Tensor&, const Tensor&)> op("sparse::csr_matmul");
  return op(m.crow, m.col, m.values, dense);
}
Tensor csr_transposed_times(const Matrix& m, const Tensor& dense) {
  static const Operator<Tensor(const Tensor&, const Tensor&, const Tensor&, const Tensor&, int64_t)> op(
      "sparse::csr_matmul_transposed");
  return op(m.crow, m.col, m.values, dense, m.columns);
}
Tensor times(const Matrix& m, const Tensor& dense, bool turned) {
  return m.transposed != turned ? csr_transposed_times(m, dense) : csr_times(m, dense);
}

void check_dense(const Tensor& t, const Tensor& sparse, int64_t have, int64_t need) {
  LAMELLA_CHECK(t.dtype() == sparse.dtype(), "the sparse operand has dtype ", sparse.dtype(),
                ", and the dense one has ", t.dtype(), "; convert one of them with to()");
  LAMELLA_CHECK(have == need, "shapes cannot be multiplied: the sparse operand has shape ", sparse.sizes(),
                ", the dense one ", t.sizes());
}

// sparse @ dense, a matrix or a vector.
Tensor sparse_times_dense(const Tensor& sparse, const Tensor& dense) {
  check_matrix(sparse);
  check_dense(dense, sparse, dense.size(0), sparse.size(1));
  return times(matrix_of(sparse), dense, false);
}
// dense @ sparse.
Tensor dense_times_sparse(const Tensor& dense, const Tensor& sparse) {
  check_matrix(sparse);
  check_dense(dense, sparse, dense.size(-1), sparse.size(0));
  const Tensor made = times(matrix_of(sparse), dense.dim() == 2 ? dense.t() : dense, true);
  return dense.dim() == 2 ? made.t() : made;
}

// The product of two sparse matrices (Gustavson 1978): each entry (i, k) of `a` is multiplied by all entries of row k
// of `b`, and the products of one place are added up.
Tensor sparse_times_sparse(const Tensor& a, const Tensor& b) {
  check_matrix(a);
  check_matrix(b);
  check_dense(b, a, b.size(0), a.size(1));
  const Kind x = state_in(a).kind, y = state_in(b).kind;
  const Entries e = coalesced_entries(a);
  const Matrix m = matrix_of(y == csc ? to_layout(b, csr) : b);
  const Tensor inner = e.indices.select(0, 1);
  const Tensor begins = m.crow.to(kLong).index_select(0, inner);
  const Tensor counts = m.crow.to(kLong).index_select(0, inner + 1) - begins;
  const TensorOptions longs = TensorOptions().dtype(kLong).device(inner.device());
  const Tensor left = lamella::arange(inner.numel(), longs).repeat_interleave(counts, 0);
  // The entry of `b` in each product: the first one of its row, plus the product's position among those of its entry of
  // `a`.
  const Tensor before = counts.cumsum(0) - counts;
  const Tensor right =
      lamella::arange(left.numel(), longs) - before.index_select(0, left) + begins.index_select(0, left);
  const Tensor rows = e.indices.select(0, 0).index_select(0, left), columns = m.col.to(kLong).index_select(0, right);
  const Tensor values = e.values.index_select(0, left) * m.values.index_select(0, right);
  const int64_t size[] = {a.size(0), b.size(1)};
  const Entries product = coalesced_entries({lamella::stack({rows, columns}, 0), values, false}, IntArrayRef(size, 2));
  return from_entries(product, IntArrayRef(size, 2), x == y ? x : x == coo || y == coo ? coo : csr);
}

Tensor product_rule(const Tensor& a, const Tensor& b) {
  const bool x = state_of(a) != nullptr, y = state_of(b) != nullptr;
  return x && y ? sparse_times_sparse(a, b) : x ? sparse_times_dense(a, b) : dense_times_sparse(a, b);
}

void check_dims(const Tensor& t, int64_t dims, const char* argument) {
  LAMELLA_CHECK(t.dim() == dims, "argument '", argument, "': expected ", dims, " dimensions, got shape ", t.sizes());
}

Tensor mm_rule(const Tensor& self, const Tensor& mat2) {
  check_dims(self, 2, "self");
  check_dims(mat2, 2, "mat2");
  return product_rule(self, mat2);
}
Tensor mv_rule(const Tensor& self, const Tensor& vec) {
  check_dims(self, 2, "self");
  check_dims(vec, 1, "vec");
  LAMELLA_CHECK_NOT_IMPLEMENTED(!state_of(vec), "argument 'vec': a sparse vector; to_dense() makes a dense one");
  return product_rule(self, vec);
}

Tensor combined(const Tensor& self, const Tensor& made, const Scalar& beta, const Scalar& alpha) {
  const Tensor p = scaled(made, alpha);
  const bool none = !beta.isComplex() && beta.toDouble() == 0;
  if (none) return p;
  const Tensor s = scaled(self, beta);
  if (!state_of(s) && !state_of(p)) return s + p;
  if (state_of(s) && !state_of(p)) return sum_of(p, s, 1);
  return sum_of(s, p, 1);
}
Tensor addmm_rule(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(state_of(a) || state_of(b),
                                "argument 'self' is sparse, and both factors are dense; add to self.to_dense()");
  const Tensor p = mm_rule(a, b);
  LAMELLA_CHECK(self.dim() <= 2 && (!state_of(self) || self.sizes() == p.sizes()), "argument 'self': shape ",
                self.sizes(), " does not fit the product's, ", p.sizes());
  return combined(state_of(self) || !state_of(p) ? self : self.expand(p.sizes()), p, beta, alpha);
}
Tensor addmv_rule(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  return combined(self, mv_rule(a, b), beta, alpha);
}

// A batch of products: the sparse operand has three sparse dimensions, or is a batch of compressed matrices.
Tensor bmm_rule(const Tensor& self, const Tensor& mat2) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(state_of(self) && !state_of(mat2),
                                "a batch of sparse matrices is multiplied from the left alone: sparse @ dense");
  check_dims(self, 3, "self");
  check_dims(mat2, 3, "mat2");
  const State& s = state_in(self);
  LAMELLA_CHECK(s.dense_dim() == 0, "argument 'self': has dense dimensions");
  LAMELLA_CHECK(mat2.size(0) == self.size(0), "argument 'mat2': has ", mat2.size(0), " matrices, and 'self' has ",
                self.size(0));
  check_dense(mat2, self, mat2.size(1), self.size(2));
  const Entries e = coalesced_entries(self);
  const int64_t b = self.size(0), n = self.size(1), k = self.size(2), w = mat2.size(2);
  const Tensor rows = e.indices.select(0, 0) * n + e.indices.select(0, 1);
  const Tensor columns = e.indices.select(0, 0) * k + e.indices.select(0, 2);
  const Tensor ends = lamella::arange(b * n + 1, TensorOptions().dtype(kLong).device(rows.device()));
  const Matrix m{lamella::searchsorted(rows, ends), columns, e.values, b * n, b * k, false};
  return csr_times(m, mat2.reshape({b * k, w})).reshape({b, n, w});
}

Tensor matmul_rule(const Tensor& self, const Tensor& other) {
  const int64_t a = self.dim(), b = other.dim();
  LAMELLA_CHECK(a > 0 && b > 0, "both operands need at least 1 dimension, got shapes ", self.sizes(), " and ",
                other.sizes());
  if (a == 2 && b == 2) return mm_rule(self, other);
  if (a == 2 && b == 1) return mv_rule(self, other);
  if (a == 1 && b == 2 && state_of(other) && !state_of(self)) return product_rule(self, other);
  if (a == 3 && b == 3) return bmm_rule(self, other);
  if (a > 2 && b == 2 && !state_of(self)) {
    DimVector sizes(self.sizes());
    sizes[a - 1] = other.size(1);
    return product_rule(self.flatten(0, a - 2), other).reshape(sizes);
  }
  if (a == 2 && b > 2 && !state_of(other)) {
    LAMELLA_CHECK(other.size(-2) == self.size(1), "shapes cannot be multiplied: ", self.sizes(), " and ",
                  other.sizes());
    const Tensor first = other.movedim({-2}, {0});
    DimVector sizes(first.sizes());
    sizes[0] = self.size(0);
    return product_rule(self, first.flatten(1)).reshape(sizes).movedim({0}, {-2});
  }
  throw Error(LAMELLA_NOT_IMPLEMENTED, detail::text("there is no rule for shapes ", self.sizes(), " and ",
                                                    other.sizes(), " of which one is sparse; call to_dense() first"));
}

Tensor linear_rule(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(!bias.defined() || !state_of(bias), "argument 'bias' is sparse; call to_dense() first");
  Tensor y;
  if (state_of(weight)) {
    LAMELLA_CHECK_NOT_IMPLEMENTED(!state_of(input), "argument 'input' and 'weight' are sparse; call to_dense() first");
    check_matrix(weight);
    check_dense(input, weight, input.size(-1), weight.size(1));
    DimVector sizes(input.sizes());
    sizes[input.dim() - 1] = weight.size(0);
    const Tensor rows = input.dim() == 1 ? input.unsqueeze(0) : input.flatten(0, -2);
    y = times(matrix_of(weight), rows.t(), false).t().reshape(sizes);
  } else {
    check_dims(input, 2, "input");
    y = product_rule(input, weight.t());
  }
  return bias.defined() ? y + bias : y;
}

Tensor sampled_addmm(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  const State& s = state_in(self);
  LAMELLA_CHECK(s.kind == csr && !s.batch() && s.dense_dim() == 0,
                "argument 'self': expected a matrix of layout "
                "sparse_csr, got ",
                kind_name(s.kind), " of shape ", self.sizes());
  check_dims(a, 2, "mat1");
  check_dims(b, 2, "mat2");
  LAMELLA_CHECK(!state_of(a) && !state_of(b), "argument 'mat1' and 'mat2': must be dense");
  LAMELLA_CHECK(a.size(0) == self.size(0) && b.size(1) == self.size(1) && a.size(1) == b.size(0),
                "argument 'mat1' and 'mat2': shapes ", a.sizes(), " and ", b.sizes(), " do not give ", self.sizes());
  LAMELLA_CHECK(a.dtype() == self.dtype() && b.dtype() == self.dtype(), "argument 'mat1' and 'mat2': have dtypes ",
                a.dtype(), " and ", b.dtype(), ", and 'self' has ", self.dtype());
  static const Operator<Tensor(const Tensor&, const Tensor&, const Tensor&, const Tensor&)> op("sparse::csr_sampled");
  const Tensor made = op(s.outer.detach(), s.inner.detach(), a, b.t());
  const bool none = !beta.isComplex() && beta.toDouble() == 0;
  return with_values(self, none ? made * alpha : values_of(self) * beta + made * alpha);
}

}  // namespace

void register_matmuls(Library& m) {
  m.impl("aten::mm", layer_name, mm_rule);
  m.impl("aten::mv", layer_name, mv_rule);
  m.impl("aten::bmm", layer_name, bmm_rule);
  m.impl("aten::addmm", layer_name, addmm_rule);
  m.impl("aten::addmv", layer_name, addmv_rule);
  m.impl("aten::matmul", layer_name, matmul_rule);
  m.impl("aten::linear", layer_name, linear_rule);
  define_composite(m, "sampled_addmm(Tensor self, Tensor mat1, Tensor mat2, Scalar beta=1, Scalar alpha=1) -> Tensor",
                   sampled_addmm);
}

}  // namespace lamella::sparse
