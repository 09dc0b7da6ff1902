// Contractions: sums of products over chosen dimensions of two tensors, and the Kronecker product.
#include "operators/einsum.h"
#include "operators/products.h"

namespace lamella::operators {
namespace {

// The size of a dimension that wrap_dims() admits: a zero-dim tensor counts as one dimension.
int64_t size_of(const Tensor& x, int64_t d) { return x.dim() == 0 ? 1 : x.size(d); }

// Sums products over the dimensions left[i] of x and right[i] of y, for all i, by one product of two matrices.
Tensor contract(Tensor x, Tensor y, const DimVector& left, const DimVector& right) {
  DimVector order_x, order_y, sizes;
  int64_t n = 1, k = 1, m = 1;
  auto has = [](const DimVector& list, int64_t d) { return std::find(list.begin(), list.end(), d) != list.end(); };
  for (int64_t d = 0; d < x.dim(); d++)
    if (!has(left, d)) {
      order_x.push_back(d);
      sizes.push_back(x.size(d));
      n *= x.size(d);
    }
  for (size_t i = 0; i < left.size(); i++) {
    order_x.push_back(left[i]);
    order_y.push_back(right[i]);
    const int64_t of_x = size_of(x, left[i]), of_y = size_of(y, right[i]);
    k *= std::max(of_x, of_y);
    if ((of_x == 1) != (of_y == 1)) {  // a size of 1 broadcasts: sum the other one first
      Tensor& longer = of_x == 1 ? y : x;
      k /= std::max<int64_t>(of_x == 1 ? of_y : of_x, 1);
      longer = longer.sum(of_x == 1 ? right[i] : left[i], true, longer.dtype());
    }
  }
  for (int64_t d = 0; d < y.dim(); d++)
    if (!has(right, d)) {
      order_y.push_back(d);
      sizes.push_back(y.size(d));
      m *= y.size(d);
    }
  const Tensor flat_x = x.permute(order_x).reshape({n, k});
  const Tensor flat_y = y.permute(order_y).reshape({k, m});
  return flat_x.mm(flat_y).view(sizes);
}

Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other) {
  check_dtypes({"self", self}, {"other", other});
  LAMELLA_CHECK(dims_self.size() == dims_other.size(), argument("dims_other"), ": names ", dims_other.size(),
                " dimensions, but 'dims_self' names ", dims_self.size());
  wrap_dims("dims_self", dims_self, self.dim());
  wrap_dims("dims_other", dims_other, other.dim());
  DimVector left, right;
  for (size_t i = 0; i < dims_self.size(); i++) {
    const int64_t p = dims_self[i], q = dims_other[i];
    left.push_back(p < 0 ? p + self.dim() : p);
    right.push_back(q < 0 ? q + other.dim() : q);
    const int64_t n = size_of(self, left[i]), m = size_of(other, right[i]);
    LAMELLA_CHECK(n == m || n == 1 || m == 1, "dimension ", p, " of 'self' has size ", n, ", dimension ", q,
                  " of 'other' has ", m);
  }
  return contract(self, other, left, right);
}

Tensor tensordot_last(const Tensor& self, const Tensor& other, int64_t dims) {
  check_dtypes({"self", self}, {"other", other});
  const int64_t most = std::min(self.dim(), other.dim());
  LAMELLA_CHECK(dims >= 0 && dims <= most, argument("dims"), ": must be between 0 and ", most, ", got ", dims);
  DimVector left, right;
  for (int64_t i = 0; i < dims; i++) {
    left.push_back(self.dim() - dims + i);
    right.push_back(i);
    check_multiply(self.size(left[i]) == other.size(i), {"self", self}, {"other", other});
  }
  return contract(self, other, left, right);
}

Tensor inner(const Tensor& self, const Tensor& other) {
  const int64_t nx = self.dim(), ny = other.dim();
  if (nx == 0 || ny == 0) return self * other;
  check_dtypes({"self", self}, {"other", other});
  check_multiply(self.size(-1) == other.size(-1), {"self", self}, {"other", other});
  if (nx == 1 && ny == 1) return self.dot(other);
  if (ny <= 2) return lamella::linear(self, other);
  return contract(self, other, {nx - 1}, {ny - 1});
}

Tensor kron(const Tensor& self, const Tensor& other) {
  const int64_t nx = self.dim(), ny = other.dim(), n = std::max(nx, ny);
  LAMELLA_CHECK(2 * n <= LAMELLA_MAX_DIMS, argument(nx == n ? "self" : "other"), ": ", n, " dimensions, at most ",
                LAMELLA_MAX_DIMS / 2, " are supported");
  DimVector left, right, sizes;
  for (int64_t d = 0; d < n; d++) {
    const int64_t p = d < n - nx ? 1 : self.size(d - (n - nx)), q = d < n - ny ? 1 : other.size(d - (n - ny));
    left.append({p, 1});
    right.append({1, q});
    sizes.push_back(p * q);
  }
  return (self.reshape(left) * other.reshape(right)).reshape(sizes);
}

}  // namespace

LAMELLA_FAMILY(contraction, .category = "matmul", .forms = function) {
  return {
      {.schema = "inner(Tensor self, Tensor other) -> Tensor",
       .forms = everywhere | out,
       .composite = composite<inner>,
       .doc = R"(Sums of products over the last dimensions of both: of vectors, their dot product.

>>> lamella.inner(lamella.tensor([[1, 2], [3, 4]]), lamella.tensor([1, 10]))
tensor([21, 43])
)"},
      {.schema = "einsum(str equation, Tensor[] tensors) -> Tensor",
       .composite = composite<einsum>,
       .doc = R"(Sums of products by an equation: letters label dimensions, ',' parts operands, what the output after
'->' lacks is summed. Without '->', the output has the labels that stand once, in alphabetical
order; '...' stands for dimensions that broadcast.

Raises:
    RuntimeError: the equation is no equation, or does not fit the shapes

>>> lamella.einsum('ij,j->i', [lamella.tensor([[1, 2], [3, 4]]), lamella.tensor([1, 10])])
tensor([21, 43])
)"},
      {.schema = "tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
       .composite = composite<tensordot>,
       .doc = R"(Sums of products over pairs of dimensions: those listed, or the last `dims` of self with the first
of other.

>>> lamella.tensordot(lamella.ones(2, 3, 4), lamella.ones(3, 4), 2)
tensor([12., 12.])
)"},
      {.schema = "tensordot.int(Tensor self, Tensor other, int dims=2) -> Tensor",
       .composite = composite<tensordot_last>},
      {.schema = "kron(Tensor self, Tensor other) -> Tensor",
       .forms = everywhere | out,
       .composite = composite<kron>,
       .doc = R"(The Kronecker product: every element of self times the whole of other, laid out in blocks.

>>> lamella.kron(lamella.tensor([1, 10]), lamella.tensor([1, 2]))
tensor([ 1,  2, 10, 20])
)"},
  };
}

}  // namespace lamella::operators
